// Shared by the functions of <tessera/gles.h>.
#pragma once
#include <string_view>

#include "backend_gles/backend.h"
#include "core/interop.h"

namespace tessera::gles {

// The backend of a context, or of a tensor's. Throws wrong_backend, with the op, where it is another one. The caller
// holds the lock.
inline GlesBackend& present_backend(std::string_view op, ContextImpl& context) {
  require_backend(op, context, BackendKind::gles);
  return static_cast<GlesBackend&>(*context.backend);
}

// The same, once a lost device of tessera's own is replaced: a host is given nothing of the old one.
inline GlesBackend& backend_of(std::string_view op, ContextImpl& context) {
  if (context.backend->is_lost() && !context.is_hosts) context.replace_device();
  return present_backend(op, context);
}

}  // namespace tessera::gles

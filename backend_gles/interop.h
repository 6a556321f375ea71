// What the functions of <tessera/gles.h> have in common.
#pragma once
#include <string_view>

#include "backend_gles/backend.h"
#include "core/interop.h"

namespace tessera::gles {

// The backend of a context, or of a tensor's; throws wrong_backend, with the op, where it is another one. A lost device
// of tessera's own is replaced first: nothing that a host gives, or is given, belongs to the old one. The caller holds
// the lock.
inline GlesBackend& backend_of(std::string_view op, ContextImpl& context) {
  if (context.backend->is_lost() && !context.is_hosts) context.replace_device();
  require_backend(op, context, BackendKind::gles);
  return static_cast<GlesBackend&>(*context.backend);
}

}  // namespace tessera::gles

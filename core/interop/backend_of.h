// The backend of a context, for the public functions of a backend.
#pragma once
#include <string_view>

#include "core/interop/interop.h"

namespace tessera {

// The context's backend. Throws wrong_backend, with the op, where it is another.
template <class OwnBackend>
OwnBackend& present_backend(std::string_view op, ContextState& context) {
  require_backend(op, context, OwnBackend::kind);
  return static_cast<OwnBackend&>(*context.backend);
}

// present_backend, after replacing a lost device of tessera's own: a host is given nothing of that.
template <class OwnBackend>
OwnBackend& backend_of(std::string_view op, ContextState& context) {
  if (context.backend->is_lost() && !context.is_hosts) context.recovery.replace_device();
  return present_backend<OwnBackend>(op, context);
}

}  // namespace tessera

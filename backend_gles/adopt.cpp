// gles::adopt_current, and the contexts of tessera and its host.
#include "backend_gles/adopted_context.h"
#include "backend_gles/backend.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"

namespace tessera::gles {

Context adopt_current(const ContextOptions& options, const AdoptOptions& how) {
  return adopt_current(nullptr, options, how);
}

Context adopt_current(Loader loader, const ContextOptions& options, const AdoptOptions& how) {
  const auto open = [loader = std::move(loader), how](const ContextOptions& wanted,
                                                      const MessageSink& sink) -> std::unique_ptr<Backend> {
    try {
      return std::make_unique<GlesBackend>(
          std::make_shared<const Device>(std::make_unique<AdoptedContext>(loader), sink, wanted, how));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      fail(ErrorCode::unsupported, "gles::adopt_current",
           "this context cannot be used: " + std::string(error.what()) + ".");
    }
  };
  return ContextAccess::make(options, open, true);
}

Dirtied dirtied(Context& context) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  return backend_of<GlesBackend>("gles::dirtied", impl).own_device()->take_dirtied();
}

HostContext host_context(const Context& context) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const GlContext& gl = backend_of<GlesBackend>("gles::host_context", impl).own_device()->context();
  return {gl.display(), gl.handle(), gl.loader()};
}

HostContext make_sharing_context(const Context& context) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const GlContext& gl = backend_of<GlesBackend>("gles::make_sharing_context", impl).own_device()->context();
  try {
    return {gl.display(), gl.make_sharing(), gl.loader()};
  } catch (const Error& error) {
    fail(error.code(), "gles::make_sharing_context", error.what() + std::string("."));
  }
}

}  // namespace tessera::gles

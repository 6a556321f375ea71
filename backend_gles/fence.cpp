// gles::fence and gles::wait_for: in step with a host that works in another context.
#include "backend_gles/backend.h"
#include "backend_gles/state.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"

namespace tessera::gles {

void* fence(Context& context) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const Device& device = *backend_of<GlesBackend>("gles::fence", impl).own_device();
  const Entered entered(device);
  const GLsync sync = device.gl().FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
  device.gl().Flush();  // or whoever waits for it might wait for ever
  device.check("gles::fence");
  return sync;
}

void wait_for(Context& context, void* fence) {
  constexpr std::string_view op = "gles::wait_for";
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const Device& device = *backend_of<GlesBackend>(op, impl).own_device();
  const Entered entered(device);
  const auto sync = static_cast<GLsync>(fence);
  if (!fence || !device.gl().IsSync(sync))
    fail(ErrorCode::invalid_argument, op,
         std::string(fence ? "this" : "null") + " is no GLsync of a context that shares objects with tessera's on " +
             device.info().name + ".");
  device.gl().WaitSync(sync, 0, GL_TIMEOUT_IGNORED);
  device.check(op);
}

}  // namespace tessera::gles

#include "backend_webgpu/wait.h"

#include "backend_webgpu/web/page_gpu.h"
#include <tessera/error.h>

namespace tessera::webgpu {

bool is_done(WGPUInstance, WGPUFuture future) { return take_answer(static_cast<int>(future.id)); }

Wait wait_for(WGPUInstance instance, WGPUFuture future, std::uint64_t nanoseconds) {
  if (is_done(instance, future)) return Wait::done;
  if (nanoseconds == 0) return Wait::timed_out;
  if (!can_suspend())
    throw Error(ErrorCode::unsupported,
                "WebGPU: this page cannot wait for its device: use read_async(), and get() in a later frame, when "
                "Context::reads_under_way() says that the device is done; or link the program with -sASYNCIFY.");
  suspend_until_answer(static_cast<int>(future.id));
  return is_done(instance, future) ? Wait::done : Wait::timed_out;
}

Wait poll_for(WGPUInstance instance, WGPUFuture future, std::uint64_t nanoseconds) {
  return wait_for(instance, future, nanoseconds);
}

}  // namespace tessera::webgpu

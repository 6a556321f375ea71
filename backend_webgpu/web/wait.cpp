#include "backend_webgpu/wait.h"

#include "backend_webgpu/web/page_gpu.h"
#include <tessera/error.h>

namespace tessera::webgpu {

bool can_wait() { return can_suspend(); }

WGPUCallbackMode mode_of_present_answers() { return WGPUCallbackMode_WaitAnyOnly; }  // a page answers later

bool is_done(WGPUInstance, WGPUFuture future) { return take_answer(static_cast<int>(future.id)); }

Wait wait_for(WGPUInstance instance, WGPUFuture future, std::uint64_t nanoseconds) {
  if (is_done(instance, future)) return Wait::done;
  if (nanoseconds == 0) return Wait::timed_out;
  if (is_suspended())
    throw Error(ErrorCode::busy,
                "WebGPU: another call of this program is suspended, and a page can wait for one at a time: call again "
                "when that one has returned, or call read_async().then() instead.");
  if (!can_suspend())
    throw Error(ErrorCode::unsupported,
                "WebGPU: this page cannot wait for its device: call read_async().then() instead, which calls back when "
                "the device is done, or link the program with -sASYNCIFY or -sJSPI, and do not wait in a callback.");
  suspend_until_answer(static_cast<int>(future.id));
  return is_done(instance, future) ? Wait::done : Wait::timed_out;
}

Wait poll_for(WGPUInstance instance, WGPUFuture future, std::uint64_t nanoseconds) {
  return wait_for(instance, future, nanoseconds);
}

}  // namespace tessera::webgpu

#include "backend_webgpu/wait.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include <tessera/error.h>

namespace tessera::webgpu {

bool can_wait() { return true; }

WGPUCallbackMode mode_of_present_answers() { return WGPUCallbackMode_AllowSpontaneous; }

bool is_done(WGPUInstance instance, WGPUFuture future) {
  WGPUFutureWaitInfo info{};
  info.future = future;
  switch (wgpuInstanceWaitAny(instance, 1, &info, 0)) {
    case WGPUWaitStatus_Success: return true;
    case WGPUWaitStatus_TimedOut: return false;
    default: throw Error(ErrorCode::unsupported, "WebGPU: Dawn could not wait for its device.");
  }
}

Wait wait_for(WGPUInstance instance, WGPUFuture future, std::uint64_t nanoseconds) {
  if (is_done(instance, future)) return Wait::done;
  if (nanoseconds == 0) return Wait::timed_out;
  WGPUFutureWaitInfo info{};
  info.future = future;
  switch (wgpuInstanceWaitAny(instance, 1, &info, nanoseconds)) {
    case WGPUWaitStatus_Success: return Wait::done;
    case WGPUWaitStatus_TimedOut: return Wait::timed_out;
    default: return Wait::cannot_sleep;
  }
}

Wait poll_for(WGPUInstance instance, WGPUFuture future, std::uint64_t nanoseconds) {
  using namespace std::chrono;
  using namespace std::chrono_literals;
  const auto start = steady_clock::now();
  for (auto pause = 20us; !is_done(instance, future); pause = std::min(2 * pause, microseconds(1000))) {
    const auto waited = duration_cast<std::chrono::nanoseconds>(steady_clock::now() - start).count();
    if (static_cast<std::uint64_t>(waited) >= nanoseconds) return Wait::timed_out;
    std::this_thread::sleep_for(pause);
  }
  return Wait::done;
}

}  // namespace tessera::webgpu

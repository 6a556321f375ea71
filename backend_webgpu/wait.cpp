#include "backend_webgpu/wait.h"

#include <tessera/error.h>

namespace tessera::webgpu {

bool wait_for(WGPUInstance instance, WGPUFuture future, std::uint64_t nanoseconds) {
  WGPUFutureWaitInfo info{};
  info.future = future;
  switch (wgpuInstanceWaitAny(instance, 1, &info, nanoseconds)) {
    case WGPUWaitStatus_Success: return true;
    case WGPUWaitStatus_TimedOut: return false;
    default: throw Error(ErrorCode::unsupported, "WebGPU: Dawn could not wait for its device.");
  }
}

}  // namespace tessera::webgpu

// Errors are told at once: whoever closes a scope waits for its answer.
#include "backend_webgpu/device.h"

namespace tessera::webgpu {

std::string ErrorScope::close() {
  is_open_ = false;
  std::string error;
  WGPUPopErrorScopeCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = &error;
  callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* to, void*) {
    if (type == WGPUErrorType_NoError) return;
    *static_cast<std::string*>(to) = message.length == 0 ? "no reason was given" : string_of(message);
  };
  device_.wait_for(wgpuDevicePopErrorScope(device_.get(), callback));
  return error;
}

}  // namespace tessera::webgpu

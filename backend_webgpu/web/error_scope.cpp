// Where the program can wait for the page, whoever closes a scope is told its errors at once. Else the device tells
// them later: the next call that looks for faults throws them.
#include "backend_webgpu/device.h"
#include "backend_webgpu/web/page_gpu.h"
#include "backend_webgpu/web/webgpu_functions.h"

namespace tessera::webgpu {

std::string ErrorScope::close() {
  is_open_ = false;
  if (!can_suspend()) {
    pop_error_scope_later(device_.get());
    return {};
  }
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

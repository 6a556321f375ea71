#include <memory>

#include "backend_webgpu/device.h"

namespace tessera::webgpu {
namespace {

std::string text_of(WGPUStringView message) { return message.length == 0 ? "no reason was given" : string_of(message); }

}  // namespace

ErrorScope::ErrorScope(const Device& device, WGPUErrorFilter filter) : device_(device) {
  wgpuDevicePushErrorScope(device_.get(), filter);
}

ErrorScope::~ErrorScope() {
  if (is_open_) close();
}

std::string ErrorScope::close() {
  is_open_ = false;
  std::string error;
  WGPUPopErrorScopeCallbackInfo callback{};
  if (can_wait()) {
    callback.mode = WGPUCallbackMode_WaitAnyOnly;
    callback.userdata1 = &error;
    callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* to, void*) {
      if (type != WGPUErrorType_NoError) *static_cast<std::string*>(to) = text_of(message);
    };
    device_.wait_for(wgpuDevicePopErrorScope(device_.get(), callback));
  } else {
    callback.mode = WGPUCallbackMode_AllowSpontaneous;
    callback.userdata1 = new std::shared_ptr(device_.faults());  // the answer may come after the device is gone
    callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* to, void*) {
      const std::unique_ptr<std::shared_ptr<Faults>> faults(static_cast<std::shared_ptr<Faults>*>(to));
      if (type == WGPUErrorType_NoError) return;
      const bool no_memory = type == WGPUErrorType_OutOfMemory;
      (*faults)->note_error(no_memory ? ErrorCode::out_of_memory : ErrorCode::unsupported, text_of(message));
    };
    wgpuDevicePopErrorScope(device_.get(), callback);
  }
  return error;
}

}  // namespace tessera::webgpu

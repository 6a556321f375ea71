#include <atomic>
#include <memory>
#include <utility>

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
  struct Answer {
    std::string error{};
    std::atomic<bool> is_there = false;
  } answer;
  WGPUPopErrorScopeCallbackInfo callback{};
  if (can_wait()) {
    callback.mode = mode_of_present_answers();
    callback.userdata1 = &answer;
    callback.callback = [](WGPUPopErrorScopeStatus, WGPUErrorType type, WGPUStringView message, void* to, void*) {
      Answer& given = *static_cast<Answer*>(to);
      if (type != WGPUErrorType_NoError) given.error = text_of(message);
      given.is_there = true;
    };
    const WGPUFuture future = wgpuDevicePopErrorScope(device_.get(), callback);
    if (!answer.is_there) device_.wait_for(future);
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
  return std::move(answer.error);
}

}  // namespace tessera::webgpu

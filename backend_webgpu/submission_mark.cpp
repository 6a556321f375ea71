#include "backend_webgpu/submission_mark.h"

namespace tessera::webgpu {

// Dawn and browsers call back once, whether anybody waits for it or not: a mark that is dropped leaves nothing behind.
SubmissionMark::SubmissionMark(std::shared_ptr<Device> device) : device_(std::move(device)) {
  WGPUQueueWorkDoneCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_AllowSpontaneous;
  callback.userdata1 = new std::shared_ptr(is_done_);
  callback.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void* to, void*) {
    const std::unique_ptr<std::shared_ptr<std::atomic<bool>>> is_done(
        static_cast<std::shared_ptr<std::atomic<bool>>*>(to));
    **is_done = true;
  };
  future_ = wgpuQueueOnSubmittedWorkDone(device_->queue(), callback);
}

}  // namespace tessera::webgpu

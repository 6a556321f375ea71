// A mark behind all that was submitted to a device's queue so far.
#pragma once
#include <atomic>
#include <memory>

#include "backend_webgpu/device.h"

namespace tessera::webgpu {

class SubmissionMark final : public Mark {
 public:
  explicit SubmissionMark(std::shared_ptr<Device>);
  bool is_reached() override { return *is_done_ || device_->wait_for(future_, 0); }
  void wait() override {
    if (!*is_done_) device_->wait_for(future_);
  }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<std::atomic<bool>> is_done_ = std::make_shared<std::atomic<bool>>(false);
  WGPUFuture future_{};
};

}  // namespace tessera::webgpu

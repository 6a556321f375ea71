// webgpu::when_done
#include <memory>
#include <utility>

#include "backend_webgpu/backend.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

// All that has been submitted to the device's queue so far.
class SubmittedWork {
 public:
  explicit SubmittedWork(std::shared_ptr<Device> device) : device_(std::move(device)) {
    WGPUQueueWorkDoneCallbackInfo callback{};
    callback.mode = WGPUCallbackMode_WaitAnyOnly;
    callback.userdata1 = new std::shared_ptr(is_done_);  // Dawn calls once, if only when the instance goes
    callback.callback = [](WGPUQueueWorkDoneStatus status, WGPUStringView, void* to, void*) {
      const std::unique_ptr<std::shared_ptr<bool>> is_done(static_cast<std::shared_ptr<bool>*>(to));
      **is_done = status == WGPUQueueWorkDoneStatus_Success;
    };
    future_ = wgpuQueueOnSubmittedWorkDone(device_->queue(), callback);
  }

  bool is_over() { return device_->wait_for(future_, 0); }  // done, or never to be done
  bool is_done() const { return *is_done_ && !device_->is_lost(); }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<bool> is_done_ = std::make_shared<bool>(false);
  WGPUFuture future_{};
};

}  // namespace

void when_done(Context& context, std::function<void(bool is_done)> callback) {
  constexpr std::string_view op = "webgpu::when_done";
  if (!callback) fail(ErrorCode::invalid_argument, op, "the callback is empty.");
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const auto work = std::make_shared<SubmittedWork>(backend_of<WebGpuBackend>(op, impl).own_device());
  impl.owner.background.add(
      [work](ContextState&) {
        try {
          return work->is_over();
        } catch (const Error&) {
          return true;
        }
      },
      [work, callback = std::move(callback)] { callback(work->is_done()); });
}

}  // namespace tessera::webgpu

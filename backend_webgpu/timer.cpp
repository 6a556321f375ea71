#include "backend_webgpu/timer.h"

#include <algorithm>

namespace tessera::webgpu {
namespace {

constexpr std::uint32_t most_queries = 4096;  // of one set, by WebGPU's definition

}  // namespace

bool can_time(const Device& device) { return wgpuDeviceHasFeature(device.get(), WGPUFeatureName_TimestampQuery); }

TimedPasses::TimedPasses(std::shared_ptr<Device> device, std::uint64_t run, std::size_t passes)
    : device_(std::move(device)),
      run_(run),
      capacity_(narrow<std::uint32_t>(std::min<std::size_t>(2 * passes, most_queries))) {
  WGPUQuerySetDescriptor descriptor{};
  descriptor.label = view_of("tessera times");
  descriptor.type = WGPUQueryType_Timestamp;
  descriptor.count = capacity_;
  queries_ = Handle(wgpuDeviceCreateQuerySet(device_->get(), &descriptor));
  resolved_ = device_->make_buffer(bytes(), WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc, "tessera times");
  staging_ = device_->make_buffer(bytes(), WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, "tessera times");
}

const WGPUPassTimestampWrites* TimedPasses::writes_for(std::size_t dispatch) {
  const auto next = narrow<std::uint32_t>(2 * dispatches_.size());
  if (next + 2 > capacity_) return nullptr;
  dispatches_.push_back(dispatch);
  writes_.querySet = queries_.get();
  writes_.beginningOfPassWriteIndex = next;
  writes_.endOfPassWriteIndex = next + 1;
  return &writes_;
}

void TimedPasses::resolve(WGPUCommandEncoder encoder) {
  const auto used = narrow<std::uint32_t>(2 * dispatches_.size());
  wgpuCommandEncoderResolveQuerySet(encoder, queries_.get(), 0, used, resolved_.get(), 0);
  wgpuCommandEncoderCopyBufferToBuffer(encoder, resolved_.get(), 0, staging_.get(), 0, bytes());
}

TimedRun TimedPasses::take() const {
  TimedRun run{run_, {}};
  if (const auto* ticks = static_cast<const std::uint64_t*>(mapping_->data()))  // null where the device was lost
    run.times = times_of(dispatches_, {ticks, 2 * dispatches_.size()}, longest_since(began_));
  return run;
}

}  // namespace tessera::webgpu

#include "backend_webgpu/mapping.h"

namespace tessera::webgpu {

Mapping::Mapping(const Device& device, WGPUBuffer buffer, std::uint64_t bytes)
    : device_(device), buffer_(buffer), bytes_(bytes) {
  WGPUBufferMapCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = this;
  callback.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* to, void*) {
    auto& mapping = *static_cast<Mapping*>(to);
    mapping.is_mapped_ = status == WGPUMapAsyncStatus_Success;
    if (!mapping.is_mapped_) mapping.failure_ = string_of(message);
  };
  future_ = wgpuBufferMapAsync(buffer_, WGPUMapMode_Read, 0, bytes_, callback);
}

Mapping::~Mapping() {
  wgpuBufferUnmap(buffer_);  // also cancels a map that is under way,
  ready(forever);            // whose callback runs here and never later
}

bool Mapping::ready(std::uint64_t nanoseconds) {
  if (is_pending_) is_pending_ = !device_.wait_for(future_, nanoseconds);
  return !is_pending_;
}

const void* Mapping::data() const { return is_mapped_ ? wgpuBufferGetConstMappedRange(buffer_, 0, bytes_) : nullptr; }

}  // namespace tessera::webgpu

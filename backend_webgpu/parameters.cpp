#include "backend_webgpu/parameters.h"

#include <algorithm>
#include <bit>

namespace tessera::webgpu {

std::uint32_t Parameters::add(std::span<const std::uint32_t> words) {
  const std::size_t step = std::max<std::size_t>(device_->limits().minUniformBufferOffsetAlignment, 16) / 4;
  const std::size_t first = (words_.size() + step - 1) / step * step;
  words_.resize(first + parameter_vectors(words.size()) * 4);
  std::copy(words.begin(), words.end(), words_.begin() + static_cast<std::ptrdiff_t>(first));
  return static_cast<std::uint32_t>(first * 4);
}

const BoundBuffer& Parameters::upload() {
  const std::uint64_t bytes = words_.size() * 4;
  if (bytes > buffer_.bytes) {
    const std::uint64_t size = std::bit_ceil(std::max<std::uint64_t>(bytes, 16 * 1024));
    Handle larger = device_->make_buffer(size, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, "tessera parameters");
    bind_groups_->forget(buffer_.id);
    handle_ = std::move(larger);
    buffer_ = {handle_.get(), size, next_buffer_id()};
  }
  wgpuQueueWriteBuffer(device_->queue(), buffer_.handle, 0, words_.data(), bytes);
  return buffer_;
}

}  // namespace tessera::webgpu

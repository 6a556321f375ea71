#include "backend_webgpu/parameters.h"

#include <algorithm>
#include <bit>

namespace tessera::webgpu {
namespace {

constexpr std::size_t most_blocks = 16;

}  // namespace

std::uint32_t Parameters::begin_dispatch() {
  const std::size_t step = std::max<std::size_t>(device_->limits().minUniformBufferOffsetAlignment, 16) / 4;
  if (words_.size() % step != 0) words_.resize(round_up(words_.size(), step));
  return narrow<std::uint32_t>(words_.size() * 4);
}

void Parameters::add(std::span<const std::uint32_t> words) {
  words_.insert(words_.end(), words.begin(), words.end());
  if (words_.size() % 4 != 0) words_.resize(round_up(words_.size(), 4));
}

BoundBuffer Parameters::upload(Use use) {
  if (words_.empty()) return {};
  if (use == Use::recorded) {
    if (free_.empty()) free_.emplace_back();
    recorded_.push_back(std::move(free_.back()));
    free_.pop_back();
    return write(recorded_.back());
  }
  auto block = std::ranges::find(now_, words_, &Block::words);
  const bool is_known = block != now_.end();
  if (!is_known) {
    if (now_.size() < most_blocks) now_.emplace_back();
    block = now_.end() - 1;  // the one that was not used for longest
  }
  std::rotate(now_.begin(), block, block + 1);
  return is_known ? now_.front().buffer : write(now_.front());
}

const BoundBuffer& Parameters::write(Block& block) {
  const std::uint64_t bytes = words_.size() * 4;
  if (bytes > block.buffer.bytes) grow(block, bytes);
  wgpuQueueWriteBuffer(device_->queue(), block.buffer.handle, 0, words_.data(), bytes);
  block.words = words_;
  return block.buffer;
}

void Parameters::grow(Block& block, std::uint64_t bytes) {
  const std::uint64_t size = std::bit_ceil(std::max<std::uint64_t>(bytes, 16 * 1024));
  Handle larger = device_->make_buffer(size, WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst, "tessera parameters");
  bind_groups_->forget(block.buffer.id);
  block.handle = std::move(larger);
  block.buffer = {.handle = block.handle.get(), .bytes = size, .id = next_buffer_id()};
}

void Parameters::submitted() {
  for (Block& block : recorded_) free_.push_back(std::move(block));
  recorded_.clear();
}

void Parameters::trim() {
  now_.clear();
  free_.clear();
}

}  // namespace tessera::webgpu

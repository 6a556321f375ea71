// The host's memory of large tensors that are gone, for the next ones.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/base/copy_past_caches.h"

namespace tessera {

// An operating system clears new memory page by page, which takes longer than the copy that fills it. Any thread may
// call. The memory of all contexts is never freed at the end, since tensors may outlive every static object.
class SpareMemory {
 public:
  static constexpr std::size_t smallest = std::size_t{256} << 10;  // less is quickly made
  static constexpr std::size_t most_bytes = std::size_t{64} << 20;
  static constexpr std::size_t beyond_caches = std::size_t{4} << 20;  // a copy of as much is not read out of a cache

  static SpareMemory& all() {
    static SpareMemory& memory = *new SpareMemory;
    return memory;
  }

  std::vector<std::byte> copy_of(std::span<const std::byte> elements) {
    std::vector<std::byte> memory = take(elements.size());
    if (memory.size() < elements.size() || elements.size() < beyond_caches) {
      memory.assign(elements.begin(), elements.end());
    } else {
      memory.resize(elements.size());
      copy_past_caches(elements, memory.data());
    }
    return memory;
  }

  // Leaves nothing in `memory`. The memory that came first goes where there is too much.
  void give_back(std::vector<std::byte>& memory) noexcept {
    std::vector<std::byte> given = std::exchange(memory, {});
    if (given.capacity() < smallest || given.capacity() > most_bytes) return;
    const std::scoped_lock hold(lock_);
    std::rotate(blocks_.begin(), blocks_.end() - 1, blocks_.end());
    blocks_.front() = std::move(given);
    std::size_t bytes = 0;
    for (std::vector<std::byte>& block : blocks_)
      if ((bytes += block.capacity()) > most_bytes) block = std::vector<std::byte>();
  }

  std::size_t bytes() {  // that are kept
    const std::scoped_lock hold(lock_);
    std::size_t total = 0;
    for (const std::vector<std::byte>& block : blocks_) total += block.capacity();
    return total;
  }

  void trim() noexcept {
    const std::scoped_lock hold(lock_);
    for (std::vector<std::byte>& block : blocks_) block = std::vector<std::byte>();
  }

 private:
  // Memory that has room for so many bytes and not for more than twice as many, or none.
  std::vector<std::byte> take(std::size_t bytes) {
    const std::scoped_lock hold(lock_);
    for (std::vector<std::byte>& block : blocks_)
      if (block.capacity() >= bytes && block.capacity() / 2 <= bytes) return std::exchange(block, {});
    return {};
  }

  std::mutex lock_;
  std::array<std::vector<std::byte>, 8> blocks_;  // the last that was given back first
};

}  // namespace tessera

#include "core/pool.h"

#include <algorithm>

namespace tessera {
namespace {

// Kept without being used: as much again as is in use, and a little for programs that hold nothing between frames.
constexpr std::uint64_t always_kept = std::uint64_t{64} << 20;

}  // namespace

Buffer::Buffer(std::shared_ptr<Pool> pool, std::unique_ptr<Storage> storage, StorageClass storage_class, DType dtype,
               std::int64_t elements)
    : pool_(std::move(pool)),
      storage_(std::move(storage)),
      storage_class_(storage_class),
      dtype_(dtype),
      elements_(elements) {}

Buffer::~Buffer() { pool_->give_back(*this); }

std::shared_ptr<Buffer> Pool::acquire(DType dtype, std::int64_t elements) {
  const StorageClass wanted = backend_.storage_class(dtype, elements);
  std::unique_ptr<Storage> storage = take(wanted.key);
  if (!storage) storage = backend_.allocate(dtype, elements);
  auto buffer = std::make_shared<Buffer>(shared_from_this(), std::move(storage), wanted, dtype, elements);
  const std::scoped_lock hold(lock_);
  info_.num_tensors += 1;
  info_.num_bytes += static_cast<std::uint64_t>(elements) * size_of(dtype);
  info_.bytes_in_use += wanted.bytes;
  info_.bytes_peak = std::max(info_.bytes_peak, info_.bytes_in_use);
  return buffer;
}

std::unique_ptr<Storage> Pool::take(std::uint64_t key) {
  const std::scoped_lock hold(lock_);
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  const auto entry = found->second;
  std::unique_ptr<Storage> storage = std::move(entry->storage);
  info_.bytes_pooled -= entry->bytes;
  by_key_.erase(found);
  free_.erase(entry);
  return storage;
}

void Pool::give_back(Buffer& buffer) noexcept {
  const std::scoped_lock hold(lock_);
  const StorageClass& its = buffer.storage_class_;
  info_.num_tensors -= 1;
  info_.num_bytes -= static_cast<std::uint64_t>(buffer.elements_) * size_of(buffer.dtype_);
  info_.bytes_in_use -= its.bytes;
  info_.bytes_pooled += its.bytes;
  free_.push_front({its.key, its.bytes, std::move(buffer.storage_)});
  by_key_.emplace(its.key, free_.begin());
}

std::list<Pool::Free> Pool::over_bound() {
  const std::scoped_lock hold(lock_);
  std::list<Free> doomed;
  while (info_.bytes_pooled > info_.bytes_in_use + always_kept) {
    const auto oldest = std::prev(free_.end());
    const auto [begin, end] = by_key_.equal_range(oldest->key);
    by_key_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == oldest; }));
    info_.bytes_pooled -= oldest->bytes;
    doomed.splice(doomed.end(), free_, oldest);
  }
  return doomed;
}

void Pool::collect() { over_bound(); }

void Pool::trim() {
  std::list<Free> doomed;
  const std::scoped_lock hold(lock_);
  doomed.swap(free_);
  by_key_.clear();
  info_.bytes_pooled = 0;
}

MemoryInfo Pool::info() const {
  const std::scoped_lock hold(lock_);
  return info_;
}

void Pool::reset_peak() {
  const std::scoped_lock hold(lock_);
  info_.bytes_peak = info_.bytes_in_use;
}

}  // namespace tessera

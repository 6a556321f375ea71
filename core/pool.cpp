#include "core/pool.h"

#include <algorithm>
#include <utility>

namespace tessera {
namespace {

// Kept without being used: as much again as is in use, and a little for programs that hold nothing between frames.
constexpr std::uint64_t always_kept = std::uint64_t{64} << 20;

}  // namespace

Buffer::Buffer(std::shared_ptr<Pool> pool, std::unique_ptr<Storage> storage, StorageClass storage_class,
               const StorageSpec& spec, Owner owner)
    : pool_(std::move(pool)), storage_(std::move(storage)), storage_class_(storage_class), spec_(spec), owner_(owner) {}

Buffer::~Buffer() { pool_->give_back(*this); }

std::shared_ptr<Buffer> Pool::acquire(const StorageSpec& spec, Use use) {
  const StorageClass wanted = backend_.storage_class(spec);
  std::unique_ptr<Storage> storage = take(wanted.key, use);
  if (!storage) storage = backend_.allocate(spec);
  auto buffer = lend(std::move(storage), wanted, spec, Buffer::Owner::pool);
  if (is_recording_ && use == Use::kernels) buffer->recording_ = recordings_;
  return buffer;
}

void Pool::begin_recording() {
  const std::scoped_lock hold(lock_);
  ++recordings_;
  is_recording_ = true;
}

void Pool::end_recording() {
  const std::scoped_lock hold(lock_);
  is_recording_ = false;
}

void Pool::require_submitted(const Buffer& buffer) const {
  const std::scoped_lock hold(lock_);
  if (is_recording_ || buffer.recording_ <= submitted_) return;
  throw Error(ErrorCode::invalid_argument,
              "compute: the work that makes this tensor is recorded in the host's commands, which have not been "
              "submitted; submit them, call webgpu::submitted(), then read the tensor or compute with it.");
}

void Pool::submitted() {
  const std::scoped_lock hold(lock_);
  submitted_ = recordings_;
}

std::shared_ptr<Buffer> Pool::borrow(std::unique_ptr<Storage> storage, const StorageSpec& spec) {
  const StorageClass its{.key = 0, .bytes = static_cast<std::uint64_t>(spec.elements) * size_of(spec.dtype)};
  return lend(std::move(storage), its, spec, Buffer::Owner::host);
}

std::shared_ptr<Buffer> Pool::lend(std::unique_ptr<Storage> storage, StorageClass its, const StorageSpec& spec,
                                   Buffer::Owner owner) {
  auto buffer = std::make_shared<Buffer>(shared_from_this(), std::move(storage), its, spec, owner);
  const std::scoped_lock hold(lock_);
  info_.num_tensors += 1;
  info_.num_bytes += static_cast<std::uint64_t>(spec.elements) * size_of(spec.dtype);
  (owner == Buffer::Owner::host ? info_.bytes_external : info_.bytes_in_use) += its.bytes;
  info_.bytes_peak = std::max(info_.bytes_peak, info_.bytes_in_use);
  return buffer;
}

std::unique_ptr<Storage> Pool::take(std::uint64_t key, Use use) {
  const std::scoped_lock hold(lock_);
  const bool in_order = is_recording_ && use == Use::kernels;
  const auto [begin, end] = by_key_.equal_range(key);
  const auto found =
      std::find_if(begin, end, [&](const auto& entry) { return in_order || entry.second->recording <= submitted_; });
  if (found == end) return nullptr;
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
  info_.num_bytes -= static_cast<std::uint64_t>(buffer.elements()) * size_of(buffer.spec_.dtype);
  if (buffer.owner_ == Buffer::Owner::host) {
    info_.bytes_external -= its.bytes;
    borrowed_.push_back(std::move(buffer.storage_));
    return;
  }
  info_.bytes_in_use -= its.bytes;
  info_.bytes_pooled += its.bytes;
  free_.push_front({its.key, its.bytes, std::move(buffer.storage_), recordings_});
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

std::vector<std::unique_ptr<Storage>> Pool::no_longer_borrowed() {
  const std::scoped_lock hold(lock_);
  return std::exchange(borrowed_, {});
}

void Pool::collect() {
  no_longer_borrowed();
  over_bound();
}

void Pool::trim() {
  no_longer_borrowed();
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

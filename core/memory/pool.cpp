#include "core/memory/pool.h"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <utility>

#include "core/base/recycled.h"
#include "core/base/spare_memory.h"

namespace tessera {
namespace {

// The pool keeps as many free bytes as are in use, and these for programs that hold nothing between frames.
constexpr std::uint64_t always_kept = std::uint64_t{64} << 20;

}  // namespace

std::string megabytes(std::uint64_t bytes) {
  const std::uint64_t hundredths = (bytes * 100 + (1u << 19)) >> 20;
  const std::string digits = std::to_string(hundredths % 100);
  return std::to_string(hundredths / 100) + '.' + (digits.size() < 2 ? "0" : "") + digits + " MB";
}

Buffer::Buffer(std::shared_ptr<Pool> pool, const StorageSpec& spec, Owner owner)
    : pool_(std::move(pool)), spec_(spec), owner_(owner) {}

Buffer::~Buffer() {
  pool_->give_back(*this);
  SpareMemory::all().give_back(host_);
}

std::shared_ptr<const void> Buffer::lend() {
  std::shared_ptr<const void> loan = loan_.lock();
  if (!loan) loan_ = loan = std::make_shared<char>();
  was_lent_ = true;
  return loan;
}

std::shared_ptr<Buffer> Pool::make_buffer(const StorageSpec& spec, Buffer::Owner owner) {
  auto buffer = std::allocate_shared<Buffer>(Recycled<Buffer>(), shared_from_this(), spec, owner);
  const std::scoped_lock hold(lock_);
  add_live(*buffer);
  return buffer;
}

// The caller holds the lock.
void Pool::add_live(Buffer& buffer) {
  info_.num_tensors += 1;
  info_.num_bytes += buffer.bytes();
  buffer.next_ = first_live_;
  if (first_live_) first_live_->previous_ = &buffer;
  first_live_ = &buffer;
}

std::shared_ptr<Buffer> Pool::acquire(const StorageSpec& spec, const StorageSpec& storage, Use use) {
  const StorageClass storage_class = backend_->storage_class(storage);
  auto buffer = std::allocate_shared<Buffer>(Recycled<Buffer>(), shared_from_this(), spec, Buffer::Owner::pool);
  {
    const std::scoped_lock hold(lock_);
    add_live(*buffer);
    if (give_free(*buffer, storage_class, use)) return buffer;
  }
  give_storage(*buffer, storage, use);
  return buffer;
}

std::shared_ptr<Buffer> Pool::from_host(const StorageSpec& spec) {
  auto buffer = make_buffer(spec, Buffer::Owner::pool);
  buffer->waits_for_upload_ = true;
  return buffer;
}

std::shared_ptr<Buffer> Pool::borrow(std::unique_ptr<Storage> storage, const StorageSpec& spec) {
  auto buffer = make_buffer(spec, Buffer::Owner::host);
  const std::scoped_lock hold(lock_);
  buffer->place_.push_back({.storage = std::move(storage), .storage_class = {.key = 0, .bytes = buffer->bytes()}});
  info_.bytes_external += buffer->bytes();
  return buffer;
}

void Pool::give_storage(Buffer& buffer, const StorageSpec& spec, Use use) {
  const StorageClass storage_class = backend_->storage_class(spec);
  {
    const std::scoped_lock hold(lock_);
    if (give_free(buffer, storage_class, use)) return;
  }
  PooledStorage::List storage = allocate(spec, storage_class);
  const std::scoped_lock hold(lock_);
  give(buffer, std::move(storage), storage_class, use);
}

// The caller holds the lock. Gives a storage that is free, if there is one.
bool Pool::give_free(Buffer& buffer, const StorageClass& storage_class, Use use) {
  PooledStorage::List storage = take(storage_class.key, use);
  if (storage.empty()) return false;
  give(buffer, std::move(storage), storage_class, use);
  return true;
}

// The caller holds the lock.
void Pool::give(Buffer& buffer, PooledStorage::List storage, const StorageClass& storage_class, Use use) {
  buffer.place_ = std::move(storage);
  buffer.last_used_ = batch_;
  buffer.recording_ = is_recording_ && use == Use::kernels ? recordings_ : 0;
  info_.bytes_in_use += storage_class.bytes;
  info_.bytes_peak = std::max(info_.bytes_peak, info_.bytes_in_use);
  watched_peak_ = std::max(watched_peak_, info_.bytes_in_use);
}

void Pool::use(Buffer& buffer) {
  buffer.last_used_ = batch_;
  if (buffer.is_resident()) return;
  if (buffer.is_lost())
    throw Error(ErrorCode::out_of_memory, "compute: a tensor of " + std::to_string(buffer.bytes()) +
                                              " bytes was forgotten to make room for the rest of the computation that "
                                              "needs it: " +
                                              holders());
  give_storage(buffer, buffer.spec_, Use::upload);
  try {
    if (buffer.has_host_copy()) backend_->upload(buffer.storage(), buffer.spec_.dtype, buffer.host_);
    else buffer.backup_->restore(*backend_, buffer.storage());
  } catch (...) {
    put_away(buffer);
    throw;
  }
  stats_.bytes_uploaded += buffer.host_.size();
  buffer.waits_for_upload_ = false;
  const std::scoped_lock hold(lock_);
  if (std::exchange(buffer.is_spilled_, false)) info_.bytes_spilled -= buffer.bytes();
  if (buffer.is_for_lineage_) count_for_lineage(buffer, false);
  if (options_.keeps_host_copies) return;
  SpareMemory::all().give_back(buffer.host_);
  buffer.backup_ = nullptr;
}

void Pool::copy_to_host(Buffer& buffer) {
  if (buffer.has_host_copy() || buffer.is_lost()) return;
  if (!buffer.is_resident()) use(buffer);
  require_submitted(buffer);
  const auto download = backend_->download_at_once(buffer.storage(), buffer.spec_.dtype, 0, buffer.elements());
  download->wait();
  std::vector<std::byte> elements(buffer.bytes());
  download->take(elements);
  stats_.bytes_downloaded += elements.size();
  set_host_copy(buffer, std::move(elements));
}

void Pool::set_host_copy(Buffer& buffer, std::vector<std::byte> elements) noexcept {
  buffer.host_ = std::move(elements);
  buffer.backup_ = nullptr;
}

void Pool::set_backup(Buffer& buffer, std::unique_ptr<const Backup> backup) { buffer.backup_ = std::move(backup); }

std::shared_ptr<Buffer> Pool::take_copies(Buffer& buffer) {
  std::shared_ptr<Buffer> copies;
  if (buffer.has_copy()) {
    copies = from_host(buffer.spec_);
    copies->op_ = buffer.op_;
    give_copies_back(*copies, buffer);
  }
  ++buffer.version_;
  return copies;
}

void Pool::give_copies_back(Buffer& to, Buffer& copies) {
  to.host_ = std::exchange(copies.host_, {});
  to.backup_ = std::exchange(copies.backup_, nullptr);
}

bool Pool::can_leave(const Buffer& buffer) const {
  return buffer.is_resident() && (buffer.has_elements_in_order() || buffer.can_be_dropped_) &&
         buffer.owner_ == Buffer::Owner::pool && !buffer.is_lent() && buffer.recording_ <= submitted_;
}

void Pool::leave_device(Buffer& buffer) {
  if (buffer.is_resident() && buffer.has_copy()) put_away(buffer);
}

void Pool::keep_for_lineage(Buffer& buffer) {
  leave_device(buffer);
  const std::scoped_lock hold(lock_);
  if (!buffer.is_for_lineage_) count_for_lineage(buffer, true);
}

void Pool::add_laid_out(Buffer& original, std::string layout, std::uint64_t version,
                        const std::shared_ptr<Buffer>& copy) {
  original.laid_out_.add(std::move(layout), version, copy);
  copy->original_ = original.weak_from_this();
}

// Not to the free ones: tensors of this size may never come again. Elements that were written anew may be so again, and
// recorded commands may refer to the storage.
void Pool::leave_to_laid_out(Buffer& original) {
  if (!can_leave(original) || !original.has_copy() || original.version_ > 0) return;
  {
    const std::scoped_lock hold(lock_);
    if (recordings_ > submitted_) return;
  }
  const PooledStorage::List::iterator entry = original.place_.begin();
  put_away(original);
  PooledStorage::List doomed;  // goes when the lock is free
  const std::scoped_lock hold(lock_);
  doomed = remove(entry);
}

std::uint64_t Pool::drop_laid_out(Buffer& original) {
  std::uint64_t bytes = 0;
  for (const std::shared_ptr<Buffer>& copy : original.laid_out_.on_device()) {
    if (!copy->can_be_dropped_) continue;
    bytes += copy->device_bytes();
    put_away(*copy);
  }
  return bytes;
}

// Whether the device has elements in this laid out copy alone.
bool Pool::stands_in(const Buffer& buffer) {
  const std::shared_ptr<Buffer> original = buffer.original();
  return original && buffer.is_resident() && !original->is_resident();
}

// The caller holds the lock. A tensor that only lineages need does not count as one.
void Pool::count_for_lineage(Buffer& buffer, bool is_for_lineage) {
  buffer.is_for_lineage_ = is_for_lineage;
  const std::uint64_t bytes = buffer.bytes();
  lineage_bytes_ = is_for_lineage ? lineage_bytes_ + bytes : lineage_bytes_ - bytes;
  info_.num_bytes = is_for_lineage ? info_.num_bytes - bytes : info_.num_bytes + bytes;
  info_.num_tensors += is_for_lineage ? -1 : 1;
}

// The storage goes to the free ones, or to those that were borrowed.
void Pool::put_away(Buffer& buffer) noexcept {
  const std::scoped_lock hold(lock_);
  put_storage_away(buffer);
}

// The caller holds the lock.
void Pool::put_storage_away(Buffer& buffer) noexcept {
  if (!buffer.is_resident()) return;
  PooledStorage& storage = buffer.place_.front();
  const std::uint64_t bytes = storage.storage_class.bytes;
  if (std::exchange(buffer.owner_, Buffer::Owner::pool) == Buffer::Owner::host) {
    info_.bytes_external -= bytes;
    borrowed_.splice(borrowed_.begin(), buffer.place_);
    return;
  }
  info_.bytes_in_use -= bytes;
  info_.bytes_pooled += bytes;
  storage.recording = recordings_;
  storage.batch = buffer.last_used_;
  storage.by_key.mapped() = buffer.place_.begin();
  storage.in_index = by_key_.insert(std::move(storage.by_key));
  free_.splice(free_.begin(), buffer.place_);
}

void Pool::give_back(Buffer& buffer) noexcept {
  const std::scoped_lock hold(lock_);
  put_storage_away(buffer);
  if (buffer.is_for_lineage_) count_for_lineage(buffer, false);
  info_.num_tensors -= 1;
  info_.num_bytes -= buffer.bytes();
  if (buffer.is_spilled_) info_.bytes_spilled -= buffer.bytes();
  (buffer.previous_ ? buffer.previous_->next_ : first_live_) = buffer.next_;
  if (buffer.next_) buffer.next_->previous_ = buffer.previous_;
}

PooledStorage::List Pool::remove(PooledStorage::List::iterator entry) {
  entry->by_key = by_key_.extract(entry->in_index);
  info_.bytes_pooled -= entry->storage_class.bytes;
  PooledStorage::List removed;
  removed.splice(removed.begin(), free_, entry);
  return removed;
}

// The caller holds the lock.
PooledStorage::List Pool::take(std::uint64_t key, Use use) {
  // An upload runs at once: before recorded work, and before the batch that is being put together.
  const auto is_free = [&](const PooledStorage& entry) {
    if (use == Use::upload && entry.batch == batch_) return false;
    return entry.recording <= submitted_ || (is_recording_ && use == Use::kernels);
  };
  const auto [begin, end] = by_key_.equal_range(key);
  // The storage that came back last is the likeliest to be in a cache.
  for (auto entry = end; entry != begin;)
    if (is_free(*(--entry)->second)) return remove(entry->second);
  return {};
}

PooledStorage::List Pool::allocate(const StorageSpec& spec, StorageClass storage_class) {
  PooledStorage::List storage;
  PooledStorage::ByKey by_key{{storage_class.key, storage.end()}};
  storage.push_back({.storage = nullptr, .storage_class = storage_class, .by_key = by_key.extract(by_key.begin())});
  const auto has_room = [&] {
    const std::scoped_lock hold(lock_);
    return options_.budget == 0 || info_.bytes_in_use + info_.bytes_pooled + storage_class.bytes <= options_.budget;
  };
  while (!has_room())
    if (!make_room())
      throw Error(ErrorCode::out_of_memory, "compute: " + std::to_string(storage_class.bytes) +
                                                " bytes more do not fit into the budget of " +
                                                std::to_string(options_.budget) + " bytes: " + holders());
  for (;;) {
    try {
      if (allocations_until_failure_ > 0 && --allocations_until_failure_ == 0)
        throw Error(ErrorCode::out_of_memory,
                    "compute: the allocation of " + std::to_string(storage_class.bytes) + " bytes was made to fail.");
      storage.front().storage = backend_->allocate(spec);
      return storage;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;
      if (!make_room()) throw Error(error.code(), std::string(error.what()) + " " + holders());
    }
  }
}

std::string Pool::holders() const {
  const MemoryInfo now = info();
  return std::to_string(now.num_tensors) + " tensors hold " + megabytes(now.bytes_in_use) + " on " +
         backend_->device().name + ", " + megabytes(now.bytes_spilled) + " have been moved to the host, and the rest " +
         "is in use by this computation or lent to the host.";
}

// Frees a storage, or lets a tensor leave the device; false: there is none.
bool Pool::make_room() {
  if (free_one()) return true;
  {
    const std::scoped_lock hold(lock_);
    if (submits_first_ && !is_recording_ && !free_.empty()) return false;
  }
  return free_least_recently_used();
}

// Frees the least recently used storage that this batch does not use.
bool Pool::free_one() {
  PooledStorage::List doomed;  // goes when the lock is free
  const std::scoped_lock hold(lock_);
  for (auto entry = free_.end(); entry != free_.begin();)
    if ((--entry)->batch < batch_) {
      doomed = remove(entry);
      return true;
    }
  return false;
}

std::vector<std::shared_ptr<Buffer>> Pool::live() const {
  std::vector<std::shared_ptr<Buffer>> buffers;
  const std::scoped_lock hold(lock_);
  for (Buffer* each = first_live_; each; each = each->next_)
    if (auto buffer = each->weak_from_this().lock()) buffers.push_back(std::move(buffer));
  return buffers;
}

std::shared_ptr<Buffer> Pool::least_recently_used() const {
  std::shared_ptr<Buffer> oldest;
  for (std::shared_ptr<Buffer>& buffer : live())
    if (can_leave(*buffer) && buffer->last_used_ < batch_ && (!oldest || buffer->last_used_ < oldest->last_used_))
      oldest = std::move(buffer);
  return oldest;
}

void Pool::spill(Buffer& buffer) {
  if (buffer.can_be_dropped_) {
    const bool stood_in = stands_in(buffer);
    put_away(buffer);
    if (!stood_in) return;
    if (const auto original = buffer.original(); original->laid_out_.on_device().empty()) note_spilled(*original);
    return;
  }
  copy_to_host(buffer);
  put_away(buffer);
  note_spilled(buffer);
}

// The elements are on the host alone now.
void Pool::note_spilled(Buffer& buffer) {
  const std::scoped_lock hold(lock_);
  if (!std::exchange(buffer.is_spilled_, true)) info_.bytes_spilled += buffer.bytes();
  options_.messages.debug([&] {
    return "spill: a tensor of " + std::to_string(buffer.bytes()) +
           " bytes moved to the host, to make room on the device.";
  });
}

bool Pool::free_least_recently_used() {
  const std::shared_ptr<Buffer> buffer = least_recently_used();
  if (!buffer) return false;
  const std::uint64_t room = options_.budget == 0 ? backend_->device().max_tensor_bytes : options_.budget / 2;
  if (buffer->has_copy() || !options_.can_forget || !options_.can_forget(*buffer, room)) {
    spill(*buffer);
    return true;
  }
  put_away(*buffer);
  options_.messages.debug([&] {
    return "spill: a tensor of " + std::to_string(buffer->bytes()) +
           " bytes was forgotten, to make room on the device: it is soon made again.";
  });
  return true;
}

void Pool::spill_all() {
  while (const std::shared_ptr<Buffer> buffer = least_recently_used()) spill(*buffer);
}

void Pool::collect() {
  PooledStorage::List doomed;
  const std::scoped_lock hold(lock_);
  doomed.swap(borrowed_);
  if (options_.priority == Priority::speed) return;
  const std::uint64_t kept = options_.priority == Priority::memory ? 0 : info_.bytes_in_use + always_kept;
  while (info_.bytes_pooled > kept) doomed.splice(doomed.end(), remove(std::prev(free_.end())));
}

void Pool::trim() {
  SpareMemory::all().trim();
  for (const std::shared_ptr<Buffer>& buffer : live())
    if (buffer->can_be_dropped_ && !stands_in(*buffer)) put_away(*buffer);
  PooledStorage::List doomed;
  const std::scoped_lock hold(lock_);
  doomed.swap(borrowed_);
  while (!free_.empty()) doomed.splice(doomed.end(), remove(free_.begin()));
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

// Only holders of the context's lock change these members.
void Pool::require_submitted(const Buffer& buffer) const {
  if (is_recording_ || buffer.recording_ <= submitted_) return;
  throw Error(ErrorCode::invalid_argument,
              "compute: the work that makes this tensor is recorded in the host's commands, which have not been "
              "submitted; submit them, call webgpu::submitted(), then read the tensor or compute with it.");
}

void Pool::require_all_submitted(std::string_view op) const {
  const std::scoped_lock hold(lock_);
  if (recordings_ <= submitted_) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(op) +
                  ": work that may read the target is recorded in the host's commands, which have not been submitted; "
                  "submit them and call webgpu::submitted() first.");
}

void Pool::submitted() {
  const std::scoped_lock hold(lock_);
  submitted_ = recordings_;
}

void Pool::copy_all_to_host() {
  for (const std::shared_ptr<Buffer>& buffer : live())
    if (buffer->has_elements_in_order() && !buffer->can_be_dropped_) copy_to_host(*buffer);
}

void Pool::move_to(Backend& backend, bool keeps_host_copies) {
  for (const std::shared_ptr<Buffer>& buffer : live()) {
    put_away(*buffer);
    buffer->loan_.reset();  // the lent storage is gone
  }
  trim();
  const std::scoped_lock hold(lock_);
  backend_ = &backend;
  options_.keeps_host_copies = keeps_host_copies;
}

MemoryInfo Pool::info() const {
  const std::scoped_lock hold(lock_);
  MemoryInfo info = info_;
  info.reliable = backend_->limits().tells_memory;
  return info;
}

void Pool::reset_peak() {
  const std::scoped_lock hold(lock_);
  info_.bytes_peak = info_.bytes_in_use;
}

void Pool::watch_peak() {
  const std::scoped_lock hold(lock_);
  watched_peak_ = info_.bytes_in_use;
}

std::uint64_t Pool::watched_peak() const {
  const std::scoped_lock hold(lock_);
  return watched_peak_;
}

std::uint64_t Pool::lineage_bytes() const {
  const std::scoped_lock hold(lock_);
  return lineage_bytes_;
}

}  // namespace tessera

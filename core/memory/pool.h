// The pool hands device memory out to tensors, takes it back, keeps it for the next, and moves tensors to the host.
#pragma once
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/kernel/backend.h"
#include "core/memory/laid_out.h"

namespace tessera {

class Pool;
struct Node;

std::string megabytes(std::uint64_t bytes);  // "1.50 MB", for people

// A copy of elements, other than on the host, that outlives the device.
class Backup {
 public:
  virtual ~Backup() = default;
  virtual void restore(Backend&, Storage&) const = 0;
};

// A storage on its way between tensors and the pool. It moves as a list's node, so that going back never allocates: a
// tensor may be let go because memory has run out.
struct PooledStorage {
  using List = std::list<PooledStorage>;
  using ByKey = std::multimap<std::uint64_t, List::iterator>;

  std::unique_ptr<Storage> storage;
  StorageClass storage_class;
  std::uint64_t recording = 0, batch = 0;  // the last that may use it
  ByKey::node_type by_key{};               // while it is not free
  ByKey::iterator in_index{};              // while it is
};

// The elements of a tensor, and of the views of it: on the device, on the host, or on both. The last holder gives it
// back, on any thread; all other calls take a ContextState.
class Buffer : public std::enable_shared_from_this<Buffer> {
 public:
  enum class Owner : std::uint8_t { pool, host };

  Buffer(std::shared_ptr<Pool>, const StorageSpec&, Owner);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const StorageSpec& spec() const { return spec_; }
  std::int64_t elements() const { return spec_.elements; }
  // Else only kernels of this device can read it, and it never leaves.
  bool has_elements_in_order() const {
    const PixelLayout& pixels = spec_.pixels;
    return pixels.channels == 0 || (pixels.channels == 4 && !pixels.is_half && pixels.layers == 1);
  }
  std::uint64_t bytes() const { return byte_count(spec_.elements, spec_.dtype); }

  bool is_resident() const { return !place_.empty(); }
  Storage& storage() const { return *place_.front().storage; }                    // of a resident buffer
  std::uint64_t storage_key() const { return place_.front().storage_class.key; }  // of a resident buffer
  std::uint64_t device_bytes() const { return is_resident() ? place_.front().storage_class.bytes : 0; }
  bool has_host_copy() const { return !host_.empty(); }
  std::span<const std::byte> host_copy() const { return host_; }
  bool has_copy() const { return has_host_copy() || backup_; }    // elsewhere than on the device
  bool is_lost() const { return !is_resident() && !has_copy(); }  // went with the device
  bool waits_for_upload() const { return waits_for_upload_; }     // has not been on the device yet
  // Lends the storage to a host: it stays as it is for as long as anybody holds the result.
  std::shared_ptr<const void> lend();
  bool is_lent() const { return !loan_.expired(); }
  bool was_lent() const { return was_lent_; }                 // to a host, which may have written elements
  bool is_borrowed() const { return owner_ == Owner::host; }  // from a host
  bool is_spilled() const { return is_spilled_; }
  std::uint64_t version() const { return version_; }  // counts how often other elements were written there

  const LaidOutCopies& laid_out() const { return laid_out_; }
  // Of such a copy: the buffer that has the elements in order. Null for all others.
  std::shared_ptr<Buffer> original() const { return original_.lock(); }

  // For why_resident(): the operation that makes the elements, and the nodes that have them.
  const std::string& op() const { return op_; }
  void made_by(std::string op) { op_ = std::move(op); }
  void add_user(const std::shared_ptr<Node>&);
  const std::vector<std::weak_ptr<Node>>& users() const { return users_; }

 private:
  friend class Pool;
  Buffer *previous_ = nullptr, *next_ = nullptr;  // among the pool's
  std::string op_;
  std::vector<std::weak_ptr<Node>> users_;
  std::shared_ptr<Pool> pool_;
  StorageSpec spec_;
  Owner owner_;
  PooledStorage::List place_;    // one storage, or none
  std::vector<std::byte> host_;  // values change by take_copies alone: once made, a copy stays right
  std::uint64_t version_ = 0;    // of the elements
  std::unique_ptr<const Backup> backup_;
  std::uint64_t last_used_ = 0;  // the last batch to use it
  std::uint64_t recording_ = 0;  // the recording that writes it; 0: none
  std::weak_ptr<const void> loan_;
  LaidOutCopies laid_out_;
  std::weak_ptr<Buffer> original_;
  bool was_lent_ = false;
  bool waits_for_upload_ = false, is_spilled_ = false, is_for_lineage_ = false, can_be_dropped_ = false;
};

struct PoolOptions {
  std::uint64_t budget = 0;  // bytes on the device; 0: as many as the device gives
  Priority priority = Priority::balanced;
  bool keeps_host_copies = true;  // of uploads, so that a lost device loses nothing
  // Whether a tensor may leave the device without a copy, since `room` bytes are enough to make it again.
  std::function<bool(const Buffer&, std::uint64_t room)> can_forget{};
  MessageSink messages;
};

// All calls but info() take a ContextState, which has the pool. Buffers go back on any thread.
class Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(Backend& backend, Stats& stats, const PoolOptions& options)
      : backend_(&backend), stats_(stats), options_(options) {}

  // Begins a batch of dispatches: until the next one, the pool neither frees nor spills what it uses.
  void begin_batch() { ++batch_; }

  // `use` says whether kernels write the storage, in the order of the commands, or the queue does, at once. Where there
  // is no room, the pool frees its storages, and then the least recently used tensors leave the device.
  enum class Use { kernels, upload };
  std::shared_ptr<Buffer> acquire(const StorageSpec& spec, Use use) { return acquire(spec, spec, use); }
  // In a storage that others may take in turn: see Backend::shared_by.
  std::shared_ptr<Buffer> acquire(const StorageSpec&, const StorageSpec& storage, Use);
  // As long as one lives, and storages wait for the batch to be submitted, no tensor leaves the device to make room:
  // out_of_memory is thrown instead, and who has submitted tries again.
  class SubmitsFirst {
   public:
    explicit SubmitsFirst(Pool& pool) : pool_(pool), before_(std::exchange(pool.submits_first_, true)) {}
    ~SubmitsFirst() { pool_.submits_first_ = before_; }
    SubmitsFirst(const SubmitsFirst&) = delete;
    SubmitsFirst& operator=(const SubmitsFirst&) = delete;

   private:
    Pool& pool_;
    bool before_;
  };
  // A buffer without a storage yet: set_host_copy gives its elements.
  std::shared_ptr<Buffer> from_host(const StorageSpec&);
  // A buffer over memory that a host lent, which is counted apart and never handed out again.
  std::shared_ptr<Buffer> borrow(std::unique_ptr<Storage>, const StorageSpec&);

  void use(Buffer&);                                                   // makes it resident, for the batch
  void keep_for_batch(Buffer& buffer) { buffer.last_used_ = batch_; }  // the batch will use it
  void copy_to_host(Buffer&);                                          // waits for the device
  void set_host_copy(Buffer&, std::vector<std::byte>) noexcept;
  void set_backup(Buffer&, std::unique_ptr<const Backup>);
  // Kernels are about to write other elements to a buffer: gives a buffer that has what copies there are of the old
  // ones, and nothing on the device. Null where there are none.
  std::shared_ptr<Buffer> take_copies(Buffer&);
  void give_copies_back(Buffer& to, Buffer& copies);  // the old elements are still there
  // Whether a buffer is on the device and would free memory there: borrowed and lent storages would not, and elements
  // that recorded work has yet to write cannot be copied.
  bool can_leave(const Buffer&) const;
  void leave_device(Buffer&);      // where there is a copy elsewhere
  void keep_for_lineage(Buffer&);  // likewise: from now on only the lineage of others needs it
  // Whether it may leave without a copy: its holder makes it again.
  void set_droppable(Buffer& buffer, bool droppable) { buffer.can_be_dropped_ = droppable; }
  // A copy of elements of this version, which a program has made and holds.
  void add_laid_out(Buffer& original, std::string layout, std::uint64_t version, const std::shared_ptr<Buffer>& copy);
  // Kernels read the copies from now on: where the elements are on the host too, the original's storage goes back to
  // the device. Called when no dispatch waits to be submitted.
  void leave_to_laid_out(Buffer& original);
  std::uint64_t drop_laid_out(Buffer& original);  // the copies that can leave; gives their bytes
  void spill(Buffer&);                            // where it can leave: the elements wait on the host
  void spill_all();                               // tensors that no batch or host uses now

  void trim();
  // Frees storages that are too many. A tensor's destructor, which may run on any thread, does not, nor does acquire:
  // dispatches that are not yet submitted may still refer to them.
  void collect();

  // For work that is recorded into a host's commands and runs when the host submits them. Until `submitted` is called,
  // storages that come back are handed out to further recorded work only: other work would run before.
  void begin_recording();
  void end_recording();
  void submitted();
  bool is_recording() const { return is_recording_; }
  // Throws invalid_argument where work that is submitted now would read what recorded work has yet to write.
  void require_submitted(const Buffer&) const;
  void require_all_submitted(std::string_view op) const;  // where recorded work may use any storage

  // Copies every tensor to the host: the first half of a move to another device. If it throws, nothing has changed.
  void copy_all_to_host();
  // Leaves the device; elements that are only there are lost.
  void move_to(Backend&, bool keeps_host_copies);

  void fail_allocation(int nth) { allocations_until_failure_ = nth; }

  MemoryInfo info() const;
  void reset_peak();
  std::vector<std::shared_ptr<Buffer>> live() const;
  std::uint64_t budget() const { return options_.budget; }
  // The most bytes_in_use has been since the watch began.
  void watch_peak();
  std::uint64_t watched_peak() const;
  std::uint64_t lineage_bytes() const;

 private:
  friend class Buffer;
  void give_back(Buffer&) noexcept;
  void put_away(Buffer&) noexcept;
  void put_storage_away(Buffer&) noexcept;
  std::shared_ptr<Buffer> make_buffer(const StorageSpec&, Buffer::Owner);
  void add_live(Buffer&);
  void give_storage(Buffer&, const StorageSpec&, Use);
  bool give_free(Buffer&, const StorageClass&, Use);
  void give(Buffer&, PooledStorage::List, const StorageClass&, Use);
  void count_for_lineage(Buffer&, bool is_for_lineage);
  PooledStorage::List take(std::uint64_t key, Use);
  PooledStorage::List allocate(const StorageSpec&, StorageClass);
  bool make_room();
  bool free_one();
  bool free_least_recently_used();
  std::shared_ptr<Buffer> least_recently_used() const;
  PooledStorage::List remove(PooledStorage::List::iterator);
  static bool stands_in(const Buffer&);
  void note_spilled(Buffer&);
  std::string holders() const;

  Backend* backend_;
  Stats& stats_;
  PoolOptions options_;
  mutable std::mutex lock_;   // any thread calls give_back, without the context's lock
  PooledStorage::List free_;  // most recently used first
  PooledStorage::ByKey by_key_;
  Buffer* first_live_ = nullptr;  // of all buffers that there are
  PooledStorage::List borrowed_;  // that nobody holds any more
  MemoryInfo info_{};
  std::uint64_t watched_peak_ = 0;
  std::uint64_t lineage_bytes_ = 0;
  std::uint64_t batch_ = 1;
  std::uint64_t recordings_ = 0, submitted_ = 0;
  bool is_recording_ = false, submits_first_ = false;
  int allocations_until_failure_ = 0;  // 0: none is made to fail
};

}  // namespace tessera

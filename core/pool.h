// Device memory: handed out to tensors, taken back, kept for the next one, counted.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/backend.h"

namespace tessera {

class Pool;

// One storage on loan from the pool, given back when the last holder lets go, on whatever thread that is.
class Buffer {
 public:
  enum class Owner : std::uint8_t { pool, host };
  Buffer(std::shared_ptr<Pool>, std::unique_ptr<Storage>, StorageClass, const StorageSpec&, Owner);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  Storage& storage() const { return *storage_; }
  const StorageSpec& spec() const { return spec_; }
  std::int64_t elements() const { return spec_.elements; }

 private:
  friend class Pool;
  std::shared_ptr<Pool> pool_;
  std::unique_ptr<Storage> storage_;
  StorageClass storage_class_;
  StorageSpec spec_;
  Owner owner_;
  std::uint64_t recording_ = 0;  // that writes it; 0 where none does
};

class Pool : public std::enable_shared_from_this<Pool> {
 public:
  explicit Pool(Backend& backend) : backend_(backend) {}

  // The caller holds the context's lock for each of these. `use` says whether kernels write the storage, in the order
  // of the commands, or the queue does, at once.
  enum class Use { kernels, upload };
  std::shared_ptr<Buffer> acquire(const StorageSpec&, Use);
  // A storage over memory that a host lent: counted apart, and never handed out again.
  std::shared_ptr<Buffer> borrow(std::unique_ptr<Storage>, const StorageSpec&);
  void trim();

  // For work that is recorded into a host's commands and runs when the host submits them. Until `submitted` is called,
  // storages that come back are handed out to further recorded work only: what is submitted at once would come before.
  void begin_recording();
  void end_recording();
  void submitted();
  // Throws invalid_argument where work that is submitted now would read what recorded work has yet to write.
  void require_submitted(const Buffer&) const;

  // Frees what has become too much: not in a tensor's destructor, which may run on any thread at any time, nor in
  // acquire, since dispatches that are not yet submitted may still refer to what went back.
  void collect();

  MemoryInfo info() const;
  void reset_peak();

 private:
  friend class Buffer;
  struct Free {
    std::uint64_t key;
    std::uint64_t bytes;
    std::unique_ptr<Storage> storage;
    std::uint64_t recording;  // the last one that may use it
  };
  void give_back(Buffer&) noexcept;
  std::shared_ptr<Buffer> lend(std::unique_ptr<Storage>, StorageClass, const StorageSpec&, Buffer::Owner);
  std::unique_ptr<Storage> take(std::uint64_t key, Use);
  std::list<Free> over_bound();
  std::vector<std::unique_ptr<Storage>> no_longer_borrowed();

  Backend& backend_;
  mutable std::mutex lock_;                         // give_back comes from any thread, beside the context's own lock
  std::list<Free> free_;                            // most recently used first
  std::vector<std::unique_ptr<Storage>> borrowed_;  // nobody holds them any more
  std::unordered_multimap<std::uint64_t, std::list<Free>::iterator> by_key_;
  MemoryInfo info_{};
  std::uint64_t recordings_ = 0, submitted_ = 0;
  bool is_recording_ = false;
};

}  // namespace tessera

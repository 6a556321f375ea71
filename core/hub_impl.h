// What a TensorHub handle refers to.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/sharing_storage.h"
#include <tessera/sharing.h>

namespace tessera {

struct Part {
  std::int64_t offset, size;  // in elements
};

// One tensor, under one name or several: a storage, or a part of one.
struct HubEntry {
  std::shared_ptr<SharedStorage> storage;
  std::optional<Part> part = {};
  int names = 0;

  Shape shape() const { return part ? Shape{part->size} : storage->shape(); }
};
using HubEntryPtr = std::shared_ptr<HubEntry>;

struct ByModel {
  bool operator()(const TensorRef& a, const TensorRef& b) const {
    return std::tie(a.model, a.name) < std::tie(b.model, b.name);
  }
};

// Under `lock`, nothing may run on the device nor deliver messages: a host's callback may call the hub.
struct HubImpl {
  explicit HubImpl(const Context& context_in) : context(context_in) {}

  Context context;
  mutable std::mutex lock;  // guards what follows
  std::map<TensorRef, HubEntryPtr, ByModel> entries;
  std::uint64_t clock = 0, last_optimized = 0;

  // The caller holds the lock for each of these. `op` begins the sentence of the error.
  const HubEntryPtr& find(const char* op, const TensorRef&) const;
  void bind(const TensorRef&, HubEntryPtr);  // in the place of what had the name
  void unbind(decltype(entries)::iterator);
  Tensor tensor(const HubEntry&);
  Tensor use(const HubEntry&);                                   // counts as used now
  std::vector<std::shared_ptr<SharedStorage>> storages() const;  // each one once
};

}  // namespace tessera

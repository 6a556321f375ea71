// The kernels that a backend has compiled, by key.
//
// Drivers keep megabytes for a kernel. So only the kernels that programs rely on and those of the last runs stay, and a
// limited number of others. The limit grows, within bounds, where a dropped kernel has to be compiled again: such work
// has more kernels than the limit allowed for.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>

#include "core/base/recent_map.h"
#include "core/kernel/backend.h"

namespace tessera {

template <class Object>
struct Compiled {
  Object object;
  std::size_t text_bytes;      // of the source
  bool is_from_cache = false;  // on disk
};

template <class Object>
class CompiledCache {
 public:
  // The object, for which compile() gives a Compiled<Object> where need be. It stays until end_run() or trim(), and
  // after that as long as `uses`, where there is one. A backend may have several variants of a kernel.
  template <class Compile>
  Object& get(const KernelKey& key, KernelUses* uses, const Compile& compile, std::uint32_t variant = 0) {
    Entry* entry = entries_.find(Sought{key, variant});
    if (!entry) entry = &add({key, variant}, compile());
    entry->last_run = runs_;
    if (uses && !uses->contains(entry->use)) uses->insert(entry->in_use());
    return entry->compiled.object;
  }

  // The caller's dispatches are done: drops objects that are too many.
  void end_run() {
    ++runs_;
    if (entries_.size() <= most_) return;
    const auto is_unused = [&](const Key&, const Entry& entry) { return entry.use.expired(); };
    const std::size_t unused = entries_.count_if(is_unused);
    if (unused <= most_) return;
    entries_.drop(unused - most_, [&](const Key& key, const Entry& entry) {
      if (!entry.use.expired() || entry.last_run + recent_runs >= runs_) return false;
      if (dropped_.size() >= most_remembered) dropped_.clear();
      dropped_.insert(key.hash());
      text_bytes_ -= entry.compiled.text_bytes;
      return true;
    });
  }

  // Between runs: drops all objects that no program relies on.
  void trim() {
    entries_.drop(entries_.size(), [&](const Key&, const Entry& entry) {
      if (!entry.use.expired()) return false;
      text_bytes_ -= entry.compiled.text_bytes;
      return true;
    });
    dropped_.clear();
    most_ = least_limit;
  }

  const KernelOrigins& origins() const { return origins_; }
  bool contains(const KernelKey& key, std::uint32_t variant = 0) {
    return entries_.find(Sought{key, variant}) != nullptr;
  }
  KernelCount count() const { return {entries_.size(), text_bytes_}; }

 private:
  static constexpr std::size_t least_limit = 128, greatest_limit = 1024, most_remembered = 4096;
  static constexpr std::uint64_t recent_runs = 32;

  struct Entry {
    Compiled<Object> compiled;
    std::uint64_t last_run = 0;
    std::weak_ptr<const void> use{};  // held by the programs that rely on it

    std::shared_ptr<const void> in_use() {
      std::shared_ptr<const void> held = use.lock();
      if (!held) use = held = std::make_shared<const char>();
      return held;
    }
  };

  struct Sought {
    const KernelKey& key;
    std::uint32_t variant;
    std::size_t hash() const { return key.hash() + variant; }
  };
  struct Key {
    KernelKey key;
    std::uint32_t variant;
    std::size_t hash() const { return key.hash() + variant; }
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const auto& key) const noexcept { return key.hash(); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const auto& a, const auto& b) const { return a.variant == b.variant && a.key == b.key; }
  };

  Entry& add(const Key& key, Compiled<Object> compiled) {
    ++(compiled.is_from_cache ? origins_.from_cache : origins_.compiled);
    if (dropped_.erase(key.hash()) > 0) most_ = std::min(most_ + 1, greatest_limit);
    text_bytes_ += compiled.text_bytes;
    return entries_.add(key, {std::move(compiled)});
  }

  RecentMap<Key, Entry, Hash, Equal> entries_;
  std::unordered_set<std::size_t> dropped_;  // hashes of keys dropped for the limit
  std::size_t most_ = least_limit;
  std::uint64_t runs_ = 0, text_bytes_ = 0;
  KernelOrigins origins_;
};

}  // namespace tessera

// A map that knows in which order its entries were used, so that a cache can drop those first that nobody used for
// longest.
#pragma once
#include <cstddef>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace tessera {

template <class Key, class Value, class Hash = std::hash<Key>>
class RecentMap {
 public:
  // The value, which counts as the most recently used one from now on; null where there is none.
  Value* find(const Key& key) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return nullptr;
    order_.splice(order_.begin(), order_, found->second.place);
    return &found->second.value;
  }

  // Of a key that is not there yet. References to values stay valid until these are dropped.
  Value& add(const Key& key, Value value) {
    const auto added = entries_.try_emplace(key, std::move(value)).first;
    order_.push_front(&added->first);
    added->second.place = order_.begin();
    return added->second.value;
  }

  // Drops up to `count` entries for which may_go(key, value) holds, the least recently used ones first.
  template <class Predicate>
  void drop(std::size_t count, const Predicate& may_go) {
    for (auto place = order_.end(); count > 0 && place != order_.begin();) {
      const auto entry = entries_.find(**--place);
      if (!may_go(entry->first, entry->second.value)) continue;
      place = order_.erase(place);
      entries_.erase(entry);
      --count;
    }
  }

  template <class Predicate>
  std::size_t count_if(const Predicate& counts) const {
    std::size_t count = 0;
    for (const auto& [key, entry] : entries_)
      if (counts(key, entry.value)) ++count;
    return count;
  }

  std::size_t size() const { return entries_.size(); }
  void clear() {
    entries_.clear();
    order_.clear();
  }

 private:
  struct Entry {
    explicit Entry(Value made) : value(std::move(made)) {}
    Value value;
    typename std::list<const Key*>::iterator place{};
  };
  std::unordered_map<Key, Entry, Hash> entries_;
  std::list<const Key*> order_;  // the most recently used one comes first
};

}  // namespace tessera

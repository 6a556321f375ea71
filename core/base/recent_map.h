// A map that keeps the order in which its entries were used, so that a cache can drop the least recently used ones.
#pragma once
#include <cstddef>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace tessera {

// With a Hash and an Equal that are transparent, find() takes whatever they compare with a key.
template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<>>
class RecentMap {
 public:
  // The key's value, which is now the most recently used one; null where there is none.
  template <class Sought>
  Value* find(const Sought& key) {
    const auto entry = entries_.find(key);
    if (entry == entries_.end()) return nullptr;
    order_.splice(order_.begin(), order_, entry->second.place);
    return &entry->second.value;
  }

  // The key must be new. References to values stay valid until these are dropped.
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
    explicit Entry(Value value_in) : value(std::move(value_in)) {}
    Value value;
    typename std::list<const Key*>::iterator place{};
  };
  std::unordered_map<Key, Entry, Hash, Equal> entries_;
  std::list<const Key*> order_;  // the most recently used one comes first
};

}  // namespace tessera

// The dispatches of a batch. A batch leaves them to the next one, which uses their memory again: a run that repeats
// itself allocates nothing for them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera {

class DispatchList {
 public:
  // An empty dispatch, to be filled; it counts once keep_next() is called. Whoever fails in between leaves no trace.
  Dispatch& next() {
    if (count_ == dispatches_.size()) dispatches_.emplace_back();
    dispatches_[count_].clear();
    return dispatches_[count_];
  }
  void keep_next() { ++count_; }
  Dispatch& last() { return dispatches_[count_ - 1]; }  // of those that count

  std::span<const Dispatch> all() const { return {dispatches_.data(), count_}; }
  std::size_t size() const { return count_; }
  void reserve(std::size_t count) { dispatches_.reserve(count); }
  void keep_first(std::size_t count) { count_ = std::min(count_, count); }

  // For the next batch: none, and not the memory of more than usual.
  void reset() {
    constexpr std::size_t most_kept = 1024;
    count_ = 0;
    if (dispatches_.size() > most_kept) dispatches_.clear(), dispatches_.shrink_to_fit();
  }

 private:
  std::vector<Dispatch> dispatches_;  // the first `count_` of them are in use
  std::size_t count_ = 0;
};

}  // namespace tessera

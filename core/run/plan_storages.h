// The storages that the steps of a plan take in turn.
//
// What only the steps of a plan see has a storage from the step that makes it to the last one that reads it. Results of
// different sizes whose times do not overlap take one storage in turn, which is as large as the largest of them needs:
// so a run takes little more than the most that is alive at a time, and the next run finds all of it in the pool.
#pragma once
#include <cstdint>
#include <vector>

#include "core/run/fuse.h"

namespace tessera {

// What an output of a step takes where it has a storage to itself. Neither a custom kernel's nor a host's target.
StorageSpec spec_of_output(const Step&, const Graph&, std::size_t output);

class PlanStorages {
 public:
  bool is_planned() const { return is_planned_; }
  void plan(const Backend&, const Plan&, const Graph&);

  // The storage in which an item takes its turn; null where it has one to itself.
  const StorageSpec* shared_by(int item) const;

 private:
  bool is_planned_ = false;
  std::vector<StorageSpec> storages_;
  std::vector<int> storage_of_;  // by item; -1: none
};

}  // namespace tessera

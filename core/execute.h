// Runs what is wanted: one plan, one submission.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fuse.h"

namespace tessera {

struct ContextImpl;

// Finished plans by the signature of their graphs. Bounded: a program that never repeats itself must not grow.
class PlanCache {
 public:
  std::shared_ptr<const Plan> get(const Graph&, const Limits&);
  std::uint64_t hits() const { return hits_; }

 private:
  std::unordered_map<std::string, std::shared_ptr<const Plan>> plans_;
  std::uint64_t hits_ = 0;
};

// Afterwards every wanted node is computed. The caller holds the context's lock and keeps the nodes alive. If this
// throws, nothing that was computed is lost and nothing half computed is kept.
void compute(ContextImpl&, std::span<const NodePtr> wanted);

// One run of a plan. `buffers` has an entry for each item: the storages of those that have one. The steps' outputs are
// added; of these, the ones that only later steps read are given back on the way.
void run_plan(ContextImpl&, const Plan&, const GraphItems&, std::vector<std::shared_ptr<Buffer>>& buffers);

// Compiles the kernel of a step.
void prepare_step(ContextImpl&, const Step&, const GraphItems&);

}  // namespace tessera

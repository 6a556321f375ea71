// What a Program handle refers to, and what one call of it is.
#pragma once
#include <memory>
#include <vector>

#include "core/run/fuse.h"
#include "core/run/step_costs.h"

namespace tessera {

struct ProgramImpl {
  std::shared_ptr<ContextImpl> context;
  std::vector<NodePtr> inputs;  // placeholders, which never change
  std::vector<Held> outputs;    // made of them, without runs of other programs; they keep the graph alive

  // For the device that the context had when they were made:
  Graph graph;
  std::vector<int> input_items;  // of the placeholders; -1: nothing reads it
  std::shared_ptr<const Plan> plan;
  KernelUses kernels;  // that have run, or were prepared
  std::shared_ptr<StepCosts> costs;
  std::uint64_t epoch = 0;

  std::vector<double> costs_for_tests;  // of the steps, in milliseconds; none: they are measured
};

struct ProgramAccess {
  static ProgramImpl& impl(const Program& program) { return *program.impl_; }
};

// Between batches: what does not depend on an input is computed, the rest is planned.
void plan_for_device(ContextState&, ProgramImpl&);

// The nodes that it gave have the operation ProgramResult, and its inputs as theirs.
struct ProgramRun {
  std::shared_ptr<ProgramImpl> program;
  std::vector<std::weak_ptr<Node>> results;
};

}  // namespace tessera

// From what is wanted to the kernels that compute it: the order, and which nodes share a kernel.
#pragma once
#include <span>
#include <vector>

#include "core/backend.h"
#include "core/node.h"

namespace tessera {

// One kernel run. Inputs and output are nodes with storage of their own; views are resolved.
struct Step {
  Kernel kernel;
  std::vector<Node*> inputs;
  Node* output = nullptr;
  std::vector<std::uint32_t> words, core_words;
  std::vector<std::int64_t> operand_elements;  // of the core
  std::int64_t workgroups = 0;
};

struct Plan {
  std::vector<Node*> uploads;  // host values that the steps, or the caller, need
  std::vector<Step> steps;     // in an order that respects what needs what
  std::uint64_t ops_fused = 0; // operations that needed no kernel of their own
};

// The caller holds the context's lock and keeps the wanted nodes alive. Nodes without elements need no work and appear
// nowhere in the plan.
Plan make_plan(std::span<const NodePtr> wanted, const Limits&);

// The node whose storage a node uses: its own, or that of what it is a view of.
Node* storage_node(Node*);

}  // namespace tessera

// From a graph to the kernels that compute it: which nodes share a kernel, and how long storages are needed.
#pragma once
#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace tessera {

// One kernel run; imports and custom kernels have no Kernel. Nodes are indices of the graph's items, so that a plan
// serves every graph of the same signature.
struct Step {
  Kernel kernel;
  std::vector<int> inputs;
  int output = -1;
  std::vector<std::uint32_t> words;            // those of the numbers are filled in for each run
  std::vector<int> numbers;                    // which of the graph's constants they are
  std::vector<std::int64_t> operand_elements;  // of the core
  std::int64_t workgroups = 0;
  std::vector<int> last_uses;  // items that no later step reads
  // Of a custom kernel, which has several outputs: an item for each, or -1 where nobody wants it.
  std::vector<int> custom_outputs;
};

struct Plan {
  std::vector<Step> steps;      // in an order that respects what needs what
  std::uint64_t ops_fused = 0;  // operations that needed no kernel of their own
};

Plan make_plan(const Graph&, const Limits&);

}  // namespace tessera

// One use of a kernel of the user's own, as backends see it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <tessera/custom.h>

namespace tessera {

struct Node;

struct CustomCall {
  CustomKernel kernel;
  std::array<std::uint32_t, 3> workgroup_count;
  std::vector<float> parameters;  // in the order of the kernel's
  std::vector<DType> inputs;      // their types
  std::vector<TensorSpec> outputs;
  std::vector<std::weak_ptr<Node>> results;  // of the outputs
};

}  // namespace tessera

// Kernels of the user's own, as backends see them.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/kernel/wgsl_declarations.h"
#include <tessera/custom.h>

namespace tessera {

class Backend;
struct Node;

// A kernel whose names and declared types were checked.
struct CheckedKernel : CustomKernel {
  std::set<std::string, std::less<>> wgsl_overrides;
  std::vector<std::optional<WgslScalar>> wgsl_scalars;  // of inputs, then outputs, as far as the WGSL tells
};

// One use of a kernel.
struct CustomCall {
  std::shared_ptr<const CheckedKernel> kernel;
  std::array<std::uint32_t, 3> workgroup_count;
  std::vector<float> parameters;  // in the order of the kernel's
  std::vector<TensorSpec> inputs, outputs;
  std::vector<std::weak_ptr<Node>> results;  // of the outputs
};

// The WGSL's `override`s that CustomKernel::workgroup_size sets.
inline constexpr std::array<std::string_view, 3> workgroup_size_names{"workgroup_size_x", "workgroup_size_y",
                                                                      "workgroup_size_z"};

bool has_source_for(const CustomKernel&, const Backend&);

}  // namespace tessera

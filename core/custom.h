// Kernels of the user's own, as the rest of tessera sees them.
#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/wgsl_declarations.h"
#include <tessera/custom.h>

namespace tessera {

class Backend;
struct ContextImpl;
struct ContextState;
struct Dispatch;
struct Node;

// A kernel whose names and declared types are known to be right.
struct CheckedKernel : CustomKernel {
  std::set<std::string, std::less<>> wgsl_overrides;
  std::vector<std::optional<WgslScalar>> wgsl_scalars;  // of the inputs, then of the outputs, as far as the WGSL tells
};
std::shared_ptr<const CheckedKernel> checked(std::string_view op, const CustomKernel&);

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

// Compiles the kernel for the context's device, if it has source for it.
void compile(ContextState&, const std::shared_ptr<const CheckedKernel>&);

std::map<std::string, Tensor> run_checked(const std::shared_ptr<ContextImpl>&,
                                          const std::shared_ptr<const CheckedKernel>&, const CustomRun&);

// ---- functions on the host, which take the place of source that a kernel has not got for a device
// Throws unsupported where the kernel has neither, or a function that would have to run amid a host's commands.
void require_runnable(std::string_view op, const ContextState&, const CustomKernel&);
bool runs_on_host(const ContextState&, const Dispatch&);
void run_on_host(ContextState&, const Dispatch&);  // after all that was submitted before

}  // namespace tessera

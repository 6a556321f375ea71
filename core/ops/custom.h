// Kernels of the user's own, as operations.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "core/graph/node.h"

namespace tessera {

std::shared_ptr<const CheckedKernel> checked(std::string_view op, const CustomKernel&);

// Compiles the kernel for the context's device, if it has source for it.
void compile(ContextState&, const std::shared_ptr<const CheckedKernel>&);

std::map<std::string, Tensor> run_checked(const std::shared_ptr<ContextImpl>&,
                                          const std::shared_ptr<const CheckedKernel>&, const CustomRun&);

}  // namespace tessera

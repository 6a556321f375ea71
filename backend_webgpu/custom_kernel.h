// Kernels of the user's own: whole compute shaders, with the bindings that <tessera/custom.h> tells.
#pragma once
#include <cstdint>
#include <vector>

#include "backend_webgpu/host_pass.h"
#include "core/kernel/custom_call.h"

namespace tessera::webgpu {

// Compiles the kernel for the bindings of the call. Throws compile_failed with Dawn's words.
void prepare_custom(const PassTools&, const CustomCall&, KernelUses*);

std::vector<std::uint32_t> words_of(const CustomCall&);
PreparedPass custom_pass(const PassTools&, const Dispatch&);

}  // namespace tessera::webgpu

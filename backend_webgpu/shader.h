// From a Kernel to WGSL.
#pragma once
#include <string>

#include "core/kernel/kernel.h"

namespace tessera::webgpu {

std::string shader_text(const Kernel&, std::uint32_t workgroup_size);

}  // namespace tessera::webgpu

// From a Kernel to WGSL.
#pragma once
#include <string>

#include "backend_webgpu/device.h"
#include "core/kernel/kernel.h"

namespace tessera::webgpu {

std::string shader_text(const Kernel&, std::uint32_t workgroup_size, Octets);

int texels_of_an_invocation(const Kernel&);  // of a kernel that is not cooperative

}  // namespace tessera::webgpu

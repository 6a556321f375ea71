// Whether a host's device is enough for tessera.
#pragma once
#include <string>

#include "backend_webgpu/handle.h"

namespace tessera::webgpu {

// The limits that fall short, each with what there is and what is needed; empty where all is well.
std::string missing_limits(const WGPULimits&);

}  // namespace tessera::webgpu

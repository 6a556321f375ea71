// The WebGPU backend, on Dawn, as core sees it: free of GPU types.
#pragma once
#include "core/backend.h"

namespace tessera::webgpu {

BackendFactory factory();

}  // namespace tessera::webgpu

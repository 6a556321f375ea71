// The WebGPU backend, on Dawn. Free of GPU types, so that core can include it.
#pragma once
#include "core/backend.h"

namespace tessera::webgpu {

BackendFactory factory();

}  // namespace tessera::webgpu

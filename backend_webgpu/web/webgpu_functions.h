// What pages need of WebGPU beyond webgpu.h.
#pragma once
#include <webgpu/webgpu.h>

namespace tessera::webgpu {

// Closes the device's innermost error scope. An error goes to the device's callback for uncaptured ones, or where it
// has none to the page's console.
void pop_error_scope_later(WGPUDevice);

}  // namespace tessera::webgpu

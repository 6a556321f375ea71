// Runs pixel kernels: one draw, into as many color attachments as there are outputs.
#pragma once
#include "backend_gles/host_pass.h"
#include "backend_gles/kernel_cache.h"

namespace tessera::gles {

// Throws invalid_argument where a texture of the host's is gone or the target cannot be drawn to. The context is
// entered for drawing.
void check_pixels(const PassTools&, const Dispatch&);
std::uint32_t touches_of_pixels(const Dispatch&);  // states beyond touch::drawing

void draw_pixels(const PassTools&, const CompiledKernel&, const Dispatch&);

}  // namespace tessera::gles

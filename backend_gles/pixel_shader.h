// The GLSL text of pixel kernels.
#pragma once
#include "backend_gles/shader.h"
#include "core/kernel/pixel_kernel.h"

namespace tessera::gles {

// How texts sample a host's texture and write its targets: HostSource::type() and HostTarget::type().
struct SourceType {
  std::string sampler;  // "usampler2D"
  std::string swizzle;  // "bgra": the component that each channel is
  std::string text() const { return sampler + " " + swizzle; }
};
struct TargetType {
  std::string vector;  // "ivec4": the type of a texel
  bool flip_y = false;
  std::string text() const { return vector + (flip_y ? " flipped" : ""); }
};

std::string fragment_text(const PixelKernel&, const Variant&);
inline constexpr const char* corner_name = "corner";  // of the uniform that says where the host's target begins

// Whether the one output of the kernel is in elements: texels of the output are drawn then, else pixels.
inline bool makes_elements(const PixelKernel& kernel) { return kernel.outputs[0].place == PixelPlace::elements; }

}  // namespace tessera::gles

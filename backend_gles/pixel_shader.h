// The GLSL text of pixel kernels.
#pragma once
#include "backend_gles/shader.h"
#include "core/kernel/host_image.h"
#include "core/kernel/pixel_kernel.h"

namespace tessera::gles {

// How texts sample a host's texture and write its targets: HostSource::type() and HostTarget::type().
struct SourceType {
  std::string sampler;  // "usampler2D"
  std::string swizzle;  // "bgra": the component that each channel is
  HostValue value = HostValue::floats;
  bool is_alone = false;        // see HostSource::is_sampled_alone()
  bool is_from_corner = false;  // the base level of a 2-D texture, from its first texel on: a place is that of a texel
  std::string text() const {
    return sampler + " " + swizzle + " " + std::to_string(static_cast<int>(value)) + (is_alone ? " alone" : " shared") +
           (is_from_corner ? " corner" : "");
  }
};
struct TargetType {
  std::string vector;  // "ivec4": the type of a texel
  bool flip_y = false;
  bool is_from_corner = false;  // the image begins at its first texel
  std::string text() const { return vector + (flip_y ? " flipped" : "") + (is_from_corner ? " corner" : ""); }
};

std::string fragment_text(const PixelKernel&, const Variant&);
inline constexpr const char* corner_name = "corner";  // of the uniform that says where the host's target begins
// Of the uniform that says where the part of the host's texture is that input k has: x, y, layer, and the level,
// counted from the base level on.
std::string part_name(int k);

// Whether the one output of the kernel is in elements: texels of the output are drawn then, else pixels.
inline bool makes_elements(const PixelKernel& kernel) { return kernel.outputs[0].place == PixelPlace::elements; }

}  // namespace tessera::gles

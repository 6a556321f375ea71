// From a PixelKernel to WGSL.
//
// Binding 0 has the words, then come the inputs and then the outputs, but for a host's target that is drawn, and last a
// sampler where an input is filtered. Texels of f16 are textures. After the kernel's own words there is a vector for
// each of the host's textures, inputs first: see PartWords.
#pragma once
#include <algorithm>
#include <string>

#include "core/kernel/pixel_kernel.h"

namespace tessera::webgpu {

// Who makes the pixels.
enum class PixelEntry {
  compute,  // an invocation for each pixel
  draw,     // a fragment of the host's target for each pixel
  gather,   // an invocation for each texel of an output whose pixels do not fill words of 32 bits
};
PixelEntry entry_of(const PixelKernel&);
// A host's target, or else the only output if it is a flat texture, as drawing is faster than storing; or none.
const PixelOutput* drawn_output(const PixelKernel&);

struct PixelGroup {
  static constexpr std::uint32_t width = 64, height = 1;
};

template <class Image>
bool is_texture(const Image& image) {
  return image.place == PixelPlace::texels && image.dtype == DType::f16;
}
inline bool filters(const PixelKernel& kernel) {
  return std::ranges::count(kernel.inputs, true, &PixelInput::is_filtered) != 0;
}
std::uint64_t vectors_of(const PixelKernel&);  // of words

std::string pixel_text(const PixelKernel&, bool stores_half_infinity_as_nan);

}  // namespace tessera::webgpu

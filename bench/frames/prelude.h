// The text before each hand-written shader: its textures, and short ways to read them.
//
//   pixel                  three or four floats, as many channels as count
//   NAME                   each texture that the pass reads; `linear` is a sampler in WGSL, and every texture's in GLSL
//   NAME_size              its width and height
//   NAME_at(at)            the pixel there, which is inside
//   NAME_near(at)          the pixel there, or the nearest one at the edge
//   NAME_mirrored(at)      the pixel there, or the one that a mirror at the edge shows
//   NAME_between(place)    at a place of 0 to 1 between pixels, by the sampler
//   shown(pixel)           as vec4, opaque where three channels count
//   keep_alpha(rgb, pixel) these colours, with the alpha of the pixel
//
// Sizes are constants, which is the most that a shader by hand can know.
#pragma once
#include "bench/frames/pipeline.h"

namespace tessera::bench {

const Texture& texture_of(const Pipeline&, const std::string& name);
std::string wgsl_of(const Pipeline&, const Pass&, int channels);
std::string glsl_of(const Pipeline&, const Pass&, int channels);

}  // namespace tessera::bench

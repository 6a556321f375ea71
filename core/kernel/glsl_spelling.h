// The WGSL of kernels, spelled as GLSL ES 3.00. Family code is written once, in shaders_wgsl, in the part of WGSL that
// GLSL has too; this changes the spelling and nothing else, so comments and lines stay as they are:
//
//   let row: vec4u = select(at, at.x + vec4u(0u, 1u, 2u, 3u), options.reads_texels == 1);
//   uvec4 row = (options.reads_texels == 1 ? at.x + uvec4(0u, 1u, 2u, 3u) : at);
//
// The spelling knows no types, so the text has to keep to what means the same in both languages: declarations name
// their types, variables get a value before they are read, and select() takes a scalar condition. For comparisons and
// choices by vectors there are the functions of shaders_wgsl/pointwise.wgsl, for which those of
// shaders_glsl/pointwise.glsl stand in.
#pragma once
#include <string>
#include <string_view>

namespace tessera {

// Throws std::logic_error for a construct that has no spelling, with its words.
std::string glsl_spelling(std::string_view wgsl);

}  // namespace tessera

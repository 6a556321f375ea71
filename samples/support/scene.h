// What both engines draw: a cube that spins and a small one that circles it, with a texture whose lines glow.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace sample {

struct Vertex {
  std::array<float, 3> position, normal;
  std::array<float, 2> uv;
};
std::vector<Vertex> cube_vertices();  // counter-clockwise from outside, for cube_indices()
std::vector<std::uint16_t> cube_indices();

constexpr int texture_size = 64;
std::vector<std::uint8_t> texture_pixels();  // RGBA; alpha says how much a texel shines by itself

using Matrix = std::array<float, 16>;  // column by column
constexpr int cubes = 2;

struct Uniforms {  // as std140 and WGSL lay them out
  Matrix view_projection;
  std::array<Matrix, cubes> models;
};

enum class Depth { zero_to_one, minus_one_to_one };  // of clip space: WebGPU's, OpenGL's
Uniforms uniforms_of(int frame, float aspect, Depth);

}  // namespace sample

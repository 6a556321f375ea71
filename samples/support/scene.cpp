#include "support/scene.h"

#include <cmath>
#include <cstddef>

namespace sample {
namespace {

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result{};
  for (std::size_t column = 0; column < 4; ++column)
    for (std::size_t row = 0; row < 4; ++row)
      for (std::size_t k = 0; k < 4; ++k) result[4 * column + row] += a[4 * k + row] * b[4 * column + k];
  return result;
}

Matrix rotation_x(float angle) {
  const float c = std::cos(angle), s = std::sin(angle);
  return {1, 0, 0, 0, 0, c, s, 0, 0, -s, c, 0, 0, 0, 0, 1};
}

Matrix rotation_y(float angle) {
  const float c = std::cos(angle), s = std::sin(angle);
  return {c, 0, -s, 0, 0, 1, 0, 0, s, 0, c, 0, 0, 0, 0, 1};
}

Matrix scaled_and_moved(float scale, float x, float y, float z) {
  return {scale, 0, 0, 0, 0, scale, 0, 0, 0, 0, scale, 0, x, y, z, 1};
}

Matrix perspective(float aspect, Depth depth) {
  constexpr float near = 0.5f, far = 20, focal_length = 2.0f;
  const bool from_zero = depth == Depth::zero_to_one;
  const float z = from_zero ? far / (near - far) : (far + near) / (near - far);
  const float w = from_zero ? far * near / (near - far) : 2 * far * near / (near - far);
  return {focal_length / aspect, 0, 0, 0, 0, focal_length, 0, 0, 0, 0, z, -1, 0, 0, w, 0};
}

}  // namespace

std::vector<Vertex> cube_vertices() {
  std::vector<Vertex> vertices;
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const float side : {-1.0f, 1.0f})
      for (const auto& [u, v] : {std::array{-1.0f, -1.0f}, {1.0f, -1.0f}, {1.0f, 1.0f}, {-1.0f, 1.0f}}) {
        Vertex vertex{};
        vertex.normal[axis] = side;
        vertex.position[axis] = side;
        vertex.position[(axis + 1) % 3] = u * side;  // mirrored on the far side, where the order turns around
        vertex.position[(axis + 2) % 3] = v;
        vertex.uv = {(u + 1) / 2, (v + 1) / 2};
        vertices.push_back(vertex);
      }
  return vertices;
}

std::vector<std::uint16_t> cube_indices() {
  std::vector<std::uint16_t> indices;
  for (int face = 0; face < 6; ++face)
    for (const int corner : {0, 1, 2, 0, 2, 3}) indices.push_back(static_cast<std::uint16_t>(4 * face + corner));
  return indices;
}

std::vector<std::uint8_t> texture_pixels() {
  using Texel = std::array<std::uint8_t, 4>;
  constexpr Texel frame{70, 200, 255, 255}, ring{255, 150, 50, 255}, light{120, 124, 140, 0}, dark{70, 74, 92, 0};
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < texture_size; ++y)
    for (int x = 0; x < texture_size; ++x) {
      constexpr float middle = (texture_size - 1) / 2.0f;
      const float radius = std::hypot(static_cast<float>(x) - middle, static_cast<float>(y) - middle);
      const bool on_frame = x < 3 || y < 3 || x >= texture_size - 3 || y >= texture_size - 3;
      const bool on_ring = std::abs(radius - 16) < 3;
      const Texel& texel = on_frame ? frame : on_ring ? ring : (x / 8 + y / 8) % 2 ? light : dark;
      pixels.insert(pixels.end(), texel.begin(), texel.end());
    }
  return pixels;
}

Uniforms uniforms_of(int frame, float aspect, Depth depth) {
  const float turn = 0.02f * static_cast<float>(frame);
  const Matrix view = product(scaled_and_moved(1, 0, 0, -5.5f), rotation_x(0.45f));
  const Matrix moon = product(rotation_y(2.5f * turn - 2.2f), scaled_and_moved(0.3f, 2, 0.4f, 0));
  return {.view_projection = product(perspective(aspect, depth), view),
          .models = {rotation_y(turn + 0.6f), product(moon, rotation_x(3 * turn))}};
}

}  // namespace sample

#include "bench/frames/picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace tessera::bench {
namespace {

using Colour = std::array<float, 3>;

// A sky over a chequered floor, with balls of bright colours and a grating of fine lines.
Colour scene(float x, float y) {
  struct Ball {
    float x, y, radius;
    Colour colour;
  };
  static const Ball balls[]{{0.5f, 0.48f, 0.22f, {1, 0.75f, 0.2f}},
                            {0.2f, 0.6f, 0.14f, {0.9f, 0.15f, 0.2f}},
                            {0.8f, 0.58f, 0.16f, {0.1f, 0.5f, 0.95f}},
                            {0.82f, 0.16f, 0.08f, {1, 1, 0.95f}}};
  for (const Ball& ball : balls) {
    const float right = (x - ball.x) * 16 / 9, down = y - ball.y, distance = std::hypot(right, down) / ball.radius;
    if (distance > 1) continue;
    const float light = 0.35f + 0.65f * std::sqrt(1 - distance * distance) - 0.2f * down / ball.radius;
    return {ball.colour[0] * light, ball.colour[1] * light, ball.colour[2] * light};
  }
  if (y < 0.3f && x < 0.3f) {
    const float line = 0.5f + 0.5f * std::sin(x * x * 4000);
    return {line, line, line};
  }
  if (y < 0.62f) return {0.25f + 0.5f * y, 0.45f + 0.4f * y, 0.85f};
  const float depth = 0.3f / (y - 0.55f);
  const bool dark =
      (static_cast<int>(std::floor(depth * 4)) + static_cast<int>(std::floor((x - 0.5f) * depth * 8))) & 1;
  return dark ? Colour{0.15f, 0.2f, 0.15f} : Colour{0.75f, 0.8f, 0.7f};
}

template <class ColourAt>
std::vector<Bytes> pictures_of(Size size, const ColourAt& colour_at) {
  std::vector<Bytes> pictures(2);
  std::mt19937 random(1);
  for (Bytes& picture : pictures)
    for (int row = 0; row < size.height; ++row)
      for (int column = 0; column < size.width; ++column) {
        const float x = (static_cast<float>(column) + 0.5f) / static_cast<float>(size.width),
                    y = (static_cast<float>(row) + 0.5f) / static_cast<float>(size.height);
        for (const float value : colour_at(x, y)) {
          const float noisy = value * 255 + static_cast<float>(random() % 17) - 8;
          picture.push_back(static_cast<std::uint8_t>(std::clamp(noisy, 0.0f, 255.0f)));
        }
        const float corner = std::abs(x - 0.5f) + std::abs(y - 0.5f);
        picture.push_back(static_cast<std::uint8_t>(255 * std::min(1.0f, 1.5f - corner)));
      }
  return pictures;
}

}  // namespace

std::vector<Bytes> noisy_pictures(Size size) { return pictures_of(size, scene); }

std::vector<Bytes> noisy_pictures(Size size, const Bytes& rgb, Size size_of_rgb) {
  return pictures_of(size, [&](float x, float y) {
    const int column = static_cast<int>(x * static_cast<float>(size_of_rgb.width)),
              row = static_cast<int>(y * static_cast<float>(size_of_rgb.height));
    const std::uint8_t* pixel = rgb.data() + (row * size_of_rgb.width + column) * 3;
    return Colour{static_cast<float>(pixel[0]) / 255, static_cast<float>(pixel[1]) / 255,
                  static_cast<float>(pixel[2]) / 255};
  });
}

}  // namespace tessera::bench

// Pictures that samples draw, and how like each other they are.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <vector>

#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STBI_ONLY_PNG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace tessera::test {

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

inline Picture load(const std::filesystem::path& path) {
  Picture picture;
  int channels = 0;
  std::uint8_t* pixels = stbi_load(path.c_str(), &picture.width, &picture.height, &channels, 3);
  if (!pixels) return picture;
  picture.rgb.assign(pixels, pixels + picture.width * picture.height * 3);
  stbi_image_free(pixels);
  return picture;
}

inline double brightness(const Picture& picture) {
  double sum = 0;
  for (const std::uint8_t value : picture.rgb) sum += value;
  return sum / static_cast<double>(picture.rgb.size());
}

// Drivers differ in which pixels the edges of a triangle cover and in how they round; nothing else may.
inline constexpr int pixel_tolerance = 4;      // of 255
inline constexpr double share_beyond = 0.01;   // of the pixels: those at edges
inline constexpr double mean_tolerance = 0.5;  // of 255

inline ::testing::AssertionResult is_like(const Picture& picture, const Picture& reference) {
  if (picture.width != reference.width || picture.height != reference.height || picture.rgb.empty())
    return ::testing::AssertionFailure() << picture.width << "x" << picture.height << " pixels instead of "
                                         << reference.width << "x" << reference.height;
  double sum = 0;
  int beyond = 0, largest = 0;
  for (std::size_t i = 0; i < picture.rgb.size(); i += 3) {
    int worst = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const int difference = std::abs(picture.rgb[i + c] - reference.rgb[i + c]);
      worst = std::max(worst, difference);
      sum += difference;
    }
    beyond += worst > pixel_tolerance;
    largest = std::max(largest, worst);
  }
  const double mean = sum / static_cast<double>(picture.rgb.size());
  const double share = beyond / (static_cast<double>(picture.rgb.size()) / 3);
  const bool good = mean <= mean_tolerance && share <= share_beyond;
  return (good ? ::testing::AssertionSuccess() : ::testing::AssertionFailure())
         << "differs by " << mean << " on average, by " << largest << " at most, and by more than " << pixel_tolerance
         << " in " << beyond << " pixels";
}

}  // namespace tessera::test

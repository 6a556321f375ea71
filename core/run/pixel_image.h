// Tensors as images, which pixel kernels go over by x and y.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "core/graph/operation.h"
#include <tessera/shape.h>

namespace tessera {

struct PixelImage {
  std::int64_t height, width;
  std::int64_t channels;

  std::int64_t pixels() const { return height * width; }
  std::int64_t row() const { return width * channels; }  // elements
  bool operator==(const PixelImage&) const = default;
};

// [height,width] and [height,width,channels] of up to four channels are images, with axes of 1 before them too.
std::optional<PixelImage> pixel_image_of(const Shape&);

// An operand of a pointwise operation, whose axes belong to the last ones of its reader; an axis of 1 stretches.
std::optional<PixelImage> aligned_image(const Shape& operand, const Shape& reader);

// How Strided takes the pixels of an image: pixel (x, y) is pixel (x.start + x.of_x * x + x.of_y * y, …) of the other
// image, and its channels are these.
struct PixelMap {
  struct Axis {
    std::int64_t start = 0, of_x = 0, of_y = 0;
  };
  Axis x, y;
  std::array<int, 4> channels{};
};
std::optional<PixelMap> pixel_map_of(const Strided&, std::int64_t offset, const PixelImage& from, const PixelImage& to);

}  // namespace tessera

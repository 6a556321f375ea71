// Windows over images in plain loops, for the tests of convolutions and of pooling: images of one to three spatial axes
// count as [batch,depth,height,width,channels].
#pragma once
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <tessera/tessera.h>

namespace tessera::test {

struct WindowCase {
  int spatial_axes = 2;
  std::int64_t batch = 1, channels = 1;
  // Of depth, height and width; those that the image lacks stay 1.
  std::array<std::int64_t, 3> size{1, 1, 1};
  std::array<std::int64_t, 3> window{1, 1, 1}, strides{1, 1, 1}, dilations{1, 1, 1};
  enum class Pads { valid, same, given } pads = Pads::valid;
  std::array<std::int64_t, 6> given{};

  std::int64_t reach(std::size_t axis) const { return (window[axis] - 1) * dilations[axis] + 1; }
  std::int64_t result(std::size_t axis) const;  // its size there; 0 or less where no window fits
  std::int64_t before(std::size_t axis) const;  // how much padding there is
  bool fits() const;

  Shape shape(const std::array<std::int64_t, 3>& sizes,
              std::int64_t last) const;  // [batch, the used ones of sizes, last]
  Shape image_shape() const { return shape(size, channels); }
  std::array<std::int64_t, 3> result_sizes() const { return {result(0), result(1), result(2)}; }
  std::string to_string() const;

  // The last `spatial_axes` of three, or of six in pairs.
  std::vector<std::int64_t> used(const std::array<std::int64_t, 3>& values) const;
  std::vector<std::int64_t> used_pads() const;

  // Calls take(result pixel, image pixel, tap) for each pixel under each window, both counted through the batch.
  template <class Take>
  void for_each_tap(const Take& take) const {
    std::int64_t result_pixel = 0;
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t z = 0; z < result(0); ++z)
        for (std::int64_t y = 0; y < result(1); ++y)
          for (std::int64_t x = 0; x < result(2); ++x, ++result_pixel)
            for (std::int64_t d = 0, tap = 0; d < window[0]; ++d)
              for (std::int64_t h = 0; h < window[1]; ++h)
                for (std::int64_t w = 0; w < window[2]; ++w, ++tap) {
                  const std::int64_t iz = z * strides[0] - before(0) + d * dilations[0];
                  const std::int64_t iy = y * strides[1] - before(1) + h * dilations[1];
                  const std::int64_t ix = x * strides[2] - before(2) + w * dilations[2];
                  if (iz < 0 || iz >= size[0] || iy < 0 || iy >= size[1] || ix < 0 || ix >= size[2]) continue;
                  take(result_pixel, ((b * size[0] + iz) * size[1] + iy) * size[2] + ix, tap);
                }
  }
};

// One that fits, with pads of less than the window reaches over.
WindowCase random_window_case(std::mt19937&);

}  // namespace tessera::test

// Windows that slide over images, on the host. core/ops/window.h defines the words.
#pragma once
#include <array>

#include "backend_cpu/family.h"

namespace tessera::cpu {

struct WindowAxis {
  std::int64_t image, result, taps, stride, dilation, before;
};

// The words of a run.
struct Windows {
  explicit Windows(const FamilyRun& run) : image_channels(run.word(0)), result_channels(run.word(1)) {
    for (std::size_t i = 0; i < 3; ++i) {
      const std::size_t at = 2 + 6 * i;
      axes[2 - i] = {run.word(at),     run.word(at + 1), run.word(at + 2),
                     run.word(at + 3), run.word(at + 4), run.word(at + 5)};
    }
  }

  std::int64_t image_channels, result_channels;
  std::array<WindowAxis, 3> axes;  // depth, height, width
  static constexpr std::size_t words = 20;

  // Calls take(pixel, tap) for each pixel of the image that the window at a pixel of the result meets.
  // `meets(axis, at, tap)` gives where along an axis that is, outside of the image for the padding.
  template <class Meets, class Take>
  void for_each_tap(std::int64_t result_pixel, const Meets& meets, const Take& take) const {
    std::array<std::int64_t, 3> at{};
    for (std::size_t i = 3; i-- > 0; result_pixel /= axes[i].result) at[i] = result_pixel % axes[i].result;
    const std::int64_t batch = result_pixel;
    for (std::int64_t tap = 0; tap < axes[0].taps * axes[1].taps * axes[2].taps; ++tap) {
      const std::array<std::int64_t, 3> taps{tap / (axes[1].taps * axes[2].taps), tap / axes[2].taps % axes[1].taps,
                                             tap % axes[2].taps};
      std::int64_t pixel = batch;
      bool is_inside = true;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::int64_t along = meets(axes[i], at[i], taps[i]);
        is_inside = is_inside && along >= 0 && along < axes[i].image;
        pixel = pixel * axes[i].image + along;
      }
      if (is_inside) take(pixel, tap);
    }
  }

  static std::int64_t meets(const WindowAxis& axis, std::int64_t at, std::int64_t tap) {
    return at * axis.stride + tap * axis.dilation - axis.before;
  }
};

}  // namespace tessera::cpu

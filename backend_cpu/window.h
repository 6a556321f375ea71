// Windows that slide over images, on the host.
#pragma once
#include "backend_cpu/family.h"
#include "core/window_parameters.h"

namespace tessera::cpu {

// Calls take(pixel, tap) for each pixel of the image that the window at a pixel of the result meets.
// `meets(axis, at, tap)` gives where along an axis that is, outside of the image for the padding.
template <class Meets, class Take>
void for_each_tap(const WindowAxes& axes, std::int64_t result_pixel, const Meets& meets, const Take& take) {
  const auto& [inner, middle, outer] = axes;
  const std::int64_t column = result_pixel % inner.result, row = result_pixel / inner.result % middle.result,
                     plane = result_pixel / (inner.result * middle.result) % outer.result,
                     batch = result_pixel / (inner.result * middle.result * outer.result);
  const auto is_inside = [](const WindowAxis& axis, std::int64_t along) { return along >= 0 && along < axis.image; };
  std::int64_t tap = 0;
  for (std::int64_t d = 0; d < outer.taps; ++d)
    for (std::int64_t h = 0; h < middle.taps; ++h)
      for (std::int64_t w = 0; w < inner.taps; ++w, ++tap) {
        const std::int64_t z = meets(outer, plane, d), y = meets(middle, row, h), x = meets(inner, column, w);
        if (is_inside(outer, z) && is_inside(middle, y) && is_inside(inner, x))
          take(((batch * outer.image + z) * middle.image + y) * inner.image + x, tap);
      }
}

inline std::int64_t window_meets(const WindowAxis& axis, std::int64_t at, std::int64_t tap) {
  return at * axis.stride + tap * axis.dilation - axis.before;
}

}  // namespace tessera::cpu

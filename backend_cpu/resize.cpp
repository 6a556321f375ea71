// The resize family on the host; core/resize.cpp defines the words.
#include <algorithm>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

// Where a pixel lies along an axis: the whole pixel below it, which may be one before the image, and the way from
// there.
struct Place {
  Place(const FamilyRun& run, std::int64_t index, std::size_t first) {
    const std::int64_t divisor = run.words[first + 2], numerator = index * run.words[first] + run.words[first + 1];
    below = numerator / divisor - 2;
    rest = static_cast<float>(numerator % divisor) / static_cast<float>(divisor);
  }
  std::int64_t below;
  float rest;
};

std::int64_t place_at(const FamilyRun& run, const Pixel& pixel, std::int64_t row, std::int64_t column) {
  return place_in_image(run, pixel.batch, std::clamp<std::int64_t>(row, 0, run.word(4) - 1),
                        std::clamp<std::int64_t>(column, 0, run.word(3) - 1), pixel.channel);
}

void nearest(const FamilyRun& run) {
  for (std::size_t i = 0; i < run.result.size(); ++i) {
    const Pixel pixel(run, static_cast<std::int64_t>(i));
    const Place y(run, pixel.y, 6), x(run, pixel.x, 9);
    run.result[i] = run.operands[0][index_of(place_at(run, pixel, y.below, x.below))];
  }
}

// The sum of `taps` by `taps` pixels from `first` on, counted from the pixel below, with weights by their distance.
template <class Weight>
void weighted(const FamilyRun& run, int first, int taps, const Weight& weight) {
  fill_result(run, [&](std::int64_t element) {
    const Pixel pixel(run, element);
    const Place y(run, pixel.y, 6), x(run, pixel.x, 9);
    float total = 0;
    for (int j = first; j < first + taps; ++j)
      for (int i = first; i < first + taps; ++i)
        total += weight(std::fabs(y.rest - static_cast<float>(j))) * weight(std::fabs(x.rest - static_cast<float>(i))) *
                 number(run, 0, place_at(run, pixel, y.below + j, x.below + i));
    return total;
  });
}

void bilinear(const FamilyRun& run) {
  weighted(run, 0, 2, [](float distance) { return 1 - distance; });
}

void cubic(const FamilyRun& run) {
  weighted(run, -1, 4, [c = run.word_float(12)](float d) {
    return d <= 1 ? ((c + 2) * d - (c + 3)) * d * d + 1 : ((c * d - 5 * c) * d + 8 * c) * d - 4 * c;
  });
}

}  // namespace

std::span<const FamilyFunction> resize_functions() {
  static constexpr FamilyFunction functions[] = {
      {"resize_nearest", nearest},
      {"resize_bilinear", bilinear},
      {"resize_cubic", cubic},
  };
  return functions;
}

}  // namespace tessera::cpu

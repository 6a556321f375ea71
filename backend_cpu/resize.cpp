// The resize family on the host; core/kernel/image_parameters.h has the parameters.
#include <algorithm>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

// Where a pixel lies along an axis: the whole pixel below it, which may be one before the image, and the way from
// there.
struct Place {
  Place(const Places& places, std::int64_t index) {
    const std::int64_t divisor = places.divisor, numerator = index * places.step + places.start;
    below = numerator / divisor - 2;
    rest = static_cast<float>(numerator % divisor) / static_cast<float>(divisor);
  }
  std::int64_t below;
  float rest;
};

std::int64_t place_at(const ResizeParameters& parameters, const Pixel& pixel, std::int64_t row, std::int64_t column) {
  return place_in_image(parameters, pixel.batch, std::clamp<std::int64_t>(row, 0, parameters.image.height - 1),
                        std::clamp<std::int64_t>(column, 0, parameters.image.width - 1), pixel.channel);
}

void nearest(const FamilyRun& run) {
  const auto parameters = parameters_of<ResizeParameters>(run);
  for (std::size_t i = 0; i < run.result.size(); ++i) {
    const Pixel pixel(parameters, static_cast<std::int64_t>(i));
    const Place y(parameters.y, pixel.y), x(parameters.x, pixel.x);
    run.result[i] = run.operands[0][index_of(place_at(parameters, pixel, y.below, x.below))];
  }
}

// The sum of `taps` by `taps` pixels from `first` on, counted from the pixel below, with weights by their distance.
template <class Weight>
void weighted(const FamilyRun& run, int first, int taps, const Weight& weight) {
  const auto parameters = parameters_of<ResizeParameters>(run);
  fill_result(run, [&](std::int64_t element) {
    const Pixel pixel(parameters, element);
    const Place y(parameters.y, pixel.y), x(parameters.x, pixel.x);
    float total = 0;
    for (int j = first; j < first + taps; ++j)
      for (int i = first; i < first + taps; ++i)
        total += weight(std::fabs(y.rest - static_cast<float>(j))) * weight(std::fabs(x.rest - static_cast<float>(i))) *
                 number(run, 0, place_at(parameters, pixel, y.below + j, x.below + i));
    return total;
  });
}

void bilinear(const FamilyRun& run) {
  weighted(run, 0, 2, [](float distance) { return 1 - distance; });
}

void cubic(const FamilyRun& run) {
  weighted(run, -1, 4, [c = parameters_of<ResizeParameters>(run).cubic_coefficient](float d) {
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

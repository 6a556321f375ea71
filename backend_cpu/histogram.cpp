// The histogram family on the host; core/image_parameters.h has the parameters.
#include <algorithm>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

void count(const FamilyRun& run) {
  const auto parameters = parameters_of<HistogramParameters>(run);
  const std::int64_t channels = parameters.channels, pixels = parameters.pixels, parts = parameters.parts;
  for (Value& value : run.result) value.whole = 0;
  const std::int64_t images =
      static_cast<std::int64_t>(run.result.size()) / (parameters.padded_bins * parts) / channels;
  for (std::int64_t element = 0; element < images * pixels * channels; ++element) {
    const float value = number(run, 0, element);
    if (!(value >= parameters.low && value <= parameters.high)) continue;
    const std::int64_t bin =
        std::min(static_cast<std::int64_t>((value - parameters.low) * parameters.scale), parameters.bins - 1);
    const std::int64_t channel = element % channels, pixel = element / channels % pixels,
                       image = element / (channels * pixels);
    const std::int64_t part = (image * channels + channel) * parts + pixel / parameters.part_pixels;
    ++run.result[index_of(part * parameters.padded_bins + bin)].whole;
  }
}

}  // namespace

std::span<const FamilyFunction> histogram_functions() {
  static constexpr FamilyFunction functions[] = {{"histogram_count", count}};
  return functions;
}

}  // namespace tessera::cpu

// The histogram family on the host; core/ops/histogram.cpp defines the words.
#include <algorithm>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

void count(const FamilyRun& run) {
  const std::int64_t channels = run.word(0), pixels = run.word(1), padded = run.word(2), parts = run.word(3),
                     in_part = run.word(4);
  const float low = run.word_float(6), high = run.word_float(7), scale = run.word_float(8);
  for (Value& value : run.result) value.whole = 0;
  const std::int64_t images = static_cast<std::int64_t>(run.result.size()) / (padded * parts) / channels;
  for (std::int64_t element = 0; element < images * pixels * channels; ++element) {
    const float value = number(run, 0, element);
    if (!(value >= low && value <= high)) continue;
    const std::int64_t bin = std::min(static_cast<std::int64_t>((value - low) * scale), run.word(5) - 1);
    const std::int64_t channel = element % channels, pixel = element / channels % pixels,
                       image = element / (channels * pixels);
    ++run.result[index_of(((image * channels + channel) * parts + pixel / in_part) * padded + bin)].whole;
  }
}

}  // namespace

std::span<const FamilyFunction> histogram_functions() {
  static constexpr FamilyFunction functions[] = {{"histogram_count", count}};
  return functions;
}

}  // namespace tessera::cpu

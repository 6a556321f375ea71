// The filter family on the host; core/kernel/image_parameters.h has the parameters and options.
#include <algorithm>
#include <cstdlib>

#include "backend_cpu/image.h"

namespace tessera::cpu {
namespace {

std::int64_t reflected(std::int64_t at, std::int64_t last) {
  if (last == 0) return 0;
  const std::int64_t in_period = (at % (2 * last) + 2 * last) % (2 * last);
  return last - std::abs(last - in_period);
}

void filter(const FamilyRun& run) {
  const auto parameters = parameters_of<FilterParameters>(run);
  const auto border = static_cast<FilterBorder>(std::int64_t{options_of<FilterOptions>(run).border});
  const std::int64_t last = parameters.size - 1, stride = parameters.stride, taps = parameters.taps;
  fill_result(run, [&](std::int64_t element) {
    const std::int64_t place = element / stride % parameters.size;
    float total = 0;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      const std::int64_t at = place + tap - taps / 2;
      if (border == FilterBorder::zero && (at < 0 || at > last)) continue;
      const bool is_reflected = border == FilterBorder::reflect || border == FilterBorder::near_reflect;
      const std::int64_t inside = is_reflected ? reflected(at, last) : std::clamp<std::int64_t>(at, 0, last);
      const bool has_numbers = run.operands.size() == 1;
      const float weight = has_numbers ? parameters.weights[index_of(tap)] : number(run, 1, tap);
      if (has_numbers && tap < 31 && weight == 0) continue;
      total += weight * number(run, 0, element + (inside - place) * stride);
    }
    return total;
  });
}

}  // namespace

std::span<const FamilyFunction> filter_functions() {
  static constexpr FamilyFunction functions[] = {{"filter_numbers", filter}, {"filter_tensor", filter}};
  return functions;
}

}  // namespace tessera::cpu

// The pooling of core/pooling.cpp.
#include <algorithm>
#include <cmath>

#include "backend_cpu/window.h"

namespace tessera::cpu {
namespace {

// Calls take(output, index) for each element of the image that belongs to an output.
template <class Take>
void for_each_element(const FamilyRun& run, const Take& take) {
  const auto parameters = parameters_of<PoolingParameters>(run);
  const std::int64_t channels = parameters.result_channels;
  for (std::size_t output = 0; output < run.result.size(); ++output) {
    const auto at = static_cast<std::int64_t>(output);
    for_each_tap(parameters.axes, at / channels, window_meets,
                 [&](std::int64_t pixel, std::int64_t) { take(output, index_of(pixel * channels + at % channels)); });
  }
}

bool better_real(Value a, Value b) { return a.real > b.real || (std::isnan(a.real) && !std::isnan(b.real)); }
bool better_whole(Value a, Value b) { return a.whole > b.whole; }

// The index of the best element of each window, -1 where it has none.
std::vector<std::int32_t> best(const FamilyRun& run) {
  const auto better = is_float(run.operand_dtypes[0]) ? better_real : better_whole;
  std::vector<std::int32_t> indices(run.result.size(), -1);
  const std::vector<Value>& image = run.operands[0];
  for_each_element(run, [&](std::size_t output, std::size_t index) {
    std::int32_t& known = indices[output];
    if (known < 0 || better(image[index], image[index_of(known)])) known = static_cast<std::int32_t>(index);
  });
  return indices;
}

void max(const FamilyRun& run) {
  const std::vector<std::int32_t> indices = best(run);
  const float lowest = parameters_of<PoolingParameters>(run).of_nothing;
  const Value of_nothing =
      is_float(run.dtype) ? Value{.real = lowest} : Value{.whole = static_cast<std::int32_t>(lowest)};
  for (std::size_t i = 0; i < indices.size(); ++i)
    run.result[i] = indices[i] < 0 ? of_nothing : run.operands[0][index_of(indices[i])];
}

void argmax(const FamilyRun& run) {
  const std::vector<std::int32_t> indices = best(run);
  for (std::size_t i = 0; i < indices.size(); ++i) run.result[i].whole = indices[i];
}

void average(const FamilyRun& run) {
  std::vector<Mean> means(run.result.size());
  for_each_element(run, [&](std::size_t output, std::size_t index) {
    means[output].add(static_cast<double>(run.operands[0][index].real));
  });
  const std::int64_t divisor = parameters_of<PoolingParameters>(run).divisor;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double average = divisor != 0           ? means[i].total / static_cast<double>(divisor)
                           : means[i].weight == 0 ? 0
                                                  : means[i].value();
    run.result[i].real = static_cast<float>(average);
  }
}

}  // namespace

std::span<const FamilyFunction> pooling_functions() {
  static constexpr FamilyFunction functions[] = {
      {"pool_max", max},
      {"pool_average", average},
      {"pool_argmax", argmax},
  };
  return functions;
}

}  // namespace tessera::cpu

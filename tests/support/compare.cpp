#include "support/compare.h"

#include <cmath>

namespace tessera::test {

bool agrees(float got, float want, float tolerance) {
  if (std::isnan(want)) return std::isnan(got);
  if (std::isinf(want)) return got == want;
  return std::fabs(got - want) <= tolerance * std::fmax(1.0f, std::fabs(want));
}

::testing::AssertionResult all_agree(const std::vector<float>& got, const std::vector<float>& want, float tolerance) {
  if (got.size() != want.size())
    return ::testing::AssertionFailure() << got.size() << " elements instead of " << want.size();
  int wrong = 0;
  ::testing::AssertionResult failure = ::testing::AssertionFailure();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (agrees(got[i], want[i], tolerance)) continue;
    if (++wrong <= 5) failure << "\n  element " << i << " is " << got[i] << ", should be " << want[i];
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return failure << "\n  " << wrong << " of " << got.size() << " elements differ by more than " << tolerance;
}

float tolerance_in(DType dtype, float tolerance) {
  constexpr float half_step = 1.0f / 1024;  // a result between two halves may round to either
  return dtype == DType::f16 && tolerance > 0 ? half_step : dtype == DType::f16 || dtype == DType::f32 ? tolerance : 0;
}

std::vector<float> random_values(std::size_t count, float low, float high, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(generator);
  return values;
}

}  // namespace tessera::test

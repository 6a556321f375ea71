// Comparing results with what the host computes.
#pragma once
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include <tessera/dtype.h>

namespace tessera::test {

// NaN agrees with NaN; else the difference is at most tolerance * max(1, |want|).
bool agrees(float got, float want, float tolerance);
::testing::AssertionResult all_agree(const std::vector<float>& got, const std::vector<float>& want, float tolerance);

// What one operation on this type may be off by, when in f32 it may be off by `tolerance`.
float tolerance_in(DType, float tolerance);

std::vector<float> random_values(std::size_t count, float low, float high, std::uint32_t seed);

// The values as their type can hold them.
template <Element T>
std::vector<T> as(const std::vector<float>& values) {
  std::vector<T> out;
  for (const float value : values) out.push_back(static_cast<T>(value));
  return out;
}

}  // namespace tessera::test

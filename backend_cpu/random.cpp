// The random family on the host; core/kernel/random_parameters.h has the parameters.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "backend_cpu/family.h"
#include "core/kernel/random_parameters.h"

namespace tessera::cpu {
namespace {

using Words = std::array<std::uint32_t, 4>;

// Philox 4x32-10.
Words words_of_texel(const Seed& seed, std::uint32_t texel) {
  Words counter{texel, 0, 0, 0};
  std::uint32_t key_0 = seed.lower.bits, key_1 = seed.upper.bits;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = std::uint64_t{0xd2511f53u} * counter[0],
                        product_1 = std::uint64_t{0xcd9e8d57u} * counter[2];
    counter = {static_cast<std::uint32_t>(product_1 >> 32) ^ counter[1] ^ key_0, static_cast<std::uint32_t>(product_1),
               static_cast<std::uint32_t>(product_0 >> 32) ^ counter[3] ^ key_1, static_cast<std::uint32_t>(product_0)};
    key_0 += 0x9e3779b9u;
    key_1 += 0xbb67ae85u;
  }
  return counter;
}

// result[i] = make(words of its texel, its place in it).
template <class Make>
void for_each_word(const FamilyRun& run, const Seed& seed, const Make& make) {
  Words words{};
  for (std::size_t i = 0; i < run.result.size(); ++i) {
    if (i % 4 == 0) words = words_of_texel(seed, static_cast<std::uint32_t>(i / 4));
    run.result[i] = make(words, i % 4);
  }
}

float unit(std::uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

// As in the shaders, the product is rounded before the sum.
void uniform(const FamilyRun& run) {
  const auto parameters = parameters_of<RandomUniformParameters>(run);
  for_each_word(run, parameters.seed, [&](const Words& words, std::size_t place) {
    const auto bits = std::bit_cast<std::uint32_t>(unit(words[place]) * parameters.range);
    const auto product = std::bit_cast<float>(bits ^ parameters.zero.bits);
    return Value{.real = std::min(product + parameters.low, parameters.highest)};
  });
}

void normal(const FamilyRun& run) {
  const auto parameters = parameters_of<RandomNormalParameters>(run);
  for_each_word(run, parameters.seed, [&](const Words& words, std::size_t place) {
    const std::size_t pair = place / 2 * 2;
    const float radius = std::sqrt(-2.0f * std::log(unit(words[pair]) + 0x1p-24f));
    const float angle = unit(words[pair + 1]) * (2 * std::numbers::pi_v<float>);
    const float number = radius * (place == pair ? std::cos(angle) : std::sin(angle));
    return Value{.real = number * parameters.deviation + parameters.mean};
  });
}

void integers(const FamilyRun& run) {
  const auto parameters = parameters_of<RandomIntegersParameters>(run);
  for_each_word(run, parameters.seed, [&](const Words& words, std::size_t place) {
    const auto above_low = static_cast<std::uint32_t>(std::uint64_t{words[place]} * parameters.range.bits >> 32);
    return Value{.whole = static_cast<std::int32_t>(above_low + static_cast<std::uint32_t>(parameters.low.bits))};
  });
}

}  // namespace

std::span<const FamilyFunction> random_functions() {
  static constexpr FamilyFunction functions[] = {
      {"random_uniform", uniform},
      {"random_normal", normal},
      {"random_integers", integers},
  };
  return functions;
}

}  // namespace tessera::cpu

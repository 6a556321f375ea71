// Random numbers, against the published generator and the statistics they should have.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::random_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

class Random : public OnDevice {
 protected:
  static constexpr std::int64_t many = 1'000'000;
};

struct Statistics {
  explicit Statistics(const std::vector<float>& values) {
    for (const float value : values) mean += value / static_cast<double>(values.size());
    for (const float value : values) variance += std::pow(value - mean, 2) / static_cast<double>(values.size());
    for (std::size_t i = 0; i + 1 < values.size(); ++i)
      neighbours += (values[i] - mean) * (values[i + 1] - mean) / static_cast<double>(values.size()) / variance;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    lowest = *low;
    highest = *high;
  }
  double mean = 0, variance = 0, neighbours = 0, lowest = 0, highest = 0;
};

// Philox 4x32-10 of counter 0 and key 0: the first known answer of Random123,
// https://github.com/DEShawResearch/random123.
TEST_P(Random, PublishedAnswers) {
  const std::array<std::uint32_t, 4> words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  std::vector<float> expected;
  for (const std::uint32_t word : words) expected.push_back(static_cast<float>(word >> 8) / 16777216.0f);
  EXPECT_EQ(uniform(context(), {4}, 0).read(), expected);
  // The upper bits of a word times the range, from the lowest number on.
  EXPECT_EQ(uniform_integers(context(), {4}, 0, -3, 13).read<std::int32_t>(), (std::vector<std::int32_t>{3, 11, 8, 6}));
  // Box and Muller by hand, in double.
  const double pi = std::acos(-1.0);
  std::vector<float> normals;
  for (const std::size_t pair : {std::size_t{0}, std::size_t{2}}) {
    const double radius = std::sqrt(-2 * std::log(((words[pair] >> 8) + 1) / 16777216.0)),
                 angle = 2 * pi * (words[pair + 1] >> 8) / 16777216.0;
    normals.push_back(static_cast<float>(radius * std::cos(angle)));
    normals.push_back(static_cast<float>(radius * std::sin(angle)));
  }
  EXPECT_TRUE(all_agree(normal(context(), {4}, 0).read(), normals, 1e-5f));
}

TEST_P(Random, Uniform) {
  const Statistics of(uniform(context(), {many}, 42, -2, 6).read());
  EXPECT_NEAR(of.mean, 2, 0.01);
  EXPECT_NEAR(of.variance, 64.0 / 12, 0.02);
  EXPECT_NEAR(of.neighbours, 0, 0.004);
  EXPECT_GE(of.lowest, -2);
  EXPECT_LT(of.lowest, -1.9999);
  EXPECT_LT(of.highest, 6);
  EXPECT_GT(of.highest, 5.9999);
  // Here rounding would reach the end of the range for many elements.
  EXPECT_LT(Statistics(uniform(context(), {1000}, 1, 1, std::nextafter(1.0f, 2.0f)).read()).highest,
            std::nextafter(1.0f, 2.0f));
}

TEST_P(Random, Normal) {
  const std::vector<float> values = normal(context(), {many}, 43, 5, 2).read();
  const Statistics of(values);
  EXPECT_NEAR(of.mean, 5, 0.01);
  EXPECT_NEAR(of.variance, 4, 0.03);
  EXPECT_NEAR(of.neighbours, 0, 0.004);
  EXPECT_GT(of.lowest, 5 - 2 * 5.8);
  EXPECT_LT(of.highest, 5 + 2 * 5.8);
  const auto within = [&](float deviations) {
    const auto count =
        std::count_if(values.begin(), values.end(), [&](float value) { return std::fabs(value - 5) < 2 * deviations; });
    return static_cast<double>(count) / many;
  };
  EXPECT_NEAR(within(1), 0.6827, 0.002);
  EXPECT_NEAR(within(2), 0.9545, 0.001);
  EXPECT_NEAR(within(3), 0.9973, 0.0003);
  EXPECT_EQ(normal(context(), {5}, 1, 3, 0).read(), std::vector<float>(5, 3));
}

TEST_P(Random, Integers) {
  std::array<int, 10> counts{};
  for (const std::int32_t value : uniform_integers(context(), {many}, 44, -4, 6).read<std::int32_t>()) {
    ASSERT_TRUE(value >= -4 && value < 6);
    ++counts[static_cast<std::size_t>(value + 4)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 100'000, 1500);
  const std::int32_t lowest = std::numeric_limits<std::int32_t>::min(),
                     highest = std::numeric_limits<std::int32_t>::max();
  const Statistics of(uniform_integers(context(), {100'000}, 45, lowest, highest).read());
  EXPECT_NEAR(of.mean / 2147483648.0, 0, 0.01);
  EXPECT_LT(of.lowest, -2147000000.0);
  EXPECT_GT(of.highest, 2147000000.0);
  EXPECT_EQ(uniform_integers(context(), {3}, 1, 7, 8).read<std::int32_t>(), (std::vector<std::int32_t>{7, 7, 7}));
}

TEST_P(Random, TheSameEverywhere) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 63, 64, 65, 70001}) {
    const std::uint64_t seed = 0x123456789abcdef0u + static_cast<std::uint64_t>(size);
    const std::vector<float> units = uniform(context(), {size}, seed).read();
    EXPECT_EQ(units, uniform(cpu_context(), {size}, seed).read());
    EXPECT_EQ(uniform(context(), {size}, seed, -0.3f, 12.7f).read(),
              uniform(cpu_context(), {size}, seed, -0.3f, 12.7f).read());
    EXPECT_EQ(uniform(context(), {size}, seed, 1e-3f, 3e7f).read(),
              uniform(cpu_context(), {size}, seed, 1e-3f, 3e7f).read());
    EXPECT_TRUE(all_agree(normal(context(), {size}, seed).read(), normal(cpu_context(), {size}, seed).read(), 1e-5f));
    EXPECT_EQ(uniform_integers(context(), {size}, seed, -1000, 1000).read<std::int32_t>(),
              uniform_integers(cpu_context(), {size}, seed, -1000, 1000).read<std::int32_t>());
    EXPECT_EQ(units, uniform(context(), {size}, seed).read());  // and each time
  }
}

TEST_P(Random, SeedsDifferAndShapesDoNotMatter) {
  const std::vector<float> first = uniform(context(), {1000}, 1).read();
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 32, ~std::uint64_t{0}}) {
    const std::vector<float> other = uniform(context(), {1000}, seed).read();
    int same = 0;
    for (std::size_t i = 0; i < first.size(); ++i) same += first[i] == other[i];
    EXPECT_LE(same, 1);
  }
  EXPECT_EQ(uniform(context(), {10, 5, 20}, 1).read(), first);
  std::vector<float> start = first;
  start.resize(7);
  EXPECT_EQ(uniform(context(), {7}, 1).read(), start);
  EXPECT_EQ(uniform(context(), {}, 1).read(), std::vector<float>{first[0]});
  EXPECT_TRUE(normal(context(), {0, 3}, 1).read().empty());
}

TEST_P(Random, WorkAfterIsPartOfTheKernel) {
  const Tensor warm = (uniform(context(), {64}, 1) * 2.0f).compute();
  context().reset_stats();
  const Tensor mask = (uniform(context(), {3, 50}, 9, -1, 4) * 3.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(Random, BadInput) {
  EXPECT_TESSERA_ERROR(uniform(context(), {2}, 0, 2, 1), invalid_argument, "uniform", "2.0", "1.0");
  EXPECT_TESSERA_ERROR(uniform(context(), {2}, 0, 1, 1), invalid_argument, "uniform", "1.0");
  EXPECT_TESSERA_ERROR(uniform(context(), {2}, 0, nan, 1), invalid_argument, "uniform", "nan");
  EXPECT_TESSERA_ERROR(uniform(context(), {2}, 0, 0, infinity), invalid_argument, "uniform", "inf");
  EXPECT_TESSERA_ERROR(normal(context(), {2}, 0, 3, -1), invalid_argument, "normal", "-1.0", "3.0");
  EXPECT_TESSERA_ERROR(normal(context(), {2}, 0, 0, nan), invalid_argument, "normal", "nan");
  EXPECT_TESSERA_ERROR(uniform_integers(context(), {2}, 0, 5, 5), invalid_argument, "uniform_integers", "5");
  EXPECT_TESSERA_ERROR(uniform_integers(context(), {2}, 0, 6, -7), invalid_argument, "6", "-7");
}

TESSERA_ON_EACH_BACKEND(Random);

}  // namespace
}  // namespace tessera::test::random_test

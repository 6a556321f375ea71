// Times of dispatches from the device's ticks, whatever the driver writes there.
#include <gtest/gtest.h>

#include "core/kernel/timed_runs.h"

namespace tessera::times_test {
namespace {

constexpr std::uint64_t hour = 3'600'000'000'000;  // nanoseconds

std::vector<std::vector<double>> times(const std::vector<std::uint64_t>& ticks, double longest = 1000) {
  std::vector<std::size_t> dispatches;
  for (std::size_t i = 0; 2 * i < ticks.size(); ++i) dispatches.push_back(i);
  std::vector<std::vector<double>> found;
  for (const DispatchTime& time : times_of(dispatches, ticks, longest))
    found.push_back({static_cast<double>(time.dispatch), time.begin, time.end});
  return found;
}

using Times = std::vector<std::vector<double>>;

TEST(DeviceTimes, AreMicrosecondsSinceTheFirstBegan) {
  EXPECT_EQ(times({hour, hour + 5'000, hour + 6'000, hour + 9'000}), (Times{{0, 0, 5}, {1, 6, 9}}));
}

TEST(DeviceTimes, OutsideOfTheRunAreLeftOut) {
  EXPECT_EQ(times({0, hour, hour + 2'000, hour + 3'000}), (Times{{1, 0, 1}})) << "the first counts from the start";
  EXPECT_EQ(times({hour, hour + 1'000, 0, hour + 2'000, hour + 3'000, hour + 4'000}), (Times{{0, 0, 1}, {2, 3, 4}}));
  EXPECT_EQ(times({1'000, 2'000, hour, hour + 1'000}), (Times{{0, 0, 1}})) << "an hour later than the first";
}

TEST(DeviceTimes, NeverEndBeforeTheyBegin) {
  EXPECT_EQ(times({5'000, 4'000, 3'000, 7'000}), (Times{{0, 0, 0}, {1, 0, 2}}));
}

}  // namespace
}  // namespace tessera::times_test

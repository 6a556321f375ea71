// What the host spends on operations, runs and frames, in instructions: unlike times, these are the same on a busy
// machine. bench/host_cost prints them all.
#include <map>

#include "bench/host_cost/counts.h"
#include "support/devices.h"

namespace tessera::test::host_cost_test {
namespace {

#ifndef TESSERA_HOST_COST_WORKLOADS
#define TESSERA_HOST_COST_WORKLOADS ""
#define TESSERA_IS_OPTIMISED 0
#endif

struct Bound {
  const char* name;
  double instructions, allocations;  // of tessera's own
};

struct OnDriver {
  TestDevice device;
  std::vector<Bound> bounds;
  Bound dispatch;  // one more in a run
};

void PrintTo(const OnDriver& on, std::ostream* out) { *out << on.device.name; }

class HostCost : public ::testing::TestWithParam<OnDriver> {};

TEST_P(HostCost, IsBounded) {
  if (std::string_view(TESSERA_HOST_COST_WORKLOADS).empty())
    GTEST_SKIP() << "valgrind was not there, or the benchmarks were left out, when this was built";
  if (!TESSERA_IS_OPTIMISED) GTEST_SKIP() << "the bounds are those of an optimised build";
  if (is_left_out(GetParam().device)) GTEST_SKIP() << "this build has no such backend";
  if (const std::string reason = bench::why_nothing_is_counted(); !reason.empty()) GTEST_SKIP() << reason;
  const TestDevice& device = GetParam().device;
  std::map<std::string, bench::Count> counts;
  for (const bench::Count& count :
       bench::count_instructions(TESSERA_HOST_COST_WORKLOADS,
                                 std::string(to_string(device.backend)) + " '" + device.driver + "' --brief invert"))
    counts[count.name] = count;
  for (const Bound& bound : GetParam().bounds) {
    EXPECT_GT(counts[bound.name].tessera, 0) << bound.name;
    EXPECT_LE(counts[bound.name].tessera, bound.instructions) << bound.name;
    EXPECT_LE(counts[bound.name].allocations, bound.allocations) << bound.name;
  }
  const bench::Count &one = counts["run of 1"], &many = counts["run of 11"];
  EXPECT_LE((many.tessera - one.tessera) / 10, GetParam().dispatch.instructions);
  EXPECT_LE((many.allocations - one.allocations) / 10, GetParam().dispatch.allocations);
}

// A tenth above the counts when these were written.
INSTANTIATE_TEST_SUITE_P(On, HostCost,
                         ::testing::Values(OnDriver{{"webgpu_lavapipe", BackendKind::webgpu, "lavapipe"},
                                                    {{"lazy op", 1250, 0.3},
                                                     {"op of a chain of 100", 1850, 0.3},
                                                     {"compute of 1", 14500, 37},
                                                     {"run of 1", 10500, 15},
                                                     {"frame invert", 10900, 11}},
                                                    {"dispatch", 3030, 0.2}},
                                           OnDriver{{"gles_mesa", BackendKind::gles, "EGL Mesa"},
                                                    {{"lazy op", 1250, 0.3},
                                                     {"op of a chain of 100", 1850, 0.3},
                                                     {"compute of 1", 14300, 37},
                                                     {"run of 1", 10400, 15},
                                                     {"frame invert", 13300, 12}},
                                                    {"dispatch", 3170, 0.2}}),
                         [](const auto& on) { return std::string(on.param.device.name); });

}  // namespace
}  // namespace tessera::test::host_cost_test

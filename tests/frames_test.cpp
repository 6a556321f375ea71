// The pipelines of bench/frames: their tensor code and their hand-written shaders make the same frames.
#include "bench/frames/picture.h"
#include "bench/frames/stage.h"

namespace tessera::test {
namespace {

struct FramesCase {
  TestDevice device;
  bench::Entry pipeline;
};
void PrintTo(const FramesCase& which, std::ostream* out) { *out << which.pipeline.name << " on " << which.device.name; }

// Drivers differ in how they compile a shader, not in what it means: SwiftShader, which compiles slowly, is left out.
std::vector<FramesCase> frames_cases() {
  std::vector<FramesCase> cases;
  for (const TestDevice& device : gpu_devices())
    if (std::string_view(device.name).find("swiftshader") == std::string_view::npos)
      for (const bench::Entry& pipeline : bench::all_pipelines()) cases.push_back({device, pipeline});
  return cases;
}

class FramesOf : public ::testing::TestWithParam<FramesCase> {};

TEST_P(FramesOf, TensorCodeAreThoseOfShaders) {
  const auto& [device, entry] = GetParam();
  if (is_left_out(device)) GTEST_SKIP() << "this build leaves out the " << to_string(device.backend) << " backend";
  const bench::Size odd{61, 43};
  const bench::Pipeline pipeline =
      entry.make({.size = odd, .channels = entry.has_alpha ? 4 : 3, .pictures = bench::noisy_pictures(odd)});
  const auto stage = bench::make_stage(device, pipeline, entry.has_alpha ? 4 : 3);
  bench::check_alike(pipeline, *stage->by_tensors(), *stage->by_hand(bench::Format::rgba16f));
}

INSTANTIATE_TEST_SUITE_P(On, FramesOf, ::testing::ValuesIn(frames_cases()),
                         [](const ::testing::TestParamInfo<FramesCase>& which) {
                           return std::string(which.param.pipeline.name) + "_" + which.param.device.name;
                         });

}  // namespace
}  // namespace tessera::test

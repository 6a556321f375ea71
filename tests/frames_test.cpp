// The pipelines of bench/frames: their tensor code and their hand-written shaders make the same frames.
#include "bench/frames/picture.h"
#include "bench/frames/stage.h"

namespace tessera::test {
namespace {

class FramePipelines : public OnDevice {};

TEST_P(FramePipelines, TensorCodeAndShadersMakeTheSameFrames) {
  const bench::Size odd{61, 43};
  for (const bench::Entry& entry : bench::all_pipelines()) try {
      const int channels = entry.has_alpha ? 4 : 3;
      const bench::Pipeline pipeline =
          entry.make({.size = odd, .channels = channels, .pictures = bench::noisy_pictures(odd)});
      const auto stage = bench::make_stage(GetParam(), pipeline, channels);
      for (const Precision between : {Precision::half, Precision::full})
        bench::check_alike(pipeline, *stage->by_tensors(between), *stage->by_hand(bench::Format::rgba16f));
    } catch (const std::exception& error) {
      ADD_FAILURE() << entry.name << ": " << error.what();
    }
}

// A frame that is smaller than what a network takes becomes texels first.
TEST_P(FramePipelines, TakeNoMorePassesThanByHand) {
  const bench::Size odd{61, 43};
  for (const bench::Entry& entry : bench::all_pipelines()) {
    const int channels = entry.has_alpha ? 4 : 3;
    const bench::Pipeline pipeline =
        entry.make({.size = odd, .channels = channels, .pictures = bench::noisy_pictures(odd)});
    const auto stage = bench::make_stage(GetParam(), pipeline, channels);
    const auto frames = stage->by_tensors();
    frames->next();
    stage->context().reset_stats();
    frames->next();
    const std::string_view name = entry.name;
    const std::size_t small = name == "network_input" ? 1 : 0;
    EXPECT_LE(stage->context().stats().dispatches, pipeline.passes.size() + small) << entry.name;
    EXPECT_EQ(stage->context().stats().kernels_compiled, 0u) << entry.name;
  }
}

// Without SwiftShader: it compiles slowly, and these shaders have nothing that other tests do not have there.
std::vector<TestDevice> fast_devices() {
  std::vector<TestDevice> devices = gpu_devices();
  std::erase_if(devices, [](const TestDevice& device) {
    return std::string_view(device.name).find("swiftshader") != std::string_view::npos;
  });
  return devices;
}

INSTANTIATE_TEST_SUITE_P(On, FramePipelines, ::testing::ValuesIn(fast_devices()), device_name);

}  // namespace
}  // namespace tessera::test

// The pipelines of bench/frames: their tensor code and their hand-written shaders make the same frames.
#include "bench/frames/picture.h"
#include "bench/frames/stage.h"
#include <tessera/testing.h>

namespace tessera::test::frames_test {
namespace {

class FramePipelines : public OnDevice {
 protected:
  // In four channels, or three where that is what a pipeline has; with a history, whose layout depends on that, in
  // both.
  template <class Check>
  void for_each_pipeline(const Check& check) {
    const bench::Size odd{61, 43};
    for (const bench::Entry& entry : bench::all_pipelines())
      for (const int channels : {4, 3}) try {
          const bench::Pipeline pipeline =
              entry.make({.size = odd, .channels = channels, .pictures = bench::noisy_pictures(odd)});
          if (entry.has_alpha ? channels == 3 && !pipeline.history : channels == 4) continue;
          check(pipeline, *bench::make_stage(GetParam(), pipeline, channels), entry.name);
        } catch (const std::exception& error) {
          ADD_FAILURE() << entry.name << " of " << channels << " channels: " << error.what();
        }
  }
};

TEST_P(FramePipelines, TensorCodeAndShadersMakeTheSameFrames) {
  for_each_pipeline([&](const bench::Pipeline& pipeline, bench::Stage& stage, std::string_view) {
    for (const Precision between : {Precision::half, Precision::full})
      bench::check_alike(pipeline, *stage.by_tensors(between), *stage.by_hand(bench::Format::rgba16f));
  });
}

// All but two take as many as by hand. Both steps down of `background` are one kernel; a frame that is smaller than
// what a network takes becomes texels first.
TEST_P(FramePipelines, TakeThePassesOfShadersByHand) {
  for_each_pipeline([&](const bench::Pipeline& pipeline, bench::Stage& stage, std::string_view name) {
    const auto frames = stage.by_tensors();
    for (int i = 0; i < 2; ++i) frames->next();  // the second one has a history
    stage.context().reset_stats();
    frames->next();
    const int more = name == "network_input" ? 1 : name == "background" ? -1 : 0;
    EXPECT_EQ(static_cast<int>(stage.context().stats().dispatches), static_cast<int>(pipeline.passes.size()) + more)
        << name;
    EXPECT_EQ(stage.context().stats().kernels_compiled, 0u) << name;
  });
}

// On a host's device tiers are tried where the host asks for it.
TEST_P(FramePipelines, TiersMakeTheSameFrames) {
  for_each_pipeline([&](const bench::Pipeline& pipeline, bench::Stage& stage, std::string_view name) {
    if (name != "sharpen" && name != "cartoon") return;
    testing::take_all_tiers(stage.context());
    testing::try_only(stage.context(), testing::Tried::tiers);
    const auto frames = stage.by_tensors(Precision::full), by_hand = stage.by_hand(bench::Format::rgba16f);
    bench::check_alike(pipeline, *frames, *by_hand);
    EXPECT_EQ(stage.context().stats().tiers_compiled, 0u) << name;
    testing::finish_tiers(stage.context());
    EXPECT_GT(stage.context().stats().tiers_taken, 0u) << name;
    stage.context().reset_stats();
    bench::check_alike(pipeline, *frames, *by_hand);
    EXPECT_EQ(stage.context().stats().kernels_compiled, 0u) << name;
  });
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
}  // namespace tessera::test::frames_test

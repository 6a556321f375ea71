// Programs in a WebGPU host's frames: its buffers and textures as inputs, its encoder, its textures for the results.
#include <gmock/gmock.h>

#include "support/temporary_folder.h"
#include "support/webgpu_host.h"

namespace tessera::test::webgpu_program_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class WebGpuPrograms : public OnHost {
 protected:
  static constexpr WGPUTextureUsage in = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst;
  static constexpr WGPUTextureUsage out = WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc;

  Program doubling(const Shape& shape) {
    return Program::record(*gpu, {{.shape = shape}},
                           [](std::span<const Tensor> inputs) { return std::vector{inputs[0] * 2.0f}; });
  }
};

TEST_P(WebGpuPrograms, ABufferIsReadInPlaceByEachRun) {
  const Program program = doubling({4});
  const WGPUBuffer buffer = host->buffer(std::vector<float>{1, 2, 3, 4});
  const Tensor lent = webgpu::from_buffer(*gpu, buffer, {4});
  EXPECT_THAT(program.run({lent})[0].read(), ElementsAre(2, 4, 6, 8));
  const std::vector<float> next{5, 6, 7, 8};
  wgpuQueueWriteBuffer(host->queue, buffer, 0, next.data(), 16);
  EXPECT_THAT(program.run({lent})[0].read(), ElementsAre(10, 12, 14, 16));
  expect_steady(*gpu, 1, [&] { program.run({lent}); });
}

TEST_P(WebGpuPrograms, PartsOfABuffer) {
  const Program program = doubling({2});
  const WGPUBuffer buffer = host->buffer(std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7});
  for (const std::uint64_t first : {0, 1, 3, 6}) {
    const auto number = static_cast<float>(first);
    const Tensor lent = webgpu::from_buffer(*gpu, buffer, {2}, DType::f32, {.offset = 4 * first});
    EXPECT_THAT(program.run({lent})[0].read(), ElementsAre(2 * number, 2 * number + 2));
  }
}

TEST_P(WebGpuPrograms, ATextureInAndATextureOutInOneSubmission) {
  const std::vector<std::uint8_t> pixels(4 * 4 * 4, 51);
  const WGPUTexture camera = host->texture(4, 4, WGPUTextureFormat_RGBA8Unorm, in, pixels.data(), 4);
  const WGPUTexture screen = host->texture(4, 4, WGPUTextureFormat_RGBA8Unorm, out);
  const Program program = doubling({4, 4, 4});
  expect_steady(*gpu, 1, [&] { webgpu::to_texture(program({webgpu::from_texture(*gpu, camera)})[0], screen); });
  EXPECT_THAT(host->read<std::uint8_t>(screen, 4), Each(102));
}

TEST_P(WebGpuPrograms, AWholeTextureAndThenAPartOfOne) {
  // The device mixes pixels of a whole texture; at the edges of a part it would mix in those around it.
  constexpr int side = 4;
  std::vector<std::uint8_t> whole, larger;
  for (int y = 0; y < 2 * side; ++y)
    for (int x = 0; x < 2 * side * 4; ++x) {
      const bool is_inside = x < side * 4 && y < side;
      larger.push_back(static_cast<std::uint8_t>(is_inside ? 10 * y + 5 * (x / 4) : 255));
      if (is_inside) whole.push_back(larger.back());
    }
  const WGPUTexture camera = host->texture(side, side, WGPUTextureFormat_RGBA8Unorm, in, whole.data(), 4);
  const WGPUTexture atlas = host->texture(2 * side, 2 * side, WGPUTextureFormat_RGBA8Unorm, in, larger.data(), 4);
  const WGPUTexture screen = host->texture(2 * side, 2 * side, WGPUTextureFormat_RGBA8Unorm, out);
  const Program program = Program::record(
      *gpu, {{.shape = {side, side, 4}}},
      [](std::span<const Tensor> inputs) { return std::vector{resize_bilinear(inputs[0], 2 * side, 2 * side)}; },
      {.between = Precision::half});
  const auto shown = [&](WGPUTexture source, const TexturePart& part) {
    webgpu::to_texture(program({webgpu::from_texture(*gpu, source, {.part = part})})[0], screen);
    return host->read<std::uint8_t>(screen, 4);
  };
  const auto of_whole = shown(camera, {}), of_part = shown(atlas, {.width = side, .height = side});
  for (std::size_t i = 0; i < of_whole.size(); ++i) ASSERT_NEAR(of_whole[i], of_part[i], 1) << i;
}

TEST_P(WebGpuPrograms, TexturesOfSeveralKindsInTurn) {
  const std::vector<std::uint8_t> pixels{10, 20, 30, 40};
  const WGPUTexture camera = host->texture(1, 1, WGPUTextureFormat_RGBA8Unorm, in, pixels.data(), 4);
  const WGPUTexture integers = host->texture(1, 1, WGPUTextureFormat_RGBA8Uint, in, pixels.data(), 4);
  const WGPUTexture screen = host->texture(1, 1, WGPUTextureFormat_RGBA8Unorm, out);
  const WGPUTexture other = host->texture(1, 1, WGPUTextureFormat_BGRA8Unorm, out);
  const Program program = doubling({1, 1, 4});
  const auto shown = [&](WGPUTexture source, const std::string& channels, WGPUTexture target) {
    webgpu::to_texture(program({webgpu::from_texture(*gpu, source, {.channels = channels})})[0], target);
    return host->read<std::uint8_t>(target, 4);
  };
  for (int frame = 0; frame < 2; ++frame) {
    EXPECT_THAT(shown(camera, "RGBA", screen), ElementsAre(20, 40, 60, 80));
    EXPECT_THAT(shown(camera, "RGBA", other), ElementsAre(60, 40, 20, 80));
    EXPECT_THAT(shown(camera, "ABGR", screen), ElementsAre(80, 60, 40, 20));
    EXPECT_THAT(shown(integers, "RGBA", screen), ElementsAre(255, 255, 255, 255));
  }
}

TEST_P(WebGpuPrograms, FramesAreReadyBeforeTheFirstOne) {
  const std::vector<std::uint8_t> pixels(4 * 6 * 4, 51);
  const WGPUTexture camera = host->texture(4, 6, WGPUTextureFormat_RGBA8Unorm, in, pixels.data(), 4);
  const WGPUTexture screen = host->texture(4, 6, WGPUTextureFormat_RGBA8Unorm, out);
  const std::vector<float> wide(9, 1.0f / 9);
  const Program program = Program::record(*gpu, {{.shape = {6, 4, 4}}}, [&](std::span<const Tensor> inputs) {
    return std::vector{separable_filter(inputs[0], wide, wide, Border::edge)};
  });
  const auto frame = [&] { return program({webgpu::from_texture(*gpu, camera)})[0]; };
  gpu->reset_stats();
  webgpu::prepare_to_texture(frame(), screen).get();
  EXPECT_EQ(gpu->stats().kernels_compiled, 2u);
  EXPECT_EQ(gpu->stats().dispatches, 0u);
  webgpu::to_texture(frame(), screen);
  EXPECT_EQ(gpu->stats().kernels_compiled, 2u);
  EXPECT_THAT(host->read<std::uint8_t>(screen, 4), Each(51));
}

TEST_P(WebGpuPrograms, RecordIntoTheHostsEncoder) {
  const Program program = doubling({4});
  const WGPUBuffer buffer = host->buffer(std::vector<float>{1, 2, 3, 4});
  std::vector<Tensor> results;
  expect_steady(*gpu, 0, [&] {
    const WGPUCommandEncoder commands = wgpuDeviceCreateCommandEncoder(host->device, nullptr);
    results = program({webgpu::from_buffer(*gpu, buffer, {4})});
    results = program({results[0]});
    webgpu::encode(results, commands);
    host->submit(commands);
    wgpuCommandEncoderRelease(commands);
    webgpu::submitted(*gpu);
  });
  EXPECT_THAT(results[0].read(), ElementsAre(4, 8, 12, 16));
}

TEST_P(WebGpuPrograms, AResultThatIsAPartOfATensorIsShownRight) {
  const Program lower_half = Program::record(*gpu, {{.shape = {4, 2}}}, [](std::span<const Tensor> inputs) {
    return std::vector{slice(inputs[0] * (1 / 255.0f), {2, 0}, {2, 2})};
  });
  const WGPUTexture screen = host->texture(2, 2, WGPUTextureFormat_R8Unorm, out);
  webgpu::to_texture(lower_half({gpu->tensor({4, 2}, {1, 2, 3, 4, 50, 60, 70, 80})})[0], screen);
  EXPECT_THAT(host->read<std::uint8_t>(screen, 1), ElementsAre(50, 60, 70, 80));
}

// The cache goes with the context, while the host may hold its device for longer.
TEST_P(WebGpuPrograms, ADeviceThatOutlivesItsContextUsesNoCache) {
  const TemporaryFolder folder;
  const std::filesystem::path cache = folder / "cache";
  WGPUDevice kept = nullptr;
  {
    Context own = Context::create({.prefer = {BackendKind::webgpu}, .driver = GetParam().driver, .cache_dir = cache});
    (own.zeros({4}) + 1.0f).compute();
    EXPECT_TRUE(std::filesystem::exists(cache));
    kept = webgpu::host_device(own).device;
    wgpuDeviceAddRef(kept);
  }
  std::filesystem::remove_all(cache);
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = {"@compute @workgroup_size(1) fn main() {}", WGPU_STRLEN};
  WGPUShaderModuleDescriptor text{};
  text.nextInChain = &source.chain;
  const WGPUShaderModule module = wgpuDeviceCreateShaderModule(kept, &text);
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.compute.module = module;
  const WGPUComputePipeline pipeline = wgpuDeviceCreateComputePipeline(kept, &descriptor);
  EXPECT_FALSE(std::filesystem::exists(cache));
  wgpuComputePipelineRelease(pipeline);
  wgpuShaderModuleRelease(module);
  wgpuDeviceRelease(kept);
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuPrograms);

}  // namespace
}  // namespace tessera::test::webgpu_program_test

// Hosts with several devices, and hosts whose device goes before tessera lets go: an error or nothing, never a crash.
#include <memory>

#include "support/webgpu_host.h"

namespace tessera::test::webgpu_lifetimes_test {
namespace {

class WebGpuLifetimes : public OnDevice {
 protected:
  struct Guest {
    explicit Guest(const TestDevice& device)
        : host(std::make_unique<Host>(device)), gpu(webgpu::adopt(host->handles())) {}
    std::unique_ptr<Host> host;
    std::optional<Context> gpu;
  };
};

TEST_P(WebGpuLifetimes, TwoHostsTakeTurns) {
  Guest first(GetParam()), second(GetParam());
  const WGPUBuffer ones = first.host->buffer(std::vector<float>{1, 1}),
                   tens = second.host->buffer(std::vector<float>{10, 10});
  for (int frame = 0; frame < 5; ++frame) {
    const float add = static_cast<float>(frame);
    EXPECT_EQ((webgpu::from_buffer(*first.gpu, ones, {2}) + add).read(), std::vector<float>(2, 1 + add));
    EXPECT_EQ((webgpu::from_buffer(*second.gpu, tens, {2}) + add).read(), std::vector<float>(2, 10 + add));
  }
  // The one that was there first goes first, its guest after it; the other works on.
  const Tensor computed = (first.gpu->full({2}, 1) + 1.0f).compute();
  first.host.reset();
  EXPECT_TESSERA_ERROR(computed.read(), device_lost);
  EXPECT_EQ((webgpu::from_buffer(*second.gpu, tens, {2}) + 1.0f).read(), std::vector<float>(2, 11));
  first.gpu.reset();
  EXPECT_EQ((webgpu::from_buffer(*second.gpu, tens, {2}) + 2.0f).read(), std::vector<float>(2, 12));
  EXPECT_TRUE(second.host->errors.empty());
}

// Everything that a host can hold of tessera's, after its device is gone.
TEST_P(WebGpuLifetimes, HostsMayShutDownFirst) {
  Guest guest(GetParam());
  const WGPUBuffer buffer = guest.host->buffer(std::vector<float>{1, 2, 3, 4});
  const WGPUTexture texture = guest.host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_TextureBinding);
  const Tensor computed = (guest.gpu->full({4}, 1) + 1.0f).compute(), pending = computed * 2.0f;
  const Tensor borrowed = webgpu::from_buffer(*guest.gpu, buffer, {4});
  const Tensor sampled = webgpu::from_texture(*guest.gpu, texture);
  std::optional<webgpu::GpuData> lent = webgpu::data_to_gpu(computed);
  guest.host.reset();

  EXPECT_TESSERA_ERROR(pending.compute(), device_lost);
  EXPECT_TESSERA_ERROR(borrowed.read(), device_lost);
  EXPECT_TESSERA_ERROR(sampled.read(), device_lost);
  EXPECT_TESSERA_ERROR(webgpu::data_to_gpu(pending), device_lost);
  lent.reset();
  guest.gpu->trim();
  guest.gpu.reset();
}

// Work that is like that of the frame before asks nothing then, so that the host's own callback has the error.
TEST_P(WebGpuLifetimes, ErrorsThatNobodyAsksAboutGoToTheHost) {
  Host host(GetParam());
  Context gpu = webgpu::adopt(host.handles(), {.device_errors = DeviceErrors::later});
  const WGPUBuffer buffer = host.buffer(std::vector<float>{1, 2, 3, 4});
  const Program program =
      Program::record(gpu, {{.shape = {4}}}, [](std::span<const Tensor> in) { return std::vector{in[0] * 2.0f}; });
  const auto frame = [&] { return program.run({webgpu::from_buffer(gpu, buffer, {4})})[0]; };
  for (int i = 0; i < 3; ++i) EXPECT_EQ(frame().read(), (std::vector<float>{2, 4, 6, 8}));
  const Tensor borrowed = webgpu::from_buffer(gpu, buffer, {4});
  wgpuBufferDestroy(buffer);
  const Tensor of_nothing = program.run({borrowed})[0];
  ASSERT_EQ(host.errors.size(), 1u);
  EXPECT_NE(host.errors[0].find("destroyed"), std::string::npos) << host.errors[0];
  host.errors.clear();
  EXPECT_EQ((gpu.full({2}, 1) + 1.0f).read(), std::vector<float>(2, 2));
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuLifetimes);

}  // namespace
}  // namespace tessera::test::webgpu_lifetimes_test

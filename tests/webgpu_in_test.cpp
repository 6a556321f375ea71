// Tensors in: a host's buffers and textures, in plain WebGPU.
#include <gmock/gmock.h>

#include <numeric>

#include "support/webgpu_host.h"

namespace tessera::test::webgpu_in_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::IsEmpty;
using ::testing::Pointwise;

class WebGpuIn : public OnHost {};

std::vector<float> ramp(std::size_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

// ---- buffers ----------------------------------------------------------------------------------------------
TEST_P(WebGpuIn, ABufferIsReadInPlace) {
  const WGPUBuffer buffer = host->buffer(ramp(8));
  const Tensor t = webgpu::from_buffer(*gpu, buffer, {2, 4});
  EXPECT_EQ(gpu->memory().bytes_external, 32u);
  EXPECT_THAT((t + 1.0f).read(), ElementsAreArray(ramp(8, 1)));
  EXPECT_THAT(t.read(), ElementsAreArray(ramp(8)));
  // What the host writes later is there: nothing was copied.
  wgpuQueueWriteBuffer(host->queue, buffer, 0, ramp(8, 100).data(), 32);
  EXPECT_THAT((t + 1.0f).read(), ElementsAreArray(ramp(8, 101)));
  EXPECT_EQ(webgpu::data_to_gpu(t).buffer, buffer);
}

TEST_P(WebGpuIn, ABorrowedBufferStaysTheHosts) {
  const WGPUBuffer buffer = host->buffer(ramp(64));
  {
    const Tensor t = webgpu::from_buffer(*gpu, buffer, {64});
    t.reshape({8, 8}).square().compute();
    EXPECT_EQ(gpu->memory().bytes_external, 256u);
  }
  EXPECT_EQ(gpu->memory().bytes_external, 0u);
  for (int i = 0; i < 10; ++i) EXPECT_NE(webgpu::data_to_gpu(gpu->full({64}, 1) + 1.0f).buffer, buffer);
  gpu->trim();
  EXPECT_THAT(host->read<float>(buffer, 0, 64), ElementsAreArray(ramp(64)));
}

TEST_P(WebGpuIn, ABufferThatIsNotMadeForCopiesCanBeRead) {
  WGPUBufferDescriptor descriptor{};
  descriptor.size = 16;
  descriptor.usage = WGPUBufferUsage_Storage;
  const WGPUBuffer buffer = wgpuDeviceCreateBuffer(host->device, &descriptor);
  const WGPUCommandEncoder commands = host->encoder();
  host->compute(commands,
                "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n"
                "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { x[i] = f32(i); }\n",
                {{.index = 0, .buffer = buffer}}, 1);
  host->submit(commands);
  EXPECT_THAT(webgpu::from_buffer(*gpu, buffer, {4}).read(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(webgpu::from_buffer(*gpu, buffer, {2}, DType::f32, {.offset = 4}).read(), ElementsAre(1, 2));
  wgpuBufferRelease(buffer);
}

TEST_P(WebGpuIn, TheTensorKeepsTheBufferAlive) {
  WGPUBufferDescriptor descriptor{};
  descriptor.size = 16;
  descriptor.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst | WGPUBufferUsage_CopySrc;
  const WGPUBuffer buffer = wgpuDeviceCreateBuffer(host->device, &descriptor);
  wgpuQueueWriteBuffer(host->queue, buffer, 0, ramp(4).data(), 16);
  const Tensor t = webgpu::from_buffer(*gpu, buffer, {4});
  wgpuBufferRelease(buffer);
  EXPECT_THAT(t.read(), ElementsAre(0, 1, 2, 3));
}

TEST_P(WebGpuIn, AnyOffsetOfWholeElements) {
  const WGPUBuffer floats = host->buffer(ramp(200));
  for (const std::uint64_t first : {0, 1, 2, 3, 4, 5, 63, 64, 65, 100}) {
    const Tensor t = webgpu::from_buffer(*gpu, floats, {2, 3}, DType::f32, {.offset = first * 4});
    EXPECT_THAT((t * 1.0f).read(), ElementsAreArray(ramp(6, static_cast<float>(first)))) << first;
    EXPECT_THAT(t.read(), ElementsAreArray(ramp(6, static_cast<float>(first)))) << first;
    EXPECT_EQ(webgpu::data_to_gpu(t).offset, first * 4);
  }
  std::vector<std::uint8_t> bytes(200);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const WGPUBuffer packed = host->buffer(bytes);
  for (const std::uint64_t first : {0, 1, 2, 3, 7, 129}) {
    const Tensor t = webgpu::from_buffer(*gpu, packed, {5}, DType::u8, {.offset = first});
    EXPECT_THAT(t.cast(DType::f32).read(), ElementsAreArray(ramp(5, static_cast<float>(first)))) << first;
    EXPECT_THAT(t.read(), ElementsAreArray(ramp(5, static_cast<float>(first)))) << first;
  }
}

TEST_P(WebGpuIn, TheLastElementsOfABuffer) {
  // The last texel reaches beyond the end of the buffer here, in most of these.
  for (std::int64_t count = 1; count <= 9; ++count) {
    for (const std::size_t size : {std::size_t{9}, std::size_t{75}}) {
      const WGPUBuffer floats = host->buffer(ramp(size));
      const std::uint64_t offset = 4 * (size - static_cast<std::size_t>(count));
      const auto expected = ramp(static_cast<std::size_t>(count), static_cast<float>(offset) / 4);
      for (const bool zero_copy : {true, false}) {
        const Tensor t = webgpu::from_buffer(*gpu, floats, {count}, DType::f32, {offset, zero_copy});
        EXPECT_THAT((t * 1.0f).read(), ElementsAreArray(expected)) << count << " of " << size;
        EXPECT_EQ(sum(t).read()[0], std::accumulate(expected.begin(), expected.end(), 0.0f));
      }
    }
    std::vector<std::uint8_t> bytes(12);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{200});
    const WGPUBuffer packed = host->buffer(bytes);
    const auto first = static_cast<std::uint64_t>(12 - count);
    for (const bool zero_copy : {true, false}) {
      const Tensor t = webgpu::from_buffer(*gpu, packed, {count}, DType::u8, {first, zero_copy});
      EXPECT_THAT(t.cast(DType::f32).read(),
                  ElementsAreArray(ramp(static_cast<std::size_t>(count), static_cast<float>(200 + first))));
    }
  }
}

TEST_P(WebGpuIn, WhatLiesBehindTheTensorDoesNotCount) {
  std::vector<float> values(64, std::numeric_limits<float>::infinity());
  for (int i = 0; i < 6; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i);
  const Tensor t = webgpu::from_buffer(*gpu, host->buffer(values), {2, 3});
  EXPECT_THAT(sum(t).read(), ElementsAre(15));
  EXPECT_THAT(max(t).read(), ElementsAre(5));
  EXPECT_THAT(sum(t, {.axes = {0}}).read(), ElementsAre(3, 5, 7));
  EXPECT_THAT(matmul(t, t.reshape({3, 2})).read(), ElementsAre(10, 13, 28, 40));
  EXPECT_THAT(webgpu::data_to_gpu(t + 1.0f).buf_size, 24u);
  const webgpu::GpuData data = webgpu::data_to_gpu(t + 1.0f);
  EXPECT_THAT(host->read<float>(data.buffer, 24, 2), Each(0.0f));
}

TEST_P(WebGpuIn, ACopyIsMadeByTheFirstSubmissionThatNeedsIt) {
  const WGPUBuffer buffer = host->buffer(ramp(8));
  gpu->reset_stats();
  const Tensor t = webgpu::from_buffer(*gpu, buffer, {3}, DType::f32, {.offset = 8, .zero_copy = false});
  EXPECT_EQ(gpu->stats().submits, 0u);
  const Tensor doubled = (t * 2.0f).compute();
  EXPECT_EQ(gpu->stats().submits, 1u);
  EXPECT_EQ(gpu->stats().dispatches, 2u);
  EXPECT_EQ(gpu->memory().bytes_external, 0u);
  wgpuQueueWriteBuffer(host->queue, buffer, 0, ramp(8, 100).data(), 32);
  EXPECT_THAT(t.read(), ElementsAre(2, 3, 4));
  EXPECT_THAT(doubled.read(), ElementsAre(4, 6, 8));
  const webgpu::GpuData data = webgpu::data_to_gpu(t);
  EXPECT_THAT(host->read<float>(data.buffer, data.offset, 4), ElementsAre(2, 3, 4, 0));
  const Tensor halves = webgpu::from_buffer(*gpu, host->buffer(std::vector<std::uint16_t>{0, 0x3c00, 0x4000, 0xc000}),
                                            {3}, DType::f16, {.offset = 2, .zero_copy = false});
  EXPECT_THAT(halves.read(), ElementsAre(1, 2, -2));
}

TEST_P(WebGpuIn, BuffersThatDoNotFitAreRefused) {
  const WGPUBuffer buffer = host->buffer(ramp(8));
  const auto from = [&](WGPUBuffer b, const Shape& shape, DType dtype, std::uint64_t offset) {
    return webgpu::from_buffer(*gpu, b, shape, dtype, {.offset = offset});
  };
  EXPECT_TESSERA_ERROR(from(nullptr, {1}, DType::f32, 0), invalid_argument, "from_buffer", "null");
  EXPECT_TESSERA_ERROR(from(buffer, {9}, DType::f32, 0), invalid_argument, "[9]", "36", "32");
  EXPECT_TESSERA_ERROR(from(buffer, {8}, DType::f32, 4), invalid_argument, "byte 4", "32");
  EXPECT_TESSERA_ERROR(from(buffer, {1}, DType::f32, 1 << 20), invalid_argument, "1048576", "32");
  EXPECT_TESSERA_ERROR(from(buffer, {1}, DType::f32, UINT64_MAX - 3), invalid_argument, "32");
  EXPECT_TESSERA_ERROR(from(buffer, {1}, DType::f32, 2), invalid_argument, "multiple", "2 bytes", "4 bytes");
  EXPECT_TESSERA_ERROR(from(buffer, {1}, DType::f16, 1), invalid_argument, "multiple", "1 bytes", "2 bytes");
  EXPECT_TESSERA_ERROR(from(buffer, {0, 4}, DType::f32, 0), invalid_argument, "[0,4]");
  EXPECT_TESSERA_ERROR(from(host->buffer(32, WGPUBufferUsage_Vertex), {8}, DType::f32, 0), invalid_argument, "Storage");
  EXPECT_TESSERA_ERROR(from(host->buffer(7, WGPUBufferUsage_Storage), {7}, DType::u8, 0), unsupported, "7 bytes",
                       "3 bytes");
  EXPECT_THAT(from(host->buffer(7, WGPUBufferUsage_Storage), {4}, DType::u8, 0).read(), Each(0));
  Host other(GetParam());
  EXPECT_TESSERA_ERROR(from(other.buffer(ramp(8)), {8}, DType::f32, 0), invalid_argument, "another device");
  EXPECT_THAT(other.errors, IsEmpty());
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  EXPECT_TESSERA_ERROR(webgpu::from_buffer(cpu, buffer, {8}), wrong_backend, "from_buffer", "webgpu", "cpu");
  EXPECT_THAT(from(buffer, {8}, DType::f32, 0).read(), ElementsAreArray(ramp(8)));
}

TEST_P(WebGpuIn, ABufferThatTheHostDestroyedIsAnErrorAndNoMore) {
  const WGPUBuffer buffer = host->buffer(ramp(8));
  const Tensor t = webgpu::from_buffer(*gpu, buffer, {8}), sum_of_it = sum(t + 1.0f);
  wgpuBufferDestroy(buffer);
  EXPECT_TESSERA_ERROR(sum_of_it.read(), invalid_argument, "estroyed");
  EXPECT_TESSERA_ERROR(sum_of_it.read(), invalid_argument, "estroyed");
  EXPECT_TESSERA_ERROR(t.read(), invalid_argument, "estroyed");
  EXPECT_THAT((gpu->full({3}, 1) + 1.0f).read(), Each(2.0f));
}

// ---- textures ---------------------------------------------------------------------------------------------
constexpr WGPUTextureUsage sampled = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst;

TEST_P(WebGpuIn, ATextureInAnyOrderOfChannels) {
  const std::vector<std::uint8_t> pixels{0, 51, 102, 153, 255, 204, 51, 0};
  const WGPUTexture texture = host->texture(1, 2, WGPUTextureFormat_RGBA8Unorm, sampled, pixels.data(), 4);
  const auto read = [&](const char* channels) {
    const Tensor t = webgpu::from_texture(*gpu, texture, {.channels = channels});
    EXPECT_EQ(t.shape(), (Shape{2, 1, static_cast<std::int64_t>(std::strlen(channels))}));
    return (t * 5.0f).read();
  };
  const auto near = [](std::vector<float> values) { return Pointwise(FloatNear(1e-5f), values); };
  EXPECT_THAT(read("RGBA"), near({0, 1, 2, 3, 5, 4, 1, 0}));
  EXPECT_THAT(read("BGRA"), near({2, 1, 0, 3, 1, 4, 5, 0}));
  EXPECT_THAT(read("RGB"), near({0, 1, 2, 5, 4, 1}));
  EXPECT_THAT(read("AG"), near({3, 1, 0, 4}));
  EXPECT_THAT(read("B"), near({2, 1}));
  EXPECT_EQ(webgpu::from_texture(*gpu, texture).shape(), (Shape{2, 1, 4}));
}

TEST_P(WebGpuIn, TexturesOfEveryKindOfFormat) {
  const auto read = [&](WGPUTextureFormat format, const auto& pixel, const char* channels = "RGBA") {
    const WGPUTexture texture =
        host->texture(1, 1, format, sampled, pixel.data(), static_cast<std::uint32_t>(pixel.size() * sizeof(pixel[0])));
    return webgpu::from_texture(*gpu, texture, {.channels = channels}).read();
  };
  using Bytes = std::vector<std::uint8_t>;
  const auto near = [](std::vector<float> values) { return Pointwise(FloatNear(1e-3f), values); };
  EXPECT_THAT(read(WGPUTextureFormat_RGBA32Float, std::vector{1.5f, -2.0f, 3e10f, 0.0f}),
              ElementsAre(1.5f, -2, 3e10f, 0));
  EXPECT_THAT(read(WGPUTextureFormat_R32Float, std::vector{7.25f}), ElementsAre(7.25f, 0, 0, 1));
  EXPECT_THAT(read(WGPUTextureFormat_RGBA16Float, std::vector<std::uint16_t>{0x3c00, 0xc000, 0x3800, 0}),
              ElementsAre(1, -2, 0.5f, 0));
  EXPECT_THAT(read(WGPUTextureFormat_BGRA8Unorm, Bytes{0, 51, 255, 102}), near({1, 0.2f, 0, 0.4f}));
  EXPECT_THAT(read(WGPUTextureFormat_RGBA8Snorm, Bytes{127, 129, 0, 64}), near({1, -1, 0, 0.504f}));
  EXPECT_THAT(read(WGPUTextureFormat_RGBA8UnormSrgb, Bytes{124, 170, 255, 51}), near({0.2016f, 0.402f, 1, 0.2f}));
  EXPECT_THAT(read(WGPUTextureFormat_RG8Unorm, Bytes{51, 102}, "RG"), near({0.2f, 0.4f}));
  EXPECT_THAT(read(WGPUTextureFormat_RGBA8Uint, Bytes{1, 2, 250, 255}), ElementsAre(1, 2, 250, 255));
  EXPECT_THAT(read(WGPUTextureFormat_R32Sint, std::vector<std::int32_t>{-70000}, "R"), ElementsAre(-70000));
  EXPECT_THAT(read(WGPUTextureFormat_RG16Uint, std::vector<std::uint16_t>{5, 65535}, "GR"), ElementsAre(65535, 5));
}

TEST_P(WebGpuIn, OddSizesAndTheTailIsZero) {
  const std::uint32_t width = 7, height = 5;
  const std::vector<float> pixels = ramp(width * height * 4);
  const WGPUTexture texture = host->texture(width, height, WGPUTextureFormat_RGBA32Float, sampled, pixels.data(), 16);
  const Tensor t = webgpu::from_texture(*gpu, texture, {.channels = "RGB"});
  const std::vector<float> values = t.read();
  ASSERT_EQ(values.size(), width * height * 3);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], pixels[i / 3 * 4 + i % 3]) << i;
  const webgpu::GpuData data = webgpu::data_to_gpu(t);  // 105 elements
  EXPECT_THAT(host->read<float>(data.buffer, data.buf_size, 3), Each(0.0f));
}

TEST_P(WebGpuIn, ARenderResultIsReadInTheSubmissionThatUsesIt) {
  const WGPUTexture texture = host->texture(8, 4, WGPUTextureFormat_RGBA8Unorm,
                                            WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_TextureBinding);
  const auto draw = [&](double red) {
    const WGPUCommandEncoder commands = host->encoder();
    const WGPUColor clear{red, 0.2, 0, 1};
    host->render(commands, texture,
                 {{.wgsl = "@vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {\n"
                           "  return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);\n}\n"
                           "@fragment fn fragment_main(@builtin(position) p: vec4f) -> @location(0) vec4f {\n"
                           "  if (p.x < 4.0) { discard; }\n  return vec4f(0.0, 0.0, 1.0, 1.0);\n}\n"}},
                 &clear);
    host->submit(commands);
  };
  draw(1);
  gpu->reset_stats();
  const Tensor frame = webgpu::from_texture(*gpu, texture, {.channels = "RGB"});
  EXPECT_EQ(gpu->stats().submits, 0u);
  const Tensor totals = sum(frame, {.axes = {0, 1}}).compute();
  EXPECT_EQ(gpu->stats().submits, 1u);
  EXPECT_EQ(gpu->stats().bytes_downloaded, 0u);
  EXPECT_THAT(totals.read(), Pointwise(FloatNear(1e-3f), {16.0f, 3.2f, 16.0f}));
  // The tensor keeps what it was when it was read.
  draw(0);
  EXPECT_THAT(sum(frame, {.axes = {0, 1}}).read(), Pointwise(FloatNear(1e-3f), {16.0f, 3.2f, 16.0f}));
  EXPECT_THAT(sum(webgpu::from_texture(*gpu, texture, {.channels = "RGB"}), {.axes = {0, 1}}).read(),
              Pointwise(FloatNear(1e-3f), {0.0f, 3.2f, 16.0f}));
}

TEST_P(WebGpuIn, TexturesThatDoNotFitAreRefused) {
  const WGPUTexture texture = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, sampled);
  EXPECT_TESSERA_ERROR(webgpu::from_texture(*gpu, nullptr), invalid_argument, "from_texture", "null");
  for (const char* channels : {"", "RR", "XYZ", "rgb", "RGBAR"})
    EXPECT_TESSERA_ERROR(webgpu::from_texture(*gpu, texture, {.channels = channels}), invalid_argument, "channels");
  EXPECT_TESSERA_ERROR(
      webgpu::from_texture(*gpu, host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_CopyDst)),
      invalid_argument, "TextureBinding");
  EXPECT_TESSERA_ERROR(
      webgpu::from_texture(*gpu, host->texture(2, 2, WGPUTextureFormat_Depth32Float, WGPUTextureUsage_TextureBinding)),
      unsupported, "Depth32Float", "\"RGBA\"", "\"D\"");
  Host other(GetParam());
  EXPECT_TESSERA_ERROR(webgpu::from_texture(*gpu, other.texture(2, 2, WGPUTextureFormat_RGBA8Unorm, sampled)),
                       invalid_argument, "another device");
  EXPECT_THAT(other.errors, IsEmpty());
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  EXPECT_TESSERA_ERROR(webgpu::from_texture(cpu, texture), wrong_backend, "from_texture", "webgpu", "cpu");
}

TEST_P(WebGpuIn, ATextureThatTheHostDestroyedIsAnErrorAndNoMore) {
  const WGPUTexture texture = host->texture(2, 2, WGPUTextureFormat_RGBA8Unorm, sampled);
  const Tensor blurred = gaussian_blur(webgpu::from_texture(*gpu, texture), 1);
  wgpuTextureDestroy(texture);
  EXPECT_TESSERA_ERROR(blurred.compute(), invalid_argument, "estroyed");
  EXPECT_TESSERA_ERROR(blurred.read(), invalid_argument, "estroyed");
  EXPECT_THAT((gpu->full({3}, 1) + 1.0f).read(), Each(2.0f));
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuIn);

}  // namespace
}  // namespace tessera::test::webgpu_in_test

// Tensors into buffers of a host's, and results in buffers that a host has.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "support/webgpu_host.h"
#include <tessera/testing.h>

namespace tessera::test::webgpu_to_buffer_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class WebGpuToBuffer : public OnHost {
 protected:
  static constexpr WGPUBufferUsage readable = WGPUBufferUsage_CopySrc, copied = readable | WGPUBufferUsage_CopyDst,
                                   stored = readable | WGPUBufferUsage_Storage, any = copied | stored;
  // With these usages and no others.
  WGPUBuffer nines(std::size_t count, WGPUBufferUsage usage) {
    WGPUBufferDescriptor descriptor{};
    descriptor.usage = usage;
    descriptor.size = count * sizeof(float);
    descriptor.mappedAtCreation = true;
    buffers_.push_back(wgpuDeviceCreateBuffer(host->device, &descriptor));
    auto* values = static_cast<float*>(wgpuBufferGetMappedRange(buffers_.back(), 0, descriptor.size));
    std::fill_n(values, count, 9.0f);
    wgpuBufferUnmap(buffers_.back());
    return buffers_.back();
  }
  void TearDown() override {
    for (const WGPUBuffer buffer : buffers_) wgpuBufferRelease(buffer);
    OnHost::TearDown();
  }
  Tensor ramp(std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0.0f);
    return gpu->tensor({count}, values).compute();
  }

 private:
  std::vector<WGPUBuffer> buffers_;
};

TEST_P(WebGpuToBuffer, TheKernelItselfWritesTheBuffer) {
  const WGPUBuffer buffer = nines(76, any);
  const Tensor x = ramp(8), twice = x * 2.0f;
  gpu->reset_stats();
  const std::uint64_t before = gpu->memory().bytes_in_use;
  webgpu::to_buffer(twice, buffer, {.offset = 256});
  EXPECT_EQ(gpu->stats().dispatches, 1u);
  EXPECT_EQ(gpu->stats().submits, 1u);
  EXPECT_FALSE(twice.is_computed());
  EXPECT_EQ(gpu->memory().bytes_peak, before);  // there was no other place
  EXPECT_EQ(gpu->memory().bytes_external, 0u);
  EXPECT_THAT(host->read<float>(buffer, 256, 12), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14, 9, 9, 9, 9));
  EXPECT_THAT(host->read<float>(buffer, 240, 4), Each(9.0f));
  EXPECT_THAT(twice.read(), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));  // the tensor is as good as before
  webgpu::to_buffer(x + 1.0f, nines(8, stored));                      // needs no usage but Storage
}

TEST_P(WebGpuToBuffer, ElsewhereThereIsOneCopy) {
  const Tensor x = ramp(6);
  const WGPUBuffer anywhere = nines(16, any);
  gpu->reset_stats();
  webgpu::to_buffer(x * 2.0f, anywhere, {.offset = 20});  // neither aligned nor whole texels
  EXPECT_EQ(gpu->stats().dispatches, 2u);
  EXPECT_EQ(gpu->stats().submits, 1u);
  EXPECT_THAT(host->read<float>(anywhere, 16, 8), ElementsAre(9, 0, 2, 4, 6, 8, 10, 9));
  const WGPUBuffer only_copies = nines(8, copied);
  webgpu::to_buffer(ramp(8) * 1.5f, only_copies);
  EXPECT_THAT(host->read<float>(only_copies, 0, 3), ElementsAre(0, 1.5f, 3));
  const Tensor done = (ramp(8) + 0.5f).compute();  // was computed before
  const WGPUBuffer after = nines(8, any), only_stored = nines(8, stored);
  webgpu::to_buffer(done, after);
  webgpu::to_buffer(done, only_stored);
  EXPECT_THAT(host->read<float>(after, 0, 2), ElementsAre(0.5f, 1.5f));
  EXPECT_THAT(host->read<float>(only_stored, 0, 2), ElementsAre(0.5f, 1.5f));
}

TEST_P(WebGpuToBuffer, ViewsTypesAndBorrowedTensors) {
  const Tensor bytes = gpu->tensor({12}, std::vector<std::uint8_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}).compute();
  const WGPUBuffer target = host->buffer(std::vector<std::uint8_t>(16, 99), any);
  webgpu::to_buffer(slice(bytes, {3}, {8}), target, {.offset = 4});  // starts within a word
  EXPECT_THAT(host->read<std::uint8_t>(target, 0, 16),
              ElementsAre(99, 99, 99, 99, 3, 4, 5, 6, 7, 8, 9, 10, 99, 99, 99, 99));
  const WGPUBuffer halves = host->buffer(16, any);
  webgpu::to_buffer(ramp(8).cast(DType::f16), halves);
  EXPECT_EQ(static_cast<float>(host->read<half>(halves, 0, 8)[7]), 7.0f);
  // From one buffer of the host's to another, and to itself.
  const WGPUBuffer source = host->buffer(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}, stored);
  const Tensor borrowed = webgpu::from_buffer(*gpu, source, {8});
  const WGPUBuffer other = nines(8, copied);
  webgpu::to_buffer(borrowed, other);
  EXPECT_THAT(host->read<float>(other, 0, 3), ElementsAre(1, 2, 3));
  const WGPUBuffer same = host->buffer(std::vector<float>{1, 2, 3, 4}, any);
  webgpu::to_buffer(webgpu::from_buffer(*gpu, same, {4}) * 10.0f, same);
  EXPECT_THAT(host->read<float>(same, 0, 4), ElementsAre(10, 20, 30, 40));
}

TEST_P(WebGpuToBuffer, ProgramsPixelKernelsAndWhatLaterFramesNeed) {
  const Program program = Program::record(*gpu, {{.shape = {4, 4}}}, [](std::span<const Tensor> in) {
    return std::vector{matmul(in[0], in[0]), in[0] + 1.0f};
  });
  const Tensor ones = gpu->full({4, 4}, 1).compute();
  const WGPUBuffer buffer = nines(16, any);
  const std::vector<Tensor> results = program({ones});
  webgpu::to_buffer(results[0], buffer, {.also_compute = {results[1]}});
  EXPECT_THAT(host->read<float>(buffer, 0, 16), Each(4.0f));
  EXPECT_TRUE(results[1].is_computed());
  const Tensor kept = ones * 3.0f;
  webgpu::to_buffer(kept, buffer, {.also_compute = {kept}});
  EXPECT_TRUE(kept.is_computed());
  EXPECT_THAT(host->read<float>(buffer, 0, 16), Each(3.0f));
  const Tensor image = gpu->full({8, 8, 4}, 0.5).compute();
  const WGPUBuffer pixels = nines(256, any);
  webgpu::to_buffer(gaussian_blur(image, 1), pixels);
  for (const float value : host->read<float>(pixels, 0, 256)) ASSERT_NEAR(value, 0.5f, 1e-5f);
}

TEST_P(WebGpuToBuffer, InTheHostsEncoder) {
  const WGPUBuffer direct = nines(8, any), behind = nines(8, any);
  const Tensor x = ramp(8);
  const WGPUCommandEncoder commands = host->encoder();
  gpu->reset_stats();
  webgpu::to_buffer(x * 2.0f, direct, commands);
  webgpu::to_buffer(slice(x, {0}, {6}) * 3.0f, behind, commands, {.offset = 4});
  EXPECT_EQ(gpu->stats().submits, 0u);
  EXPECT_THAT(host->read<float>(direct, 0, 2), Each(9.0f));  // not yet
  host->submit(commands);
  webgpu::submitted(*gpu);
  EXPECT_THAT(host->read<float>(direct, 0, 8), ElementsAre(0, 2, 4, 6, 8, 10, 12, 14));
  EXPECT_THAT(host->read<float>(behind, 0, 8), ElementsAre(9, 0, 3, 6, 9, 12, 15, 9));
}

TEST_P(WebGpuToBuffer, AHundredFramesAllocateNothing) {
  const WGPUBuffer buffer = nines(64, any);
  const Tensor x = ramp(64);
  const auto frame = [&](int i) { webgpu::to_buffer(x * static_cast<float>(i), buffer); };
  frame(0);
  const MemoryInfo before = gpu->memory();
  for (int i = 1; i <= 100; ++i) {
    frame(i);
    ASSERT_EQ(gpu->memory().bytes_in_use + gpu->memory().bytes_pooled, before.bytes_in_use + before.bytes_pooled);
  }
  EXPECT_EQ(host->read<float>(buffer, 0, 64)[63], 6300.0f);
}

TEST_P(WebGpuToBuffer, ARingOfLentTensorsStaysInItsBuffers) {
  const Tensor x = ramp(16);
  std::vector<webgpu::GpuData> ring;
  for (int i = 0; i < 3; ++i) ring.push_back(webgpu::data_to_gpu(x * 0.0f));
  const std::vector<WGPUBuffer> buffers{ring[0].buffer, ring[1].buffer, ring[2].buffer};
  const MemoryInfo before = gpu->memory();
  for (std::size_t i = 0; i < 100; ++i) {
    (x * static_cast<float>(i)).compute_into(ring[i % 3].tensor_ref);
    ASSERT_EQ(gpu->memory().bytes_in_use + gpu->memory().bytes_pooled, before.bytes_in_use + before.bytes_pooled);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(webgpu::data_to_gpu(ring[i].tensor_ref).buffer, buffers[i]);
    EXPECT_EQ(host->read<float>(buffers[i], 0, 16)[1], i == 0 ? 99.0f : static_cast<float>(96 + i));
  }
  const std::vector<Resident> residents = gpu->why_resident(0);
  EXPECT_EQ(std::count_if(residents.begin(), residents.end(), [](const Resident& each) { return each.is_lent; }), 3);
  // Another handle on what is lent is another reader.
  const webgpu::GpuData second = webgpu::data_to_gpu(ring[0].tensor_ref);
  EXPECT_TESSERA_ERROR((x * 2.0f).compute_into(ring[0].tensor_ref), invalid_argument, "GpuData");
  // Work that the host has yet to submit may read a target.
  const WGPUCommandEncoder commands = host->encoder();
  const Tensor read_later = ring[1].tensor_ref + 1.0f;
  webgpu::encode(std::vector{read_later}, commands);
  EXPECT_TESSERA_ERROR((x * 2.0f).compute_into(ring[1].tensor_ref), invalid_argument, "webgpu::submitted");
  host->submit(commands);
  webgpu::submitted(*gpu);
  (x * 2.0f).compute_into(ring[1].tensor_ref);
  EXPECT_EQ(read_later.read()[1], 98.0f);
}

TEST_P(WebGpuToBuffer, RefusesWhatDoesNotFit) {
  const Tensor x = ramp(8);
  const WGPUBuffer buffer = nines(8, any);
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(x, nullptr), invalid_argument, "webgpu::to_buffer", "null");
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(x, buffer, {.offset = 4}), invalid_argument, "32 bytes", "byte 4", "has 32");
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(slice(x, {0}, {2}), buffer, {.offset = 2}), invalid_argument,
                       "multiples of 4");
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(slice(x, {0}, {3}).cast(DType::u8), buffer), invalid_argument, "3 bytes");
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(slice(x, {0}, {2}), nines(8, stored)), invalid_argument, "CopyDst", "not 2");
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(x, nines(8, WGPUBufferUsage_Vertex)), invalid_argument, "CopyDst");
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(gpu->zeros({0}), buffer), invalid_argument, "webgpu::to_buffer");
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(cpu_context().zeros({8}), buffer), wrong_backend, "webgpu::to_buffer");
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(x, buffer, {.also_compute = {cpu_context().zeros({1})}}), invalid_argument,
                       "to_buffer", "another context");
  Host stranger(GetParam());
  const WGPUBuffer foreign = stranger.buffer(32, copied);
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(x, foreign), invalid_argument, "another device");
  const WGPUBuffer destroyed = nines(8, any);
  wgpuBufferDestroy(destroyed);
  EXPECT_TESSERA_ERROR(webgpu::to_buffer(x * 2.0f, destroyed), invalid_argument, "destroyed");
  webgpu::to_buffer(x * 2.0f, buffer);
  EXPECT_THAT(host->read<float>(buffer, 0, 3), ElementsAre(0, 2, 4));
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuToBuffer);

}  // namespace
}  // namespace tessera::test::webgpu_to_buffer_test

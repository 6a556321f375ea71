#include <gtest/gtest.h>

#include <cstdio>

#include <tessera/tessera.h>
#include <tessera/webgpu.h>

using namespace tessera;

TEST(Interop, ARingOfFrames) {
  auto gpu = Context::create({.prefer = {BackendKind::webgpu}});
  constexpr int height = 4, width = 6;
  const Tensor image = gpu.full({height, width, 4}, 0.5);
  const auto filter = [](const Tensor& x) { return x * 2.0f; };
  WGPUBuffer drawn = nullptr;
  const auto draw_with = [&](WGPUBuffer buffer) { drawn = buffer; };
  int frame = 0;
#include "interop/a_ring_of_frames.inc"
  EXPECT_EQ(slot.tensor_ref.read(), std::vector<float>(height * width * 4, 1));
  EXPECT_EQ(webgpu::data_to_gpu(slot.tensor_ref).buffer, drawn);
}

TEST(Interop, ErrorsAsValues) {
  auto gpu = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor a = gpu.full({2, 3}, 1), b = gpu.full({3, 1}, 2);
  std::vector<float> used;
  const auto use = [&](const std::vector<float>& values) { used = values; };
#include "interop/errors_as_values.inc"
  EXPECT_EQ(used, std::vector<float>(2, 6));
}

TEST(Interop, BetweenTheTwo) {
  auto host = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor frame = host.full({1, 4, 4, 1}, 1), weights = host.full({3, 3, 1, 1}, 1);
#include "interop/between_the_two.inc"
  EXPECT_FALSE(stayed_on_device);  // as they come from the host here
  EXPECT_EQ(shown.read(), std::vector<float>(4, 9));
}

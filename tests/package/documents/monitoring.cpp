#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>

#include <tessera/monitor.h>
#include <tessera/scope.h>
#include <tessera/tessera.h>

using tessera::Tensor;

// Needs a machine with a GPU.
void devices() {
#include "monitoring/devices.inc"
}

namespace {

TEST(Monitoring, WhichTensorTakesTheMemory) {
  auto gpu = tessera::Context::create();
  const Tensor weights = gpu.zeros({1024, 1024}).compute();
#include "monitoring/which_tensor_takes_the_memory.inc"
  ASSERT_EQ(gpu.why_resident().size(), 1u);
  EXPECT_EQ(gpu.why_resident()[0].label, "encoder weights");
}

TEST(Monitoring, Scopes) {
  auto gpu = tessera::Context::create();
  const Tensor x = gpu.full({2, 2}, 1), w = gpu.full({2, 2}, 2);
#include "monitoring/scopes.inc"
  EXPECT_EQ(features.read(), std::vector<float>(4, 4));
}

TEST(Monitoring, TheLog) {
#include "monitoring/the_log.inc"
  EXPECT_EQ(gpu.full({2}, 3).read(), std::vector<float>(2, 3));
}

TEST(Monitoring, Monitor) {
  auto gpu = tessera::Context::create();
  const Tensor image = gpu.full({4}, 1);
  const auto classify = [](const Tensor& x) { return x * 2.0f; };
#include "monitoring/monitor.inc"
  EXPECT_TRUE(std::filesystem::remove("frame.json"));
}

}  // namespace

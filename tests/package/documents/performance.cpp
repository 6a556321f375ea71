#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>

#include <tessera/tessera.h>

namespace {

// On WebGPU, where workgroups share memory.
class Performance : public ::testing::Test {
 protected:
  std::uint64_t kernels_of(const tessera::Tensor& tensor) {
    gpu.reset_stats();
    tensor.compute();
    EXPECT_EQ(gpu.stats().submits, 1u);
    return gpu.stats().dispatches;
  }

  static void SetUpTestSuite() { context_ = tessera::Context::create({.prefer = {tessera::BackendKind::webgpu}}); }
  static void TearDownTestSuite() { context_.reset(); }

  static inline std::optional<tessera::Context> context_;
  tessera::Context& gpu = *context_;
  tessera::Tensor x = gpu.full({256, 256}, 1).compute(), y = gpu.full({256, 256}, 2).compute();
  tessera::Tensor weights = gpu.full({256, 256}, 0.5f).compute(), bias = gpu.full({256}, 1).compute();
};

TEST_F(Performance, SeeItFirst) {
  const tessera::Tensor y = x * 2.0f;
#include "performance/see_it_first.inc"
  EXPECT_EQ(cost.dispatches, 1u);
}

TEST_F(Performance, WhatFuses) {
#include "performance/what_fuses.inc"
  EXPECT_EQ(kernels_of(chain), 1u);
  EXPECT_EQ(kernels_of(layer), 1u);
  EXPECT_EQ(kernels_of(distance), 1u);
  EXPECT_EQ(kernels_of(softmax(x * 2.0f)), 1u);
  EXPECT_EQ(kernels_of(matmul(relu(x), weights)), 2u);
  EXPECT_EQ(kernels_of(x + exp(bias)), 2u);
  EXPECT_EQ(kernels_of(matmul(x, y) + matmul(x, y)), 1u);
}

TEST_F(Performance, Programs) {
#include "performance/programs.inc"
  EXPECT_EQ(second.read(), std::vector<float>(256 * 256, 16513));
  gpu.reset_stats();
  step.run({x});
  EXPECT_EQ(gpu.stats().kernels_compiled, 0u);
  EXPECT_EQ(gpu.stats().submits, 1u);
}

TEST_F(Performance, ReadyBeforeTheFirstFrame) {
  const auto folder = std::filesystem::temp_directory_path() / ("tessera_document_" + std::to_string(getpid()));
  for (const bool is_second : {false, true}) {
#include "performance/ready_before_the_first_frame.inc"
    (fast_start.full({4}, 1) * 2.0f).compute();
    EXPECT_EQ(fast_start.stats().kernels_compiled, is_second ? 0u : 1u);
  }
  std::filesystem::remove_all(folder);
}

TEST_F(Performance, ABudgetForEachFrame) {
  const auto network = tessera::Program::record(gpu, {{.shape = {256, 256}}}, [&](std::span<const tessera::Tensor> in) {
    tessera::Tensor y = in[0];
    for (int i = 0; i < 10; ++i) y = matmul(y, weights) / 128.0f;
    return std::vector{y};
  });
  struct Game {
    bool draws_a_frame() const { return results < 2; }
    void use(const tessera::Tensor& result) {
      EXPECT_EQ(result.read(), std::vector<float>(256 * 256, 1));
      ++results;
    }
    tessera::Tensor camera() const { return image; }

    tessera::Tensor image;
    int results = 0;
  } game{x};
  const tessera::Tensor image = game.camera();
#include "performance/a_budget_for_each_frame.inc"
  EXPECT_EQ(game.results, 2);
}

TEST_F(Performance, Batches) {
  gpu.reset_stats();
#include "performance/batches.inc"
  EXPECT_EQ(gpu.stats().submits, 1u);
}

TEST_F(Performance, Views) {
#include "performance/views.inc"
  EXPECT_EQ(kernels_of(two_kernels), 2u);
  EXPECT_EQ(kernels_of(one_kernel), 1u);
  EXPECT_EQ(kernels_of(relu(transpose(x))), 1u);
  EXPECT_EQ(kernels_of(sum(transpose(x), {.axes = {0}})), 1u);
}

TEST_F(Performance, NarrowTypes) {
#include "performance/when_to_use_narrow_types.inc"
  EXPECT_EQ(small.values.dtype(), tessera::DType::i8);
  gpu.compute(std::vector{small.values, small.scale});
  EXPECT_EQ(kernels_of(y), 2u);
  EXPECT_NEAR(y.read()[0], 128, 0.01);
}

TEST_F(Performance, Trimming) {
  (x * 3.0f).compute();
#include "performance/memory_when_to_trim.inc"
  EXPECT_TRUE(gave_all_back);
}

}  // namespace

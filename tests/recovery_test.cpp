// Lost devices: everything that was computed is there again, and goes on.
#include <cstdlib>
#include <string>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::recovery_test {
namespace {

class Recovery : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    own_ = std::make_unique<Context>(Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver}));
  }
  Context& gpu() { return *own_; }

 private:
  std::unique_ptr<Context> own_;
};

TEST_P(Recovery, UploadedComputedAndPendingTensorsAreThere) {
  const Tensor w = gpu().tensor({2, 2}, {1, 2, 3, 4});
  const Tensor uploaded = gpu().tensor({3}, {1, 2, 3}).compute();
  const Tensor computed = (w * w + 1.0f).compute();
  const Tensor view = slice(computed, {1, 0}, {1, 2}).compute();
  const Tensor filled = gpu().full({3}, 7).compute();
  const Tensor pending = matmul(w, computed), turned = reverse(filled);
  testing::lose_device(gpu());
  EXPECT_EQ(turned.read(), std::vector<float>(3, 7));
  EXPECT_EQ(uploaded.read(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(view.read(), (std::vector<float>{10, 17}));
  EXPECT_EQ(computed.read(), (std::vector<float>{2, 5, 10, 17}));
  EXPECT_EQ(filled.read(), std::vector<float>(3, 7));
  EXPECT_EQ(pending.read(), (std::vector<float>{22, 39, 46, 83}));
  EXPECT_EQ(gpu().stats().device_losses, 1u);
}

TEST_P(Recovery, WhatWasLetGoIsStillKnownToWhatIsHeld) {
  Tensor held;
  std::uint64_t bytes = 0;
  {
    const Tensor source = gpu().tensor({1000}, random_values(1000, -1, 1, 1));
    const Tensor between = sort(source).compute();
    held = (between * 2.0f).compute();
    bytes = gpu().memory().bytes_in_use;
  }
  EXPECT_EQ(gpu().memory().bytes_in_use * 3, bytes);  // just the one that is held
  EXPECT_EQ(gpu().memory().num_tensors, 1);
  const std::vector<float> before = held.read();
  testing::lose_device(gpu());
  EXPECT_EQ(held.read(), before);
  EXPECT_EQ(gpu().memory().bytes_in_use * 3, bytes);  // what it took to rebuild it has gone again
  EXPECT_EQ(gpu().memory().num_tensors, 1);
}

TEST_P(Recovery, ProgramsRunOnAndTheirResultsAreRebuilt) {
  const Tensor weights = gpu().tensor({3}, {1, 10, 100});
  const Program program = Program::record(gpu(), {{.shape = {3}}}, [&](std::span<const Tensor> in) {
    const Tensor y = in[0] * exp(weights * 0.0f) + weights;
    return std::vector{y, slice(y, {1}, {2}), weights * 2.0f};
  });
  const std::vector<Tensor> before = program.run({gpu().full({3}, 1)});
  testing::lose_device(gpu());
  EXPECT_EQ(before[0].read(), (std::vector<float>{2, 11, 101}));
  EXPECT_EQ(before[1].read(), (std::vector<float>{11, 101}));
  EXPECT_EQ(before[2].read(), (std::vector<float>{2, 20, 200}));
  testing::lose_device(gpu());
  const std::vector<Tensor> after = program.run({before[0]});
  EXPECT_EQ(after[0].read(), (std::vector<float>{3, 21, 201}));
  EXPECT_EQ(gpu().stats().device_losses, 2u);
}

TEST_P(Recovery, AReadUnderWayIsStartedAgain) {
  const Tensor x = gpu().tensor({4}, {1, 2, 3, 4});
  auto future = (x * 2.0f).read_async();
  testing::lose_device(gpu());
  EXPECT_EQ(future.get(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_P(Recovery, ALossBeforeAndAfterEverySubmission) {
  // A small application: uploads, states that depend on the frames before, a program, a kernel of its own, a view.
  const Tensor weights = gpu().tensor({4, 4}, random_values(16, -1, 1, 1));
  const Program program = Program::record(gpu(), {{.shape = {2, 4}}}, [&](std::span<const Tensor> in) {
    const Tensor y = softmax(matmul(in[0], weights));
    return std::vector{y, sum(y * in[0], {{1}})};
  });
  const int repetitions = std::getenv("TESSERA_LONG_TESTS") ? 4 : 1;
  const auto application = [&] {
    Tensor state = gpu().full({2, 4}, 0.5f).compute();
    std::vector<float> results;
    for (int frame = 0; frame < repetitions; ++frame) {
      const Tensor input = gpu().tensor({4}, random_values(4, -1, 1, static_cast<unsigned>(frame)));
      state = tanh(matmul(state, weights) + input).compute();
      const std::vector<Tensor> out = program.run({state});
      state = map_kernel("0.5 * a + b", {{"a", out[0]}, {"b", state}}).compute();
      for (const float value : concat(std::vector{out[1], slice(state, {0, 1}, {1, 2}).reshape({2})}).read())
        results.push_back(value);
    }
    gpu().wait();
    return results;
  };
  const std::vector<float> undisturbed = application();
  gpu().reset_stats();
  application();
  const int submissions = static_cast<int>(gpu().stats().submits);
  ASSERT_GE(submissions, 5 * repetitions);
  for (const testing::Moment moment : {testing::Moment::before, testing::Moment::after})
    for (int nth = 1; nth <= submissions; ++nth) {
      gpu().reset_stats();
      testing::lose_device(gpu(), moment, nth);
      EXPECT_EQ(application(), undisturbed) << nth;
      EXPECT_EQ(gpu().stats().device_losses, 1u) << nth;
    }
  EXPECT_TESSERA_ERROR(testing::lose_device(gpu(), testing::Moment::after, 0), invalid_argument, "0");
}

TEST_P(Recovery, LongChainsAreCutByACopyOnTheHost) {
  Tensor state = gpu().full({16}, 0).compute();
  for (int i = 0; i < 3000; ++i) state = (state + 1.0f).compute();
  EXPECT_EQ(state.read(), std::vector<float>(16, 3000));
  EXPECT_LE(gpu().stats().bytes_downloaded, 10u * 64);  // the copies, and what was read
  gpu().reset_stats();
  testing::lose_device(gpu());
  EXPECT_EQ(state.read(), std::vector<float>(16, 3000));
  EXPECT_LE(gpu().stats().ops_fused + gpu().stats().dispatches, 2100u);  // it did not start from the beginning
}

TEST_P(Recovery, LineageKeepsABoundedAmountOnTheHost) {
  // Each frame is uploaded, added to a sum and let go: without a bound all frames would stay for the sum's sake.
  constexpr std::int64_t frame = std::int64_t{4} << 20;
  const std::vector<float> ones(static_cast<std::size_t>(frame), 1);
  Tensor sum = gpu().full({frame}, 0).compute();
  for (int i = 0; i < 24; ++i) {
    sum = (sum + gpu().tensor({frame}, ones)).compute();
    if (i % 8 == 7) gpu().wait();
  }
  testing::lose_device(gpu());
  EXPECT_EQ(slice(sum, {frame - 2}, {2}).read(), std::vector<float>(2, 24));
}

TEST_P(Recovery, TakesNoMoreMemoryThanTheBudgetThatSufficedBefore) {
  const TestDevice device = GetParam();
  constexpr std::int64_t side = 256;  // a quarter of a megabyte
  Context context =
      Context::create({.prefer = {device.backend}, .driver = device.driver, .memory_budget = std::uint64_t{1} << 20});
  const std::vector<float> identity_times_four = [&] {
    std::vector<float> values(side * side, 0);
    for (std::int64_t i = 0; i < side; ++i) values[static_cast<std::size_t>(i * side + i)] = 4;
    return values;
  }();
  Tensor a = context.full({side, side}, 1).compute();
  std::vector<Tensor> weights;
  for (int i = 0; i < 8; ++i) {
    weights.push_back(context.tensor({side, side}, identity_times_four).compute());
    a = (matmul(a, weights.back()) * 0.5f).compute();
  }
  testing::lose_device(context);
  EXPECT_EQ(a.read()[3], 256);
  EXPECT_LE(context.memory().bytes_peak, std::uint64_t{1} << 20);
  EXPECT_EQ((weights[0] + a).read()[1], 256);
}

TEST_P(Recovery, OneOutputOfAKernelMayHaveACopyAndTheOtherNone) {
  const CustomKernel both{.name = "both",
                          .inputs = {"x"},
                          .outputs = {"twice", "half"},
                          .wgsl =
                              "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
                              "@group(0) @binding(1) var<storage, read_write> twice: array<f32>;\n"
                              "@group(0) @binding(2) var<storage, read_write> half: array<f32>;\n"
                              "@compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {\n"
                              "  twice[id.x] = x[id.x] * 2.0;\n  half[id.x] = x[id.x] * 0.5;\n}\n",
                          .glsl =
                              "float twice_at(int i) { return x_at(i) * 2.0; }\n"
                              "float half_at(int i) { return x_at(i) * 0.5; }\n"};
  // So long a lineage that each output gets a copy on the host at once: one in the background, the other before this
  // goes on.
  Tensor x = gpu().tensor({4}, {2, 4, 6, 8});
  for (int i = 0; i < 1024; ++i) x = (x + 0.0f).compute();
  auto made = run_custom(gpu(), both, {.inputs = {{"x", x}}, .outputs = {{"twice", {{4}}}, {"half", {{4}}}}});
  const Tensor twice = made.at("twice"), half = made.at("half");
  gpu().compute(std::vector{half, twice});
  testing::lose_device(gpu());  // before the copy in the background is done
  EXPECT_EQ(half.read(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(twice.read(), (std::vector<float>{4, 8, 12, 16}));
  testing::lose_device(gpu());
  EXPECT_EQ(twice.read(), (std::vector<float>{4, 8, 12, 16}));
  EXPECT_EQ(half.read(), (std::vector<float>{1, 2, 3, 4}));
}

TEST_P(Recovery, CanBeDeclined) {
  const TestDevice device = GetParam();
  Context frail = Context::create({.prefer = {device.backend}, .driver = device.driver, .survive_device_loss = false});
  const Tensor x = frail.tensor({2}, {1, 2}), y = (x + 1.0f).compute();
  testing::lose_device(frail);
  EXPECT_TESSERA_ERROR(y.read(), device_lost, "[2]", "survive_device_loss");
  EXPECT_EQ((frail.full({2}, 1) + 1.0f).read(), std::vector<float>(2, 2));  // and the context goes on
}

TEST_P(Recovery, MessagesTellOfIt) {
  std::string told;
  const TestDevice device = GetParam();
  Context context =
      Context::create({.prefer = {device.backend}, .driver = device.driver, .on_message = [&](const Message& m) {
                         if (m.level == Message::Level::warning) told += m.text;
                       }});
  const Tensor x = context.full({2}, 1).compute();
  testing::lose_device(context);
  x.read();
  EXPECT_NE(told.find("was lost"), std::string::npos) << told;
}

TESSERA_ON_GPU_DEVICES(Recovery);

}  // namespace
}  // namespace tessera::test::recovery_test

// Tiers (Tuning): kernels with constants, which give the same bits as those with parameters.
#include <cmath>
#include <fstream>

#include "support/compare.h"
#include "support/devices.h"
#include "support/temporary_folder.h"
#include <tessera/testing.h>

namespace tessera::test::tiers_test {
namespace {

class TieredKernels : public OnDevice {
 protected:
  // Takes every tier whose results are the same.
  Context start(ContextOptions options = {.tuning = Tuning::eager}) const {
    options.prefer = {GetParam().backend};
    options.driver = GetParam().driver;
    Context gpu = Context::create(options);
    testing::take_all_tiers(gpu);
    testing::try_only(gpu, testing::Tried::tiers);
    return gpu;
  }
};
TESSERA_ON_GPU_DEVICES(TieredKernels);

const std::vector<TensorSpec> input_specs{{{3, 14, 10}}, {{9, 11, 3}}};

std::vector<Tensor> inputs_on(Context& context) {
  std::vector<Tensor> inputs;
  for (const TensorSpec& spec : input_specs)
    inputs.push_back(context.tensor(spec.shape, random_values(static_cast<std::size_t>(spec.shape.size()), -2, 2, 47)));
  return inputs;
}

// Each kind of kernel, on sizes that no tile fits.
std::vector<Tensor> results_of(Context& context, std::span<const Tensor> inputs) {
  const Tensor &x = inputs[0], &image = inputs[1];
  const Tensor bias = context.tensor({10}, random_values(10, -1, 1, 5));
  const Tensor places = context.tensor({4}, std::vector<std::int32_t>{2, 0, 9, 5});
  const Tensor filter = context.tensor({3, 3, 3, 5}, random_values(135, -1, 1, 6));
  return {relu(x * 2.5f + bias) / 3.0f - 0.75f,
          transpose(x, {2, 0, 1}) + 1.5f,
          sum(x * x, {.axes = {1}}),
          softmax(x * 0.5f),
          layer_norm(x) * 2.0f,
          matmul(x, transpose(x, {0, 2, 1})),
          gather(x, places, 2),
          conv2d(image.reshape({1, 9, 11, 3}), filter, {.padding = Padding::same}),
          max_pool(image.reshape({1, 9, 11, 3}), {.size = {3, 3}, .strides = {2, 2}}),
          separable_filter(image.reshape({1, 9, 11, 3}), {0.25f, 0.5f, 0.25f}, {0.1f, 0.7f, 0.3f}) * 1.25f,
          resize_bilinear(image.reshape({1, 9, 11, 3}), 13, 7),
          cumsum(x, 1)};
}

std::vector<std::vector<float>> read_all(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<float>> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.read());
  return values;
}

Program recorded(Context& context) {
  return Program::record(context, input_specs,
                         [&](std::span<const Tensor> inputs) { return results_of(context, inputs); });
}

TEST_P(TieredKernels, GiveTheSameBits) {
  Context gpu = start();
  const Program program = recorded(gpu);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  const auto first = read_all(program.run(inputs));
  program.run(inputs);
  testing::finish_tiers(gpu);
  const Stats tried = gpu.stats();
  EXPECT_GE(tried.tiers_taken, first.size() - 2) << tried.tiers_refused << " were refused";
  EXPECT_EQ(read_all(program.run(inputs)), first);
  EXPECT_EQ(gpu.stats().kernels_compiled, tried.kernels_compiled);
  EXPECT_EQ(gpu.stats().tiers_fallen_back, 0u);

  const auto want = read_all(results_of(cpu_context(), inputs_on(cpu_context())));
  for (std::size_t i = 0; i < want.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_TRUE(all_agree(first[i], want[i], 1e-4f));
  }
}

TEST_P(TieredKernels, FallBackWhereANumberChanges) {
  Context gpu = start();
  const Tensor x = gpu.tensor({5}, {1, 2, 3, 4, 5});
  const auto computed = [&](float number) { return (abs(x * number) + 0.1f).read(); };
  const auto expected = [](float number) {
    std::vector<float> want;
    for (int i = 1; i <= 5; ++i) want.push_back(static_cast<float>(i) * number + 0.1f);
    return want;
  };
  const auto expect_compiled = [&](std::uint64_t kernels) { EXPECT_EQ(gpu.stats().kernels_compiled, kernels); };
  computed(3), computed(3);
  testing::finish_tiers(gpu);
  EXPECT_EQ(gpu.stats().tiers_taken, 1u);
  const std::uint64_t compiled = gpu.stats().kernels_compiled;
  EXPECT_TRUE(all_agree(computed(3), expected(3), 1e-6f));
  EXPECT_EQ(gpu.stats().tiers_fallen_back, 0u);
  for (int i = 1; i < 8; ++i) EXPECT_TRUE(all_agree(computed(7), expected(7), 1e-6f));
  EXPECT_EQ(gpu.stats().tiers_fallen_back, 7u);
  expect_compiled(compiled);

  // A number that changes often is a parameter again, and the others are constants.
  EXPECT_TRUE(all_agree(computed(11), expected(11), 1e-6f));
  testing::finish_tiers(gpu);
  EXPECT_EQ(gpu.stats().tiers_taken, 2u);
  expect_compiled(compiled + 1);
  EXPECT_TRUE(all_agree(computed(13), expected(13), 1e-6f));
  EXPECT_EQ(gpu.stats().tiers_fallen_back, 8u);
  expect_compiled(compiled + 1);
}

TEST_P(TieredKernels, CanBeOff) {
  Context gpu = start({.tuning = Tuning::off});
  const Program program =
      Program::record(gpu, {{{4}}}, [](std::span<const Tensor> in) { return std::vector{in[0] + 1.0f}; });
  for (int i = 0; i < 20; ++i) program.run(std::vector{gpu.zeros({4})});
  testing::finish_tiers(gpu);
  EXPECT_EQ(gpu.stats().tiers_compiled + gpu.stats().tiers_refused, 0u);
}

// Nothing of a trial stays, wherever the device is lost.
TEST_P(TieredKernels, SurviveALostDevice) {
  Context gpu = start({.message_level = Message::Level::error, .tuning = Tuning::eager});
  const Tensor x = gpu.tensor({4}, {1, 2, 3, 4});
  const Program program = Program::record(gpu, {{{4}}}, [](std::span<const Tensor> in) {
    return std::vector{sqrt(in[0] * 4.0f), matmul(in[0].reshape({2, 2}), in[0].reshape({2, 2}))};
  });
  const std::vector<std::vector<float>> want{{2, std::sqrt(8.0f), std::sqrt(12.0f), 4}, {7, 10, 15, 22}};
  for (int round = 0; round < 3; ++round) {
    for (int run = 0; run < 2; ++run) read_all(program.run(std::vector{x}));
    if (round > 0) testing::finish_tiers(gpu);
    testing::lose_device(gpu);
    testing::finish_tiers(gpu);
    const auto results = read_all(program.run(std::vector{x}));
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(all_agree(results[i], want[i], 1e-5f));
  }
  EXPECT_EQ(gpu.stats().device_losses, 3u);
  EXPECT_GT(gpu.stats().tiers_taken, 0u);
}

TEST_P(TieredKernels, TakeNoMoreMemoryThanThereIs) {
  Context gpu = start({.memory_budget = 40'000, .tuning = Tuning::eager});
  const Program program =
      Program::record(gpu, {{{4096}}}, [](std::span<const Tensor> in) { return std::vector{in[0] * 2.0f}; });
  const Tensor x = gpu.full({4096}, 3);
  for (int run = 0; run < 3; ++run) EXPECT_EQ(program.run(std::vector{x})[0].read()[7], 6);
  testing::finish_tiers(gpu);
  EXPECT_EQ(gpu.stats().tiers_refused, 1u);
  EXPECT_EQ(gpu.stats().tiers_compiled, 0u);
}

TEST_P(TieredKernels, DoNotMindADamagedCache) {
  const TemporaryFolder folder;
  std::vector<float> first;
  for (int start_number = 0; start_number < 2; ++start_number) {
    Context gpu = start({.message_level = Message::Level::error, .cache_dir = folder.path(), .tuning = Tuning::eager});
    const Tensor x = gpu.tensor({6}, {1, 2, 3, 4, 5, 6});
    for (int run = 0; run < 3; ++run) {
      const std::vector<float> values = (exp(x * 0.25f) + 0.5f).read();
      if (first.empty()) first = values;
      EXPECT_EQ(values, first);
      if (run == 1) testing::finish_tiers(gpu);
    }
    EXPECT_EQ(gpu.stats().tiers_taken, 1u);
    gpu.close();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
      if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::binary) << "not a kernel";
  }
}

}  // namespace
}  // namespace tessera::test::tiers_test

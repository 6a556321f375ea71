// Tuning::automatic, which is the default: work that lasts gets kernels of its own, and nobody notices.
#include <atomic>
#include <fstream>
#include <thread>

#include "support/compare.h"
#include "support/devices.h"
#include "support/temporary_folder.h"
#include <tessera/testing.h>

namespace tessera::test::tuning_test {
namespace {

using namespace std::chrono_literals;

class AutomaticTuning : public OnDevice {
 protected:
  // Takes whatever gives the same bits, faster or not.
  Context start(ContextOptions options = {}) const {
    options.prefer = {GetParam().backend};
    options.driver = GetParam().driver;
    if (!options.on_message) options.message_level = Message::Level::error;
    Context gpu = Context::create(options);
    testing::take_all_tiers(gpu);
    return gpu;
  }
};
TESSERA_ON_EACH_GPU_BACKEND(AutomaticTuning);

Tensor numbers(Context& context, const Shape& shape, std::uint32_t seed) {
  return context.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), -1, 1, seed));
}

// A layer, and work on pixels.
const std::vector<TensorSpec> input_specs{{{24, 160}}, {{9, 11, 3}}};

std::vector<Tensor> results_of(std::span<const Tensor> in, const Tensor& weights) {
  return {relu(matmul(in[0], weights) + 0.25f), in[1] * 2.5f - reverse(in[1], {1})};
}

Program recorded(Context& context) {
  return Program::record(context, input_specs, [weights = numbers(context, {160, 40}, 1)](std::span<const Tensor> in) {
    return results_of(in, weights);
  });
}

std::vector<Tensor> inputs_on(Context& context) {
  return {numbers(context, input_specs[0].shape, 2), numbers(context, input_specs[1].shape, 3)};
}

std::vector<std::vector<float>> read_all(const std::vector<Tensor>& tensors) {
  std::vector<std::vector<float>> values;
  for (const Tensor& tensor : tensors) values.push_back(tensor.read());
  return values;
}

// Once in a while the device's times come back.
void repeat(Context& gpu, int times, const auto& work) {
  for (int i = 0; i < times; ++i) {
    work();
    if (i % 16 == 0) gpu.wait();
  }
}

// Work goes on for seconds.
void age(Context& gpu, const auto& work) {
  repeat(gpu, 64, work);
  testing::finish_tiers(gpu);  // which would owe the time that is skipped
  testing::move_clock(3s);
  repeat(gpu, 120, work);
  testing::finish_tiers(gpu);
}

std::uint64_t trials(Context& gpu) {
  const Stats stats = gpu.stats();
  return stats.variants_tried + stats.tiers_compiled + stats.tiers_refused;
}

void expect_agreement(const std::vector<std::vector<float>>& got, const std::vector<std::vector<float>>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(all_agree(got[i], want[i], 1e-4f)) << i;
}

std::vector<std::vector<float>> wanted() { return read_all(recorded(cpu_context()).run(inputs_on(cpu_context()))); }

TEST_P(AutomaticTuning, KeepsTheBitsOfWorkThatLasts) {
  Context gpu = start();
  const Program program = recorded(gpu);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  const auto first = read_all(program.run(inputs));
  expect_agreement(first, wanted());
  const auto run = [&] { program.run(inputs); };
  age(gpu, run);
  EXPECT_GT(gpu.stats().variants_tried, 0u);
  for (int round = 0; round < 2; ++round) age(gpu, run);  // with another variant, the plan is a new one
  EXPECT_GT(gpu.stats().tiers_taken, 0u);
  EXPECT_EQ(read_all(program.run(inputs)), first);
  const std::uint64_t compiled = gpu.stats().kernels_compiled;
  age(gpu, run);
  EXPECT_EQ(gpu.stats().kernels_compiled, compiled);
}

// In tiles of two by two pixels (Winograd), sums have other terms.
TEST_P(AutomaticTuning, TakesNoConvolutionsInTiles) {
  std::atomic<int> tried = 0;
  const auto count = [&](const Message& message) {
    if (message.text.find("kernel winograd") != std::string::npos) ++tried;
  };
  Context gpu = start({.on_message = count, .message_level = Message::Level::debug});
  testing::try_only(gpu, testing::Tried::variants);
  const Tensor filter = numbers(gpu, {3, 3, 8, 16}, 1), image = numbers(gpu, {1, 11, 14, 8}, 2);
  const Program program = Program::record(gpu, {{image.shape()}}, [&](std::span<const Tensor> in) {
    return std::vector{relu(conv2d(in[0], filter, {.padding = Padding::same}))};
  });
  const std::vector<float> first = program.run({image})[0].read();
  for (int round = 0; round < 2; ++round) age(gpu, [&] { program.run({image}); });
  EXPECT_GT(gpu.stats().variants_tried, 0u);
  EXPECT_EQ(tried, 0);
  EXPECT_EQ(program.run({image})[0].read(), first);
}

TEST_P(AutomaticTuning, IsForGraphsToo) {
  Context gpu = start();
  const Tensor weights = numbers(gpu, {160, 40}, 1);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  const auto first = read_all(results_of(inputs, weights));
  for (int round = 0; round < 3; ++round) age(gpu, [&] { gpu.compute(results_of(inputs, weights)); });
  EXPECT_GT(gpu.stats().variants_tried, 0u);
  EXPECT_GT(gpu.stats().tiers_taken, 0u);
  EXPECT_EQ(read_all(results_of(inputs, weights)), first);
}

TEST_P(AutomaticTuning, LeavesAloneWhatIsYoungOrSeldom) {
  Context gpu = start();
  const Program program = recorded(gpu);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  const auto run = [&] { program.run(inputs); };
  repeat(gpu, 300, run);
  EXPECT_EQ(trials(gpu), 0u) << "it was not two seconds old";
  gpu.trim();  // the plan with it, but for the program's own
  const Program another = recorded(gpu);
  another.run(inputs);
  testing::move_clock(1h);
  for (int i = 0; i < 60; ++i) another.run(inputs);
  testing::finish_tiers(gpu);
  EXPECT_EQ(trials(gpu), 0u) << "it had not run 64 times";
}

// As on all software devices, whose compilers share the cores and the queue with everything else.
TEST_P(AutomaticTuning, TriesNothingWhereOthersWaitForTheCompiler) {
  Context gpu = open(GetParam());
  ASSERT_TRUE(gpu.device().is_software);
  const Tensor a = numbers(gpu, {256, 256}, 1), b = numbers(gpu, {256, 256}, 2);
  const Program program =
      Program::record(gpu, {{a.shape()}}, [&](std::span<const Tensor> in) { return std::vector{matmul(in[0], b)}; });
  for (int round = 0; round < 2; ++round) age(gpu, [&] { program.run({a}); });
  EXPECT_EQ(trials(gpu), 0u);
}

TEST_P(AutomaticTuning, CanBeOff) {
  Context gpu = start({.tuning = Tuning::off});
  const Program program = recorded(gpu);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  age(gpu, [&] { program.run(inputs); });
  EXPECT_EQ(trials(gpu), 0u);
}

TEST_P(AutomaticTuning, SurvivesALostDevice) {
  Context gpu = start();
  const auto want = wanted();
  const Program program = recorded(gpu);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  const auto run = [&] { program.run(inputs); };
  for (int round = 0; round < 3; ++round) {
    repeat(gpu, 64, run);
    testing::move_clock(3s);
    repeat(gpu, 40 + 30 * round, run);  // on trial, or about to be
    testing::lose_device(gpu);
    expect_agreement(read_all(program.run(inputs)), want);
  }
  EXPECT_EQ(gpu.stats().device_losses, 3u);
  age(gpu, run);
  EXPECT_GT(trials(gpu), 0u);
  expect_agreement(read_all(program.run(inputs)), want);
}

// Runs the program until a variant of its product is on trial.
void run_until_on_trial(Context& gpu, const Program& program, const std::vector<Tensor>& inputs) {
  repeat(gpu, 64, [&] { program.run(inputs); });
  testing::move_clock(3s);
  const auto deadline = std::chrono::steady_clock::now() + 60s;  // kernels are compiled beside
  while (gpu.stats().variants_tried == 0 && std::chrono::steady_clock::now() < deadline) {
    program.run(inputs);
    gpu.wait();
    std::this_thread::sleep_for(1ms);  // the context's lock is free for trials
  }
  EXPECT_GT(gpu.stats().variants_tried, 0u);
}

TEST_P(AutomaticTuning, ClosesWhileATrialIsUnderWay) {
  for (const bool closes : {true, false}) {
    Context gpu = start();
    const Program program = recorded(gpu);
    run_until_on_trial(gpu, program, inputs_on(gpu));
    if (closes) gpu.close();
  }
}

TEST_P(AutomaticTuning, GoesOnAfterATrialWasGivenUp) {  // for its memory
  Context gpu = start();
  const Program program = recorded(gpu);
  const std::vector<Tensor> inputs = inputs_on(gpu);
  const auto first = read_all(program.run(inputs));
  run_until_on_trial(gpu, program, inputs);
  gpu.trim();
  for (int round = 0; round < 2; ++round) age(gpu, [&] { program.run(inputs); });
  EXPECT_GT(gpu.stats().tiers_taken, 0u);
  EXPECT_EQ(read_all(program.run(inputs)), first);
}

TEST_P(AutomaticTuning, TakesNoMoreMemoryThanThereIs) {
  Context gpu = start({.memory_budget = 200'000});
  const Tensor a = numbers(gpu, {64, 256}, 1), b = numbers(gpu, {256, 64}, 2);
  age(gpu, [&] { matmul(a, b).compute(); });
  EXPECT_EQ(gpu.stats().variants_tried, 0u);
  EXPECT_EQ(gpu.stats().tiers_compiled, 0u);
  EXPECT_LE(gpu.memory().bytes_in_use, 200'000u);
}

TEST_P(AutomaticTuning, RemembersItsOwnChoices) {
  const TemporaryFolder folder;
  std::vector<std::vector<float>> first;
  for (const char* start_as : {"eager", "first", "second", "after damage"}) {
    SCOPED_TRACE(start_as);
    const bool is_eager = start_as == std::string("eager"), is_second = start_as == std::string("second");
    Context gpu = start({.cache_dir = folder.path(), .tuning = is_eager ? Tuning::eager : Tuning::automatic});
    testing::try_only(gpu, testing::Tried::variants);
    const Program program = recorded(gpu);
    const std::vector<Tensor> inputs = inputs_on(gpu);
    if (is_eager) {
      for (int run = 0; run < 3; ++run) program.run(inputs);
      testing::finish_tiers(gpu);
      continue;
    }
    const auto values = read_all(program.run(inputs));
    if (first.empty()) first = values;
    EXPECT_EQ(values, first);
    EXPECT_EQ(gpu.stats().variants_remembered, is_second ? 1u : 0u);
    age(gpu, [&] { program.run(inputs); });
    EXPECT_EQ(gpu.stats().variants_tried == 0, is_second);
    gpu.close();
    if (is_second)
      for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
        if (entry.is_regular_file()) std::ofstream(entry.path(), std::ios::binary) << "not a choice";
  }
}

}  // namespace
}  // namespace tessera::test::tuning_test

// Priority::memory under a budget: what is soon made again is forgotten, not moved to the host, and nobody can tell.
#include <random>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::forgetting_test {
namespace {

constexpr std::int64_t side = 512;  // a tensor of 512 x 512 floats is a megabyte
constexpr std::uint64_t megabyte = 1 << 20;

class Forgetting : public OnDevice {
 protected:
  Context with(std::uint64_t budget, Priority priority = Priority::memory) {
    return Context::create(
        {.prefer = {GetParam().backend}, .driver = GetParam().driver, .memory_budget = budget, .priority = priority});
  }
};

std::vector<float> elements(float first) {
  std::vector<float> values(side * side);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + static_cast<float>(i % 7);
  return values;
}

TEST_P(Forgetting, CopiesNothingToTheHost) {
  for (const Priority priority : {Priority::memory, Priority::balanced}) {
    Context context = with(8 * megabyte, priority);
    const Tensor source = context.tensor({side, side}, elements(0));
    std::vector<Tensor> held;
    for (int i = 0; i < 16; ++i) held.push_back((source * static_cast<float>(i) + 1.0f).compute());
    const MemoryInfo memory = context.memory();
    EXPECT_LE(memory.bytes_peak, 8 * megabyte);
    if (priority == Priority::memory && GetParam().backend != BackendKind::cpu) {  // which remembers no operations
      EXPECT_EQ(memory.bytes_spilled, 0u);
      EXPECT_EQ(context.stats().bytes_downloaded, 0u);
    } else {
      EXPECT_GT(memory.bytes_spilled, 0u);
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      EXPECT_EQ((held[i] + 0.5f).read()[13], 6 * static_cast<float>(i) + 1.5f);  // as a part of something
      EXPECT_EQ(held[i].read()[13], 6 * static_cast<float>(i) + 1.0f);           // and by itself
    }
    EXPECT_LE(context.memory().bytes_peak, 8 * megabyte);
    held.clear();
    context.wait();
    EXPECT_LE(context.memory().num_tensors, 1);
  }
}

TEST_P(Forgetting, SparesWhatTakesWork) {
  Context context = with(8 * megabyte);
  const Tensor source = context.tensor({side, side}, elements(0));
  std::vector<Tensor> held;
  for (int i = 0; i < 12; ++i) held.push_back(cumsum(source * static_cast<float>(i), 1).compute());
  EXPECT_GT(context.memory().bytes_spilled, 0u);
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i].read()[3], 6 * static_cast<float>(i));
}

// Made again all at once, they and their sources would take twice the budget: then they go to the host after all.
TEST_P(Forgetting, NeedsNoMoreMemoryThanSpilling) {
  Context context = with(8 * megabyte);
  std::vector<Tensor> held;
  for (int i = 0; i < 12; ++i)
    held.push_back((context.tensor({side, side}, elements(static_cast<float>(i))) * 2.0f).compute());
  if (GetParam().backend != BackendKind::cpu) {
    EXPECT_EQ(context.memory().bytes_spilled, 0u);
  }
  context.compute(held);
  EXPECT_LE(context.memory().bytes_peak, 8 * megabyte);
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i].read()[3], 2 * (static_cast<float>(i) + 3));
  EXPECT_EQ((held[0] + held[11]).read()[0], 22);
}

TEST_P(Forgetting, ReachesWhatProgramsCapture) {
  Context context = with(8 * megabyte);
  const Tensor captured = (context.tensor({side, side}, elements(0)) * 3.0f).compute();
  const Program program = Program::record(context, {{{side, side}, DType::f32}}, [&](std::span<const Tensor> inputs) {
    return std::vector{captured + inputs[0]};
  });
  const Tensor kept = captured + 1.0f;
  for (int round = 0; round < 3; ++round) {
    std::vector<Tensor> others;
    for (int i = 0; i < 10; ++i) others.push_back(context.full({side, side}, static_cast<float>(i)).compute());
    EXPECT_EQ(kept.read()[2], 7);
    EXPECT_EQ(program({others[1]})[0].read()[2], 7);
    EXPECT_EQ(program({captured})[0].read()[2], 12);
  }
}

TEST_P(Forgetting, EndsWhereAProgramCapturesMoreThanFits) {
  Context context = with(5 * megabyte);
  const Program program = Program::record(context, {{{side, side}, DType::f32}}, [&](std::span<const Tensor> inputs) {
    Tensor x = inputs[0];
    for (int i = 0; i < 10; ++i) x = reverse(x + context.full({side, side}, static_cast<float>(i)).compute());
    return std::vector{x};
  });
  for (int round = 0; round < 3; ++round) EXPECT_EQ(program.run({context.full({side, side}, 1)})[0].read()[7], 46);
  EXPECT_LE(context.memory().bytes_peak, 5 * megabyte);
}

TEST_P(Forgetting, RunsProgramsAgainWhoseResultsAreGone) {
  Context context = with(8 * megabyte);
  const Program doubling = Program::record(context, {{{side, side}, DType::f32}}, [](std::span<const Tensor> inputs) {
    return std::vector{inputs[0] * 2.0f};
  });
  Tensor doubled = doubling({context.tensor({side, side}, elements(0))})[0].compute();
  const Tensor captured = (doubled + 1.0f).compute();
  const Program adding = Program::record(context, {{{side, side}, DType::f32}}, [&](std::span<const Tensor> inputs) {
    return std::vector{captured + inputs[0]};
  });
  std::vector<Tensor> others;
  for (int i = 0; i < 10; ++i) {
    others.push_back(context.full({side, side}, static_cast<float>(i)).compute());
    doubled.compute();
    (doubled + 2.0f).compute();  // used last, so that it is there when what is made of it is forgotten
  }
  doubled = {};
  EXPECT_EQ(adding({others[1]})[0].read()[3], 8);
}

class ForgettingOnGpus : public Forgetting {};

TEST_P(ForgettingOnGpus, SurvivesLossesAndSwitches) {
  Context context = with(8 * megabyte);
  std::vector<Tensor> held;
  for (int i = 0; i < 12; ++i)
    held.push_back((context.tensor({side, side}, elements(static_cast<float>(i))) * 2.0f).compute());
  testing::lose_device(context);
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i].read()[1], 2 * (static_cast<float>(i) + 1));
  context.switch_backend(BackendKind::cpu);
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i].read()[1], 2 * (static_cast<float>(i) + 1));
}

TEST_P(Forgetting, CannotBeTold) {
  Context context = with(6 * megabyte);
  constexpr std::size_t ring = 12;
  std::vector<Tensor> got, want;
  for (std::size_t i = 0; i < ring; ++i) {
    const std::vector<float> values = random_values(side * side, -1, 1, static_cast<std::uint32_t>(i));
    got.push_back(context.tensor({side, side}, values));
    want.push_back(cpu_context().tensor({side, side}, values));
  }
  std::mt19937 generator(7);
  const auto pick = [&] { return generator() % ring; };
  for (int step = 0; step < 24; ++step) {
    const std::size_t a = pick(), b = pick(), target = pick();
    const auto kind = generator() % 6;
    const auto next = [&](std::vector<Tensor>& tensors) -> Tensor {
      const Tensor &x = tensors[a], &y = tensors[b];
      switch (kind) {
        case 0: return x * 0.5f + y * 0.25f;
        case 1: return transpose(x) - 0.1f;
        case 2: return slice(concat({x, y}, 0), {100, 0}, {side, side});
        case 3: return sum(x, {{0}, true}) * (1.0f / side) + y;
        case 4: return where(x > y, x, y);
        default: return abs(x);
      }
    };
    got[target] = next(got);
    want[target] = next(want).compute();
    if (generator() % 3 != 0) got[target].compute();
    if (generator() % 8 == 0) {
      const std::size_t read = pick();
      ASSERT_TRUE(all_agree(got[read].read(), want[read].read(), 1e-4f)) << "after step " << step;
    }
    ASSERT_LE(context.memory().bytes_peak, 6 * megabyte) << "after step " << step;
  }
  for (std::size_t i = 0; i < ring; ++i) EXPECT_TRUE(all_agree(got[i].read(), want[i].read(), 1e-4f)) << i;
}

TESSERA_ON_ALL_DEVICES(Forgetting);
TESSERA_ON_GPU_DEVICES(ForgettingOnGpus);

}  // namespace
}  // namespace tessera::test::forgetting_test

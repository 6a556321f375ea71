// Runs of programs in slices: each within its budget, all together as one run.
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "support/compare.h"
#include "support/devices.h"
#include "support/gles_host.h"
#include "support/webgpu_host.h"
#include <tessera/monitor.h>
#include <tessera/testing.h>

namespace tessera::test::slices_test {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t layers = 200;  // a dispatch each

// A chain of products, with layers that are all alike, or of which no two do equal work.
enum class Layers { alike, different };
Program network(Context& context, Layers kind, std::size_t count = layers) {
  const std::int64_t side = kind == Layers::alike ? 16 : 101;
  return Program::record(context, {{.shape = {1, side}}}, [&](std::span<const Tensor> in) {
    Tensor x = in[0];
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t from = x.shape()[1], odd = kind == Layers::alike ? side : static_cast<std::int64_t>(i / 2 + 1);
      const std::int64_t to = i % 2 == 0 ? odd : side;
      const auto most = 2 / std::sqrt(static_cast<float>(from));
      x = matmul(x, context.tensor({from, to}, random_values(static_cast<std::size_t>(from * to), -most, most,
                                                             static_cast<std::uint32_t>(i))));
    }
    return std::vector{x, x * 2.0f + 1.0f};
  });
}

Tensor input_of(Context& context, Layers kind = Layers::alike, std::uint32_t seed = 1) {
  const std::int64_t side = kind == Layers::alike ? 16 : 101;
  return context.tensor({1, side}, random_values(static_cast<std::size_t>(side), -1, 1, seed));
}

// The dispatches of each slice.
std::vector<std::size_t> slices_of(Context& context, const SlicedRun& run, SlicedRun::Budget budget) {
  std::vector<std::size_t> slices;
  for (bool is_done = false; !is_done;) {
    context.reset_stats();
    is_done = run.advance(budget);
    slices.push_back(context.stats().dispatches);
    EXPECT_EQ(context.stats().submits, 1u);
    if (slices.size() > 10 * layers) throw std::runtime_error("a run that does not end");
  }
  return slices;
}

std::size_t sum_of(const std::vector<std::size_t>& slices) {
  return std::accumulate(slices.begin(), slices.end(), std::size_t{0});
}

class Slices : public OnDevice {
 protected:
  Context with(std::uint64_t budget, Priority priority = Priority::balanced) {
    return Context::create(
        {.prefer = {GetParam().backend}, .driver = GetParam().driver, .memory_budget = budget, .priority = priority});
  }
};

TEST_P(Slices, FitIntoTheBudget) {
  const Program program = network(context(), Layers::different);
  const Tensor input = input_of(context(), Layers::different).compute();
  context().reset_stats();
  const std::vector<Tensor> expected = program.run({input});
  const Stats whole = context().stats();
  ASSERT_GE(whole.dispatches, layers);
  std::vector<double> costs;
  for (std::size_t i = 0; i < whole.dispatches; ++i) costs.push_back(1 + static_cast<double>(i * 37 % 10));
  const double budget = std::accumulate(costs.begin(), costs.end(), 0.0) / 10;
  testing::set_costs(program, costs);

  for (int round = 0; round < 3; ++round) {
    const SlicedRun run = program.start({input});
    const std::vector<std::size_t> slices = slices_of(context(), run, SlicedRun::Budget(budget));
    EXPECT_EQ(sum_of(slices), whole.dispatches);
    if (round == 0) {
      EXPECT_EQ(slices, std::vector<std::size_t>(whole.dispatches, 1)) << "nothing is known yet";
    } else {
      EXPECT_LE(slices.size(), 11u);
      std::size_t first = 0;
      for (const std::size_t count : slices) {
        const auto from = costs.begin() + static_cast<std::ptrdiff_t>(first);
        const double cost = std::accumulate(from, from + static_cast<std::ptrdiff_t>(count), 0.0);
        EXPECT_LE(cost, budget);
        first += count;
        if (first < costs.size()) {
          EXPECT_GT(cost + costs[first], budget) << "one more would have fitted";
        }
      }
    }
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(run.results()[i].read(), expected[i].read());
  }
  // Each dispatch takes longer than this budget: one at a time, nevertheless.
  EXPECT_EQ(slices_of(context(), program.start({input}), 1us), std::vector<std::size_t>(whole.dispatches, 1));
  EXPECT_EQ(slices_of(context(), program.start({input}), 1h), std::vector<std::size_t>{whole.dispatches});
}

TEST_P(Slices, GrowOnceADispatchOfItsKindIsKnown) {
  const Program program = network(context(), Layers::alike);
  const Tensor input = input_of(context()).compute();
  const std::vector<float> expected = program.run({input})[0].read();
  testing::set_costs(program, {1});
  const SlicedRun run = program.start({input});
  std::vector<std::size_t> slices = slices_of(context(), run, 20ms);
  // The output that is more than the last product is a kernel of another kind, at the end of the last slice.
  ASSERT_GE(slices.size(), 11u);
  EXPECT_EQ(slices[0], 1u);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_EQ(slices[i], 20u) << i;
  EXPECT_GE(sum_of(slices), layers);
  EXPECT_EQ(run.results()[0].read(), expected);
  slices = slices_of(context(), program.start({input}), 20ms);
  EXPECT_EQ(slices.front(), 20u) << "the second run knows";
}

TEST_P(Slices, FollowWhatIsMeasured) {
  const Program program = network(context(), Layers::alike);
  const Tensor input = input_of(context()).compute();
  std::vector<double> costs(layers, 1);
  costs[0] = 100;  // drivers prepare kernels when they run first
  std::fill(costs.begin() + 22, costs.end(), 5);
  testing::set_costs(program, costs);
  const std::vector<std::size_t> slices = slices_of(context(), program.start({input}), 20ms);
  ASSERT_GE(slices.size(), 6u);
  EXPECT_EQ(std::vector(slices.begin(), slices.begin() + 6), (std::vector<std::size_t>{1, 1, 20, 20, 4, 4}));
}

TEST_P(Slices, AreMeasuredOnTheDevice) {
  Context own = open(GetParam());
  const Program program = network(own, Layers::alike, 20);
  const Tensor input = input_of(own).compute();
  const std::vector<float> expected = program.run({input})[0].read();
  // Drivers cannot time every kernel, such as the first of a context: then it is measured by the next run.
  std::size_t slices = 0;
  for (int round = 0; round < 20 && slices != 1; ++round) {
    const SlicedRun run = program.start({input});
    slices = slices_of(own, run, 1h).size();
    EXPECT_EQ(run.results()[0].read(), expected);
  }
  EXPECT_EQ(slices, 1u) << "all is known";
  EXPECT_GT(slices_of(own, program.start({input}), 1ns).size(), 1u) << "and that it takes time";
}

TEST_P(Slices, AreSeenByMonitors) {
  Context own = open(GetParam());
  const Program program = network(own, Layers::alike, 20);
  const Tensor input = input_of(own).compute();
  program.run({input});
  SlicedRun run = program.start({input});
  run.advance(1h);  // is timed before somebody watches
  std::uint64_t dispatches = own.stats().dispatches;
  {
    Monitor monitor(own);
    while (!run.advance(1ms)) {
    }
    const MonitorReport report = monitor.report({.wait = true});
    std::uint64_t seen = 0;
    for (const TimeStats& kernel : report.kernels) seen += kernel.count;
    EXPECT_EQ(seen, report.stats.dispatches - dispatches);
  }
  Monitor monitor(own, {.kernel_times = false});
  run = program.start({input});
  while (!run.advance(1ms)) {
  }
  EXPECT_TRUE(monitor.report({.wait = true}).kernels.empty()) << "slices have their times, and tell nobody";
}

TEST_P(Slices, GoOnBesideOtherWorkAndEachOther) {
  const Program program = network(context(), Layers::alike);
  testing::set_costs(program, {1});
  std::vector<SlicedRun> runs;
  std::vector<std::vector<float>> expected;
  for (std::uint32_t seed = 1; seed <= 3; ++seed) {
    expected.push_back(program.run({input_of(context(), Layers::alike, seed)})[1].read());
    runs.push_back(program.start({input_of(context(), Layers::alike, seed)}));
  }
  const Tensor x = context().tensor({4}, {1, 2, 3, 4});
  int frames = 0;
  for (std::size_t done = 0; done < runs.size(); ++frames) {
    done = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) done += runs[i].advance(std::chrono::milliseconds(4 + 3 * i));
    EXPECT_EQ((x * static_cast<float>(frames)).read()[3], static_cast<float>(4 * frames));
    EXPECT_EQ(program.run({input_of(context(), Layers::alike, 2)})[1].read(), expected[1]);
  }
  EXPECT_GT(frames, 40);
  for (std::size_t i = 0; i < runs.size(); ++i) EXPECT_EQ(runs[i].results()[1].read(), expected[i]);
  EXPECT_TRUE(runs[0].advance(1ms)) << "there is no more to do";
}

TEST_P(Slices, FromSeveralThreads) {
  const Program program = network(context(), Layers::alike, 40);
  const std::vector<float> expected = program.run({input_of(context())})[0].read();
  const SlicedRun run = program.start({input_of(context())});
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (!run.advance(1us)) EXPECT_GE(run.progress(), 0);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(run.results()[0].read(), expected);
}

TEST_P(Slices, InputsAreComputedAtTheStartAndHeld) {
  const Program program = network(context(), Layers::alike, 10);
  testing::set_costs(program, {1});
  Tensor many = context().tensor({3, 16}, random_values(48, -1, 1, 3));
  const std::vector<float> expected = program.run({slice(many, {1, 0}, {1, 16})})[0].read();
  context().reset_stats();
  const SlicedRun run = program.start({slice(many + 0.0f, {1, 0}, {1, 16})});
  EXPECT_EQ(context().stats().submits, 1u);
  many.dispose();
  context().trim();
  while (!run.advance(1ms)) {
  }
  EXPECT_EQ(run.results()[0].read(), expected);

  // What another program gives, that is not computed yet.
  const Program first = Program::record(context(), {{.shape = {1, 16}}},
                                        [](std::span<const Tensor> in) { return std::vector{in[0] * 0.5f}; });
  const SlicedRun after = program.start({first({input_of(context())})[0]});
  while (!after.advance(1ms)) {
  }
  EXPECT_EQ(after.results()[0].read(), program.run({input_of(context()) * 0.5f})[0].read());
}

TEST_P(Slices, CountExactly) {
  const Program program = network(context(), Layers::alike, 20);
  const Tensor input = input_of(context()).compute();
  program.run({input});
  context().reset_stats();
  program.run({input});
  const Stats whole = context().stats();
  context().reset_stats();
  const SlicedRun run = program.start({input});
  EXPECT_EQ(context().stats().submits, 0u) << "there is nothing to compute";
  std::uint64_t slices = 0;
  for (double before = 0; !run.advance(1ms); before = run.progress()) {
    ++slices;
    EXPECT_GT(run.progress(), before);
    EXPECT_LT(run.progress(), 1);
  }
  EXPECT_EQ(run.progress(), 1);
  const Stats sliced = context().stats();
  EXPECT_EQ(sliced.submits, slices + 1);
  EXPECT_EQ(sliced.dispatches, whole.dispatches);
  EXPECT_EQ(sliced.ops_fused, whole.ops_fused);
  EXPECT_EQ(sliced.kernels_compiled, 0u);
  EXPECT_EQ(sliced.bytes_uploaded + sliced.bytes_downloaded, 0u);
}

TEST_P(Slices, NeedNoMoreMemoryThanOneRun) {
  Context own = open(GetParam());
  const Program program = network(own, Layers::alike);
  const Tensor input = input_of(own).compute();
  testing::set_costs(program, {1});
  program.run({input});
  own.wait();
  const MemoryInfo before = own.memory();
  for (int i = 0; i < 3; ++i) {
    const SlicedRun run = program.start({input});
    while (!run.advance(7ms))
      EXPECT_LE(own.memory().bytes_in_use, before.bytes_in_use + 2 * 64) << "one product is on its way to the next";
  }
  own.wait();
  EXPECT_EQ(own.memory().bytes_in_use, before.bytes_in_use);
  EXPECT_LE(own.memory().bytes_peak, before.bytes_peak);
}

TEST_P(Slices, StartOverOnANewDevice) {
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "the host's memory does not get lost";
  Context own = with(0);
  const Program program = network(own, Layers::alike);
  const Tensor input = input_of(own) * 1.0f;
  const std::vector<float> expected = program.run({input})[0].read();
  testing::set_costs(program, {1});
  const SlicedRun run = program.start({input});
  for (int i = 0; i < 4; ++i) EXPECT_FALSE(run.advance(20ms));
  EXPECT_GT(run.progress(), 0.25);
  testing::lose_device(own);
  EXPECT_FALSE(run.advance(20ms));
  EXPECT_LT(run.progress(), 0.1);
  for (const testing::Moment moment : {testing::Moment::before, testing::Moment::after}) {
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(run.advance(20ms));
    testing::lose_device(own, moment, 1);
    EXPECT_FALSE(run.advance(20ms));
  }
  while (!run.advance(20ms)) {
  }
  EXPECT_EQ(run.results()[0].read(), expected);
  EXPECT_EQ(own.stats().device_losses, 3u);
  testing::lose_device(own);
  EXPECT_EQ(run.results()[0].read(), expected) << "lost afterwards, and rebuilt";
}

TEST_P(Slices, GoAlongToAnotherBackend) {
  Context own = open(GetParam());
  const Program program = network(own, Layers::alike, 30);
  const SlicedRun run = program.start({input_of(own)});
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(run.advance(1us));
  own.switch_backend(BackendKind::cpu);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(run.advance(1us));
  own.switch_backend(GetParam().backend, GetParam().driver);
  while (!run.advance(1us)) {
  }
  EXPECT_EQ(run.results()[0].read(), program.run({input_of(own)})[0].read());
}

TEST_P(Slices, DroppedHalfWayLeaveNothing) {
  Context own = open(GetParam());
  const Program program = network(own, Layers::alike);
  const Tensor input = input_of(own).compute();
  testing::set_costs(program, {1});
  program.run({input});
  own.wait();
  const MemoryInfo before = own.memory();
  const std::int64_t nodes = testing::live_nodes();
  for (int i = 0; i < 5; ++i) {
    const SlicedRun run = program.start({input + 0.0f});
    for (int slices = 0; slices < i; ++slices) EXPECT_FALSE(run.advance(9ms));
    std::thread([gone = std::make_unique<SlicedRun>(run)] {}).join();
  }
  EXPECT_EQ(own.memory().bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(own.memory().num_tensors, before.num_tensors);
  EXPECT_EQ(testing::live_nodes(), nodes);
  EXPECT_EQ(program.run({input})[0].read().size(), 16u);
}

TEST_P(Slices, OfAClosedContext) {
  Context own = open(GetParam());
  const Program program = network(own, Layers::alike, 10);
  const SlicedRun half = program.start({input_of(own)}), all = program.start({input_of(own)});
  EXPECT_FALSE(half.advance(1us));
  while (!all.advance(1us)) {
  }
  const std::vector<Tensor> results = all.results();
  own.close();
  EXPECT_EQ(own.memory().bytes_in_use + own.memory().bytes_pooled, 0u);
  EXPECT_TESSERA_ERROR(half.advance(1ms), invalid_argument, "closed");
  EXPECT_TESSERA_ERROR(half.results(), invalid_argument, "closed");
  EXPECT_TESSERA_ERROR(all.results(), invalid_argument, "closed");
  EXPECT_TESSERA_ERROR(results[0].read(), invalid_argument, "closed");
  EXPECT_TESSERA_ERROR(program.start({input_of(own)}), invalid_argument, "closed");
  EXPECT_EQ(half.progress(), 0) << "of what would have to start over";
}

// The weights alone do not fit.
TEST_P(Slices, WithLittleMemory) {
  constexpr std::int64_t side = 128;
  constexpr std::uint64_t room = 5 * side * side * sizeof(float);
  for (const Priority priority : {Priority::balanced, Priority::memory}) {
    Context own = with(room, priority);
    const Program program = Program::record(own, {{.shape = {side, side}}}, [&](std::span<const Tensor> in) {
      Tensor x = in[0];
      for (int i = 0; i < 10; ++i)
        x = cumsum(x * own.full({side, side}, 0.5f).compute() + own.full({side, side}, 0.25f).compute(), 1);
      return std::vector{x};
    });
    const Tensor input = own.full({side, side}, 0.125f) + 0.0f;
    const std::vector<float> expected = program.run({input})[0].read();
    testing::set_costs(program, {1});
    const SlicedRun first = program.start({input}), second = program.start({input + 0.0f});
    Tensor other;
    for (bool is_done = false; !is_done;) {
      is_done = first.advance(3ms);
      is_done &= second.advance(2ms);
      other = (own.full({side, side}, 1) + 1.0f).compute();  // wants room too
    }
    EXPECT_LE(own.memory().bytes_peak, room);
    EXPECT_EQ(first.results()[0].read(), expected);
    EXPECT_EQ(second.results()[0].read(), expected);
    EXPECT_EQ(other.read()[5], 2);
  }
}

TEST_P(Slices, MakeAgainWhatOtherWorkHadForgotten) {
  constexpr std::int64_t side = 128;
  Context own = with(8 * side * side * sizeof(float), Priority::memory);
  const Tensor captured = (own.tensor({side, side}, std::vector<float>(side * side, 1)) * 3.0f).compute();
  const Program program = Program::record(own, {{.shape = {side, side}}}, [&](std::span<const Tensor> in) {
    Tensor x = in[0];
    for (int i = 0; i < 6; ++i) x = reverse(x) + captured;
    return std::vector{x};
  });
  testing::set_costs(program, {1});
  const SlicedRun run = program.start({own.full({side, side}, 2)});
  for (double before = -1; before < 1;) {
    run.advance(1us);
    EXPECT_GT(run.progress(), before) << "it has started over";
    before = run.progress();
    std::vector<Tensor> others;
    for (int i = 0; i < 10; ++i) others.push_back(own.full({side, side}, static_cast<float>(i)).compute());
  }
  EXPECT_EQ(run.results()[0].read(), std::vector<float>(side * side, 20));
}

TEST_P(Slices, SurviveAllocationsThatFail) {
  Context own = open(GetParam());
  const Program program = network(own, Layers::alike, 30);
  const Tensor input = input_of(own).compute();
  const std::vector<float> expected = program.run({input})[0].read();
  testing::set_costs(program, {1});
  for (int nth = 1; nth <= 4; ++nth) {
    const SlicedRun run = program.start({input});
    run.advance(10ms);
    own.trim();  // else nothing had to be allocated
    testing::fail_allocation(own, nth);
    while (!run.advance(5ms)) {
    }
    EXPECT_EQ(run.results()[0].read(), expected);
  }
}

TEST_P(Slices, WithKernelsOnTheHost) {
  bool fails = false;
  const CustomKernel on_host{.name = "on_host", .inputs = {"a"}, .outputs = {"b"}, .cpu = [&](const CpuArguments& on) {
                               if (std::exchange(fails, false)) throw std::runtime_error("not now");
                               for (std::size_t i = 0; i < 16; ++i) on.output("b")[i] = on.input("a")[i] + 1;
                             }};
  const Program program = Program::record(context(), {{.shape = {1, 16}}}, [&](std::span<const Tensor> in) {
    Tensor x = in[0];
    for (int i = 0; i < 4; ++i)
      x = cumsum(
          run_custom(context(), on_host, {.inputs = {{"a", cumsum(x, 1)}}, .outputs = {{"b", {{1, 16}}}}}).at("b"), 1);
    return std::vector{x};
  });
  const Tensor input = input_of(context()).compute();
  context().reset_stats();
  const std::vector<float> expected = program.run({input})[0].read();
  const std::uint64_t dispatches = context().stats().dispatches;
  for (const SlicedRun::Budget budget : {SlicedRun::Budget(1us), SlicedRun::Budget(1h), SlicedRun::Budget(1h)}) {
    const SlicedRun run = program.start({input});
    context().reset_stats();
    while (!run.advance(budget)) {
    }
    EXPECT_EQ(context().stats().dispatches, dispatches);
    EXPECT_EQ(run.results()[0].read(), expected);
  }
  const SlicedRun run = program.start({input});
  fails = true;
  EXPECT_THROW(while (!run.advance(1us)){}, std::runtime_error);
  while (!run.advance(1us)) {
  }
  EXPECT_EQ(run.results()[0].read(), expected);
}

TEST_P(Slices, OfProgramsThatHaveNothingToDo) {
  const Program same = Program::record(context(), {{.shape = {2}}, {.shape = {0, 3}}}, [&](std::span<const Tensor> in) {
    return std::vector{in[0], in[1], in[1] + 1.0f, context().full({2}, 7)};
  });
  const SlicedRun run = same.start({context().tensor({2}, {1, 2}), context().zeros({0, 3})});
  EXPECT_EQ(run.progress(), 0);
  EXPECT_TRUE(run.advance(1ms));
  EXPECT_EQ(run.results()[0].read(), (std::vector<float>{1, 2}));
  EXPECT_TRUE(run.results()[2].read().empty());
  EXPECT_EQ(run.results()[3].read(), std::vector<float>(2, 7));

  const Program none = Program::record(context(), {}, [](std::span<const Tensor>) { return std::vector<Tensor>(); });
  const SlicedRun empty = none.start({});
  EXPECT_TRUE(empty.advance(1ms));
  EXPECT_TRUE(empty.results().empty());

  const Program sums = Program::record(context(), {{.shape = {0, 3}}},
                                       [](std::span<const Tensor> in) { return std::vector{sum(cumsum(in[0], 1))}; });
  const SlicedRun of_nothing = sums.start({context().zeros({0, 3})});
  while (!of_nothing.advance(1ms)) {
  }
  EXPECT_EQ(of_nothing.results()[0].read(), std::vector<float>{0});
}

TEST_P(Slices, BadInput) {
  const Program program = network(context(), Layers::alike, 10);
  EXPECT_TESSERA_ERROR(program.start({}), invalid_argument, "1", "0");
  EXPECT_TESSERA_ERROR(program.start({context().zeros({3, 2})}), shape_mismatch, "[3,2]", "[1,16]");
  const SlicedRun run = program.start({input_of(context())});
  EXPECT_TESSERA_ERROR(run.advance(0ms), invalid_argument, "advance", "0 ms");
  EXPECT_TESSERA_ERROR(run.advance(-2ms), invalid_argument, "-2 ms");
  EXPECT_TESSERA_ERROR(run.advance(SlicedRun::Budget(std::nan(""))), invalid_argument, "budget");
  EXPECT_TESSERA_ERROR(run.results(), invalid_argument, "results", "0 of its", "advance()");
  EXPECT_FALSE(run.advance(1us));
  EXPECT_TESSERA_ERROR(run.results(), invalid_argument, "1 of its");
  while (!run.advance(1.5ms)) {
  }
  EXPECT_EQ(run.results().size(), 2u);
  SlicedRun moved = run;
  const SlicedRun kept = std::move(moved);
  EXPECT_TESSERA_ERROR(moved.advance(1ms), invalid_argument, "SlicedRun", "moved");  // NOLINT
  EXPECT_EQ(kept.progress(), 1);
}

TESSERA_ON_ALL_DEVICES(Slices);

#if TESSERA_HAS_WEBGPU
class SlicesOnWebGpuHost : public OnHost {};

TEST_P(SlicesOnWebGpuHost, WithoutTimersAreMeasuredByTheHost) {
  ASSERT_FALSE(wgpuDeviceHasFeature(host->device, WGPUFeatureName_TimestampQuery));
  const Program program = network(*gpu, Layers::alike, 20);
  const Tensor input = input_of(*gpu).compute();
  gpu->reset_stats();
  const std::vector<float> expected = program.run({input})[0].read();
  ASSERT_EQ(gpu->stats().dispatches, 21u) << "with the second output, which is of another kind";
  // Each kind is measured twice.
  for (const auto& slices : {std::vector<std::size_t>{1, 1, 18, 1}, {20, 1}, {21}, {21}}) {
    const SlicedRun run = program.start({input});
    EXPECT_EQ(slices_of(*gpu, run, 1h), slices);
    EXPECT_EQ(run.results()[0].read(), expected);
  }
  EXPECT_EQ(slices_of(*gpu, program.start({input}), 1ns), std::vector<std::size_t>(21, 1)) << "which takes time";
}

TEST_P(SlicesOnWebGpuHost, InputsInBuffersOfTheHostAreCopied) {
  const Program program = network(*gpu, Layers::alike, 10);
  const std::vector<float> values = random_values(16, -1, 1, 1), others = random_values(16, -1, 1, 2);
  const WGPUBuffer buffer = host->buffer(values, WGPUBufferUsage_Storage | WGPUBufferUsage_CopyDst);
  const Tensor input = webgpu::from_buffer(*gpu, buffer, {1, 16});
  const std::vector<float> expected = program.run({input})[0].read();
  const SlicedRun run = program.start({input});
  wgpuQueueWriteBuffer(host->queue, buffer, 0, others.data(), others.size() * sizeof(float));
  while (!run.advance(1us)) {
  }
  EXPECT_EQ(run.results()[0].read(), expected);
}

TESSERA_ON_WEBGPU_DEVICES(SlicesOnWebGpuHost);
#endif

#if TESSERA_HAS_GLES
class SlicesOnGlesHost : public OnGlesHost {};

TEST_P(SlicesOnGlesHost, AreMeasuredAmongQueriesOfTheHost) {
  if (!host().is_desktop() && !gl().EXT_disjoint_timer_query) GTEST_SKIP() << "this context has no timers";
  const Program program = network(gpu(), Layers::alike, 20);
  const Tensor input = input_of(gpu()).compute();
  const std::vector<float> expected = program.run({input})[0].read();
  GLuint query = 0;
  gl().GenQueries(1, &query);
  gl().BeginQuery(GL_TIME_ELAPSED_EXT, query);
  {
    Monitor monitor(gpu());
    std::size_t slices = 0;
    for (int round = 0; round < 20 && slices != 1; ++round) {
      const SlicedRun run = program.start({input});
      slices = slices_of(gpu(), run, 1h).size();
      EXPECT_EQ(run.results()[0].read(), expected);
    }
    EXPECT_EQ(slices, 1u) << "all is known";
    EXPECT_FALSE(monitor.report({.wait = true}).kernels.empty());
  }
  gl().EndQuery(GL_TIME_ELAPSED_EXT);
  host().expect_no_error("a query around slices");
  GLuint64 nanoseconds = 0;
  const char* const name = host().is_desktop() ? "glGetQueryObjectui64v" : "glGetQueryObjectui64vEXT";
  host().find<PFNGLGETQUERYOBJECTUI64VEXTPROC>(name)(query, GL_QUERY_RESULT, &nanoseconds);
  EXPECT_GT(nanoseconds, 0u);
}

TESSERA_ON_GLES_DEVICES(SlicesOnGlesHost);
#endif

}  // namespace
}  // namespace tessera::test::slices_test

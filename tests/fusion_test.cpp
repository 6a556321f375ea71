// How many dispatches, submissions and bytes it takes.
#include <numeric>
#include <tuple>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::fusion_test {
namespace {

class Fusion : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped()) context().trim();
  }

  // Computes, counts, and gives the numbers of dispatches and submissions.
  std::pair<std::uint64_t, std::uint64_t> cost(std::span<const Tensor> tensors) {
    context().reset_stats();
    context().compute(tensors);
    const Stats stats = context().stats();
    return {stats.dispatches, stats.submits};
  }
  static constexpr std::pair<std::uint64_t, std::uint64_t> one{1, 1};
};

TEST_P(Fusion, ThreeOperationsAreOneDispatch) {
  const Tensor m1 = context().full({4, 4}, 2).compute(), m2 = context().full({4, 4}, 3).compute();
  const Tensor result = m1.add(m2).mul(5).sub(m1);
  EXPECT_FALSE(result.is_computed());
  EXPECT_EQ(cost(std::vector{result}), one);
  EXPECT_TRUE(result.is_computed());
  EXPECT_EQ(context().stats().ops_fused, 2u);
  EXPECT_EQ(result.read(), std::vector<float>(16, 23));
  EXPECT_EQ(cost(std::vector{result}), std::pair(std::uint64_t{0}, std::uint64_t{0}));
}

TEST_P(Fusion, AHundredOperationsAreOneDispatch) {
  const Tensor x = context().full({1000}, 1).compute(), y = context().full({1000}, 0.5f).compute();
  Tensor chain = x;
  for (int i = 0; i < 50; ++i) chain = chain * 0.5f + y;
  EXPECT_EQ(cost(std::vector{chain}), one);
  EXPECT_TRUE(all_agree(chain.read(), std::vector<float>(1000, 1), 1e-6f));
}

TEST_P(Fusion, ADiamondIsOneDispatch) {
  const Tensor x = context().tensor({3}, {1, 2, 3}).compute();
  const Tensor left = x * 2.0f, right = x + 1.0f, both = left * right, all = both + left - right;
  EXPECT_EQ(cost(std::vector{all}), one);
  EXPECT_EQ(all.read(), (std::vector<float>{4, 13, 26}));
}

TEST_P(Fusion, CastsComparisonsAndSelectionFuse) {
  const Tensor x = context().tensor({5}, {-2, -1, 0, 1, 2}).compute();
  const Tensor y = where(x.cast(DType::i32) > 0.0f, x * 10.0f, -x).cast(DType::u8);
  EXPECT_EQ(cost(std::vector{y}), one);
  EXPECT_EQ(y.read<std::uint8_t>(), (std::vector<std::uint8_t>{2, 1, 0, 10, 20}));
}

TEST_P(Fusion, SmallOperandsOfOneElementFuse) {
  const Tensor x = context().full({100}, 3).compute(), gain = context().full({}, 2).compute();
  EXPECT_EQ(cost(std::vector{x * (gain + 1.0f)}), one);
}

TEST_P(Fusion, WhatIsStretchedIsComputedOnce) {
  const Tensor x = context().full({100, 4}, 1).compute(), row = context().tensor({4}, {0, 1, 2, 3}).compute();
  const Tensor result = x + exp(row);  // 4 exponentials rather than 400
  EXPECT_EQ(cost(std::vector{result}), std::pair(std::uint64_t{2}, std::uint64_t{1}));
  EXPECT_NEAR(result.read()[7], 1 + std::exp(3.0f), 1e-4f);
}

TEST_P(Fusion, SeveralResultsAreOneSubmission) {
  const Tensor x = context().tensor({4}, {1, 2, 3, 4}).compute();
  const Tensor shared = x * x, first = shared + 1.0f, second = shared - 1.0f;
  const auto [dispatches, submits] = cost(std::vector{first, second, shared});
  EXPECT_EQ(submits, 1u);
  EXPECT_EQ(dispatches, 3u);
  EXPECT_EQ(first.read(), (std::vector<float>{2, 5, 10, 17}));
  EXPECT_EQ(second.read(), (std::vector<float>{0, 3, 8, 15}));
  EXPECT_EQ(shared.read(), (std::vector<float>{1, 4, 9, 16}));
}

TEST_P(Fusion, MoreInputsThanADeviceBindsAreSplit) {
  std::vector<Tensor> parts;
  for (int i = 0; i < 40; ++i) parts.push_back(context().full({10}, static_cast<float>(i)).compute());
  Tensor sum = parts[0];
  for (int i = 1; i < 40; ++i) sum = sum + parts[static_cast<std::size_t>(i)];
  const auto [dispatches, submits] = cost(std::vector{sum});
  EXPECT_EQ(submits, 1u);
  EXPECT_LE(dispatches, 6u);
  EXPECT_EQ(sum.read(), std::vector<float>(10, 780));
}

TEST_P(Fusion, OtherNumbersAndSizesCompileNothing) {
  const auto run = [&](std::int64_t rows, std::int64_t columns, float gain) {
    const Tensor x = context().full({rows, columns}, 2).compute(), bias = context().full({columns}, 1).compute();
    return (x * gain + bias).read();
  };
  run(3, 4, 0.5f);
  run(3, 5, 0.5f);  // rows that are no whole texels have a kernel of their own
  context().reset_stats();
  EXPECT_EQ(run(7, 12, 3.0f), std::vector<float>(7 * 12, 7));
  EXPECT_EQ(run(7, 13, 3.0f), std::vector<float>(7 * 13, 7));
  EXPECT_EQ(run(100, 33, -1.0f), std::vector<float>(3300, -1));
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(Fusion, LongGraphsNeedNoDeepStack) {
  Tensor x = context().full({8}, 0);
  for (int i = 0; i < 100000; ++i) x = x + 1.0f;
  EXPECT_EQ(x.read(), std::vector<float>(8, 100000));
  Tensor never_run = context().full({8}, 0);
  for (int i = 0; i < 100000; ++i) never_run = never_run + 1.0f;
}

TEST_P(Fusion, MemoryOfAChainIsItsInputsAndItsResult) {
  const Tensor x = context().full({512, 512}, 1).compute(), y = context().full({512, 512}, 0.5f).compute();
  const std::uint64_t inputs = context().memory().bytes_in_use;
  context().reset_stats();
  Tensor chain = x;
  for (int i = 0; i < 50; ++i) chain = chain * 0.5f + y;
  chain.compute();
  EXPECT_EQ(context().memory().bytes_peak, inputs + inputs / 2);
  EXPECT_EQ(context().memory().bytes_in_use, inputs + inputs / 2);
}

TEST_P(Fusion, MemoryComesBack) {
  const MemoryInfo before = context().memory();
  {
    const Tensor x = context().full({300, 300}, 1).compute();
    EXPECT_EQ(context().memory().num_tensors, before.num_tensors + 1);
    EXPECT_EQ(context().memory().num_bytes, before.num_bytes + 300 * 300 * 4);
  }
  EXPECT_EQ(context().memory().num_tensors, before.num_tensors);
  EXPECT_EQ(context().memory().bytes_in_use, before.bytes_in_use);
  EXPECT_GE(context().memory().bytes_pooled, 300u * 300 * 4);
  context().trim();
  EXPECT_EQ(context().memory().bytes_pooled, 0u);
}

TEST_P(Fusion, ThousandsOfFramesDoNotGrow) {
  const auto frame = [&](float gain) {
    const Tensor x = context().tensor({64}, std::vector<float>(64, 1));
    return (x * gain + 1.0f).read()[63];
  };
  frame(1);
  const MemoryInfo before = context().memory();
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(frame(static_cast<float>(i)), static_cast<float>(i + 1));
  const MemoryInfo after = context().memory();
  EXPECT_EQ(after.num_tensors, before.num_tensors);
  EXPECT_EQ(after.bytes_in_use + after.bytes_pooled, before.bytes_in_use + before.bytes_pooled);
}

TEST_P(Fusion, EqualOperationsRunOnce) {
  const Tensor x = context().tensor({4, 4}, random_values(16, -1, 1, 1)).compute();
  // The sums of the same product, and then of their results, are written out twice, as two models would.
  const auto normalized = [&] { return x / sum(x * x * 2.0f, {{1}, true}); };
  const Tensor both = normalized() + matmul(normalized(), x);
  EXPECT_EQ(cost(std::vector{both}).second, 1u);
  const auto shared = context().stats().dispatches;
  const Tensor once = normalized();
  EXPECT_EQ(cost(std::vector{once + matmul(once, x)}).first, shared);
  EXPECT_EQ(both.read(), (once + matmul(once, x)).read());
  // Numbers that differ make operations that differ.
  const Tensor differ = sum(x * 2.0f) - sum(x * 3.0f);
  EXPECT_TRUE(all_agree((differ + sum(x)).read(), {0}, 1e-5f));
}

TEST_P(Fusion, WantedTwinsShareOneStorage) {
  const Tensor x = context().tensor({100}, random_values(100, -1, 1, 1)).compute();
  const Tensor a = exp(x), b = exp(x);
  const std::uint64_t before = context().memory().num_bytes;
  EXPECT_EQ(cost(std::vector{a, b}), one);
  EXPECT_EQ(context().memory().num_bytes, before + 400);
  EXPECT_EQ(a.read(), b.read());
}

TEST_P(Fusion, AContiguousSliceSharesStorage) {
  const Tensor x = context().tensor({6, 5}, random_values(30, -1, 1, 1)).compute();
  const std::vector<float> values = x.read();
  const std::uint64_t bytes = context().memory().bytes_in_use;
  for (const std::int64_t first : {0, 1, 3, 4}) {  // rows of 5 elements start anywhere in a texel
    const Tensor rows = slice(x, {first, 0}, {2, 5});
    EXPECT_EQ(cost(std::vector{rows}), std::pair(std::uint64_t{0}, std::uint64_t{0}));
    const std::vector<float> expected(values.begin() + first * 5, values.begin() + first * 5 + 10);
    EXPECT_EQ(rows.read(), expected);
    EXPECT_EQ(context().memory().bytes_in_use, bytes);
    const Tensor part = slice(rows, {1, 1}, {1, 3});  // a view of a view
    EXPECT_EQ(part.read(), (std::vector<float>(expected.begin() + 6, expected.begin() + 9)));
    EXPECT_EQ(
        (part * 2.0f + slice(x, {5, 4}, {1, 1})).read(),
        (std::vector<float>{expected[6] * 2 + values[29], expected[7] * 2 + values[29], expected[8] * 2 + values[29]}));
    EXPECT_TRUE(all_agree(sum(rows).read(), {std::accumulate(expected.begin(), expected.end(), 0.0f)}, 1e-5f));
    EXPECT_TRUE(
        all_agree(matmul(rows, transpose(rows)).read(), matmul(rows * 1.0f, transpose(rows * 1.0f)).read(), 1e-5f));
  }
}

TEST_P(Fusion, GraphsOfAKnownFormReuseTheirPlan) {
  const auto step = [&](const Tensor& x, float gain) { return softmax(x * gain + 1.0f); };
  context().compute(std::vector{step(context().full({3, 8}, 1).compute(), 1)});
  context().reset_stats();
  for (int i = 2; i < 12; ++i) {
    const auto number = static_cast<float>(i);
    step(context().tensor({3, 8}, random_values(24, -1, 1, static_cast<unsigned>(i))), number).compute();
  }
  EXPECT_GE(context().stats().plans_reused, 9u);
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

// Forms that differ little, in turns: each time they have other numbers, and tensors that are computed, uploaded, parts
// of others, or the same one twice.
TEST_P(Fusion, KnownFormsAreComputedWithWhatTheyAreGiven) {
  const Tensor base = context().tensor({4, 6}, random_values(24, -1, 1, 1)).compute();
  for (int i = 1; i < 6; ++i) {
    const auto number = static_cast<float>(i);
    const std::vector<float> values = random_values(12, -1, 1, static_cast<unsigned>(i));
    const Tensor uploaded = context().tensor({2, 6}, values), part = slice(base, {i % 3, 0}, {2, 6});
    const Tensor computed = (uploaded + 0.5f).compute();
    const std::vector<float> parts = part.read();
    const auto expect = [&](const Tensor& result, const auto& of_element) {
      std::vector<float> expected;
      for (std::size_t k = 0; k < values.size(); ++k) expected.push_back(of_element(values[k], parts[k]));
      EXPECT_TRUE(all_agree(result.read(), expected, 1e-5f)) << i;
    };
    for (int again = 0; again < 2; ++again) {
      expect(uploaded * number + part, [&](float x, float y) { return x * number + y; });
      expect(part * number + uploaded, [&](float x, float y) { return y * number + x; });
      expect(part * number + part, [&](float, float y) { return y * number + y; });
      expect(computed * number + part, [&](float x, float y) { return (x + 0.5f) * number + y; });
      expect((computed * number + part) * 2.0f, [&](float x, float y) { return ((x + 0.5f) * number + y) * 2; });
      expect(computed * number - part, [&](float x, float y) { return (x + 0.5f) * number - y; });
    }
  }
}

// A binary tree: on the way from its root to its leaves, all of these are read at a time.
Tensor sum_of_pairs_of_sums(std::vector<Tensor> level) {
  while (level.size() > 1) {
    std::vector<Tensor> sums;
    for (std::size_t i = 0; i < level.size(); i += 2) sums.push_back(level[i] + level[i + 1]);
    level = sums;
  }
  return level[0];
}

TEST_P(Fusion, AWideGraphOnFewTensorsIsOneKernel) {
  const Tensor a = context().full({100}, 1).compute(), b = context().full({100}, 2).compute();
  std::vector<Tensor> leaves;
  for (int i = 0; i < 64; ++i) leaves.push_back((i % 2 ? a : b) * static_cast<float>(i));
  const Tensor sum = sum_of_pairs_of_sums(leaves);
  context().reset_stats();
  sum.compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  EXPECT_EQ(sum.read(), std::vector<float>(100, 1024 + 2 * 992));
}

TEST_P(Fusion, AWideGraphOnManyTensorsStaysWithinTheLimits) {
  std::vector<Tensor> leaves;
  for (int i = 0; i < 64; ++i) leaves.push_back(context().full({100}, static_cast<float>(i)).compute() * 2.0f);
  const Tensor sum = sum_of_pairs_of_sums(leaves);
  context().reset_stats();
  sum.compute();
  EXPECT_LE(context().stats().dispatches, 12u);
  EXPECT_EQ(sum.read(), std::vector<float>(100, 2 * 2016));
}

TESSERA_ON_EACH_BACKEND(Fusion);

}  // namespace
}  // namespace tessera::test::fusion_test

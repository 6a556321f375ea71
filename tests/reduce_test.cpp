// Reductions over any axes, against plain loops and against published definitions.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::reduce_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

class Reductions : public OnDevice {
 protected:
  // Reduces with plain loops in double: combine(total, value), from the first element on.
  static std::vector<float> by_hand(const std::vector<float>& values, const Shape& shape, const std::vector<int>& axes,
                                    const std::function<double(double, double)>& combine) {
    std::vector<std::int64_t> strides(static_cast<std::size_t>(shape.rank()), 0);
    std::int64_t outputs = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (!axes.empty() && std::find(axes.begin(), axes.end(), axis) == axes.end()) {
        strides[static_cast<std::size_t>(axis)] = outputs;
        outputs *= shape[axis];
      }
    }
    std::vector<double> totals(static_cast<std::size_t>(outputs));
    std::vector<bool> started(totals.size());
    for (std::int64_t i = 0; i < shape.size(); ++i) {
      std::int64_t rest = i, output = 0;
      for (int axis = shape.rank() - 1; axis >= 0; --axis) {
        output += rest % shape[axis] * strides[static_cast<std::size_t>(axis)];
        rest /= shape[axis];
      }
      const auto at = static_cast<std::size_t>(output);
      totals[at] =
          started[at] ? combine(totals[at], values[static_cast<std::size_t>(i)]) : values[static_cast<std::size_t>(i)];
      started[at] = true;
    }
    return {totals.begin(), totals.end()};
  }

  void check(const Shape& shape, const std::vector<int>& axes) {
    SCOPED_TRACE(shape.to_string() + " over " + std::to_string(axes.size()) + " axes, the first " +
                 std::to_string(axes.empty() ? -1 : axes[0]));
    const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -2, 2, 5);
    const Tensor x = context().tensor(shape, values);
    EXPECT_TRUE(all_agree(sum(x, {axes}).read(), by_hand(values, shape, axes, std::plus<>()), 2e-5f));
    EXPECT_TRUE(all_agree(max(x, {axes}).read(),
                          by_hand(values, shape, axes, [](double a, double b) { return std::max(a, b); }), 0));
    EXPECT_TRUE(all_agree(min(x, {axes}).read(),
                          by_hand(values, shape, axes, [](double a, double b) { return std::min(a, b); }), 0));
    const std::vector<float> near_one = random_values(values.size(), 0.99f, 1.01f, 6);
    EXPECT_TRUE(all_agree(prod(context().tensor(shape, near_one), {axes}).read(),
                          by_hand(near_one, shape, axes, std::multiplies<>()), 1e-4f));
  }
};

TEST_P(Reductions, EverySetOfAxes) {
  const Shape shape{3, 4, 5};
  check(shape, {});
  for (int set = 1; set < 8; ++set) {
    std::vector<int> axes;
    for (int axis = 0; axis < 3; ++axis)
      if (set >> axis & 1) axes.push_back(axis);
    check(shape, axes);
  }
  check({2, 3, 2, 3, 2, 3}, {1, 3, 5});
  check({2, 3, 2, 3, 2, 3}, {0, 2, 4});
}

TEST_P(Reductions, SizesAroundEachStage) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 255, 256, 511, 512, 513, 1023, 1025, 4097}) check({size}, {0});
  check({2, 700}, {1});
  check({700, 3}, {0});
  check({3, 300, 7}, {1});
  check({30, 20, 31}, {0, 2});
  check({70000}, {0});
  // Runs of 32 parts: one of them, several, and elements that are left.
  for (const std::int64_t size : {8191, 8192, 8223, 16384, 33001}) check({size}, {0});
}

// Stretches that lie side by side in the texels of x.
TEST_P(Reductions, Columns) {
  check({7, 12}, {0});
  check({1030, 8}, {0});
  check({5, 600, 4}, {1});
  check({3, 2, 5, 2, 6}, {0, 2});  // the run of kept elements goes over two axes
  check({2, 40, 30, 8}, {1, 2});
  const std::vector<float> values = random_values(2 * 700 * 8, -2, 2, 7);
  const Tensor x = context().tensor({2, 8, 700}, values), number = context().full({8}, 0.5f),
               turned = transpose(x, {0, 2, 1}) + number;  // elements of a texel lie apart in x
  std::vector<float> expected = by_hand(values, {2, 8, 700}, {2}, std::plus<>());
  for (float& total : expected) total = total / 700 + 0.5f;
  EXPECT_TRUE(all_agree(mean(turned, {{1}}).read(), expected, 2e-5f));
}

TEST_P(Reductions, KeepDims) {
  const Tensor x = context().full({2, 3, 4}, 1);
  EXPECT_EQ(sum(x, {.axes = {1}, .keep_dims = true}).shape(), (Shape{2, 1, 4}));
  EXPECT_EQ(sum(x, {.axes = {1}}).shape(), (Shape{2, 4}));
  EXPECT_EQ(sum(x, {.axes = {-1, 0}, .keep_dims = true}).shape(), (Shape{1, 3, 1}));
  EXPECT_EQ(sum(x, {.keep_dims = true}).shape(), (Shape{1, 1, 1}));
  EXPECT_EQ(sum(x).shape(), Shape{});
  EXPECT_EQ(sum(context().full({}, 5)).read(), std::vector<float>{5});
  EXPECT_EQ(x.reshape({24}).shape(), Shape{24});
}

TEST_P(Reductions, TenMillionElementsStayAccurate) {
  const std::int64_t count = 10'000'000;
  std::vector<float> values(static_cast<std::size_t>(count));
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) total += values[i] = 0.1f + static_cast<float>(i % 1000) * 1e-4f;
  const Tensor x = context().tensor({count}, values);
  const float first = sum(x).read()[0];
  EXPECT_NEAR(first / total, 1.0, 1e-6);
  EXPECT_NEAR(mean(x).read()[0] / (total / static_cast<double>(count)), 1.0, 1e-6);
  EXPECT_EQ(sum(x).read()[0], first);  // the same bits each time
}

TEST_P(Reductions, TheMeanOfEqualNumbersIsThatNumber) {
  for (const float number : {3.0f, 0.1f, -0.3f, 1e30f, 1.7e-38f, 16777213.0f, 1 / 3.0f})
    for (const std::int64_t count : {1, 2, 3, 7, 49, 511, 1000, 1025, 20001}) {
      const std::vector<float> values(static_cast<std::size_t>(count), number);
      EXPECT_EQ(mean(context().tensor({count}, values)).read(), std::vector<float>{number}) << count;
    }
  const std::vector<float> values(std::size_t{7} * 1000 * 3, 0.1f);
  const Tensor x = context().tensor({7, 1000, 3}, values);
  for (const std::vector<int>& axes : {std::vector<int>{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}})
    EXPECT_THAT(mean(x, {.axes = axes}).read(), ::testing::Each(0.1f));
  EXPECT_EQ(mean(context().full({300'000}, 0.7f)).read(), std::vector<float>{0.7f});
  EXPECT_EQ(mean(context().full({3'000}, 0.7f, DType::f16)).read(), std::vector<float>{half(0.7f)});
  EXPECT_THAT(global_average_pool(x.reshape({1, 70, 100, 3})).read(), ::testing::Each(0.1f));
}

TEST_P(Reductions, MeansOfNumbersFarApart) {
  constexpr float large = 3e38f;
  const auto mean_of = [&](const std::vector<float>& values) {
    return mean(context().tensor({static_cast<std::int64_t>(values.size())}, values)).read()[0];
  };
  EXPECT_EQ(mean_of({-large, large}), 0);
  EXPECT_EQ(mean_of({1, infinity, 2}), infinity);
  EXPECT_EQ(mean_of({infinity, 1, 2}), infinity);
  EXPECT_EQ(mean_of({-infinity, -infinity}), -infinity);
  EXPECT_TRUE(std::isnan(mean_of({infinity, -infinity})));
  EXPECT_TRUE(std::isnan(mean_of({nan, 1})));
  EXPECT_TRUE(std::isnan(mean_of({1, nan})));
  EXPECT_NEAR(mean_of({1e30f, 1, 2, 1}) / 2.5e29, 1, 1e-6);
  // Parts of a long stretch that have one element more than others count for more.
  for (const std::int64_t count : {513, 1001, 140'003}) {
    std::vector<float> values(static_cast<std::size_t>(count));
    double total = 0;
    for (std::size_t i = 0; i < values.size(); ++i) total += values[i] = i % 2 ? 1000.0f : static_cast<float>(i % 777);
    EXPECT_NEAR(mean_of(values) / (total / static_cast<double>(count)), 1, 1e-6) << count;
  }
}

TEST_P(Reductions, NarrowTypesReduceInWideOnes) {
  // 4096 times 1 in halves would stop at 2048.
  EXPECT_EQ(sum(context().full({4096}, 1, DType::f16)).read(), std::vector<float>{4096});
  EXPECT_EQ(mean(context().full({4096}, 60000, DType::f16)).read(), std::vector<float>{60000});
  EXPECT_EQ(max(context().tensor({4}, std::vector<std::int8_t>{-128, 3, 127, 0})).read<std::int8_t>(),
            std::vector<std::int8_t>{127});
  EXPECT_EQ(min(context().tensor({4}, std::vector<std::uint8_t>{200, 3, 255, 9})).read<std::uint8_t>(),
            std::vector<std::uint8_t>{3});
  EXPECT_EQ(sum(context().tensor({3}, std::vector<std::int32_t>{16777217, 1, 1})).read<std::int32_t>(),
            std::vector<std::int32_t>{16777219});
  EXPECT_EQ(sum(context().tensor({1000}, std::vector<std::uint8_t>(1000, 200)).cast(DType::i32)).read<std::int32_t>(),
            std::vector<std::int32_t>{200000});
  EXPECT_EQ(prod(context().tensor({4}, std::vector<std::int32_t>{65536, 65536, 3, 5})).read<std::int32_t>(),
            std::vector<std::int32_t>{0});
}

TEST_P(Reductions, SpecialValues) {
  EXPECT_TRUE(std::isnan(max(context().tensor({3}, {1, nan, 2})).read()[0]));
  EXPECT_TRUE(std::isnan(min(context().tensor({3}, {nan, 1, 2})).read()[0]));
  EXPECT_EQ(max(context().tensor({3}, {-infinity, -5, -7})).read(), std::vector<float>{-5});
  EXPECT_EQ(sum(context().tensor({3}, {infinity, 1, 2})).read(), std::vector<float>{infinity});
  EXPECT_TRUE(std::isnan(sum(context().tensor({2}, {infinity, -infinity})).read()[0]));
  // Negative numbers at the end of a long stretch: what lies past it must not count.
  EXPECT_EQ(max(context().full({1021}, -3)).read(), std::vector<float>{-3});
  EXPECT_EQ(min(context().full({1021}, 3)).read(), std::vector<float>{3});
}

TEST_P(Reductions, NoElements) {
  EXPECT_EQ(sum(context().zeros({0})).read(), std::vector<float>{0});
  EXPECT_EQ(prod(context().zeros({2, 0}), {{1}}).read(), (std::vector<float>{1, 1}));
  EXPECT_EQ(max(context().zeros({0})).read(), std::vector<float>{-infinity});
  EXPECT_EQ(min(context().zeros({0}, DType::f16)).read(), std::vector<float>{infinity});
  EXPECT_EQ(max(context().zeros({0}, DType::i32)).read<std::int32_t>(), std::vector<std::int32_t>{-2147483647 - 1});
  EXPECT_EQ(min(context().zeros({0}, DType::i32)).read<std::int32_t>(), std::vector<std::int32_t>{2147483647});
  EXPECT_EQ(max(context().zeros({0}, DType::i8)).read(), std::vector<float>{-128});
  EXPECT_EQ(min(context().zeros({0}, DType::i8)).read(), std::vector<float>{127});
  EXPECT_EQ(max(context().zeros({0}, DType::u8)).read(), std::vector<float>{0});
  EXPECT_EQ(min(context().zeros({0}, DType::u8)).read(), std::vector<float>{255});
  EXPECT_TRUE(std::isnan(mean(context().zeros({0})).read()[0]));
  EXPECT_TRUE(sum(context().zeros({0, 3}), {{1}}).read().empty());
  EXPECT_EQ(all(context().zeros({0}, DType::boolean)).read(), std::vector<float>{1});
  EXPECT_TESSERA_ERROR(argmax(context().zeros({2, 0})), invalid_argument, "argmax", "[2,0]");
}

TEST_P(Reductions, AnyAndAll) {
  const std::array<bool, 6> values{true, true, false, false, true, true};
  const Tensor x = context().tensor({3, 2}, values);
  EXPECT_EQ(any(x, {{1}}).read<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(all(x, {{1}}).read<bool>(), (std::vector<bool>{true, false, true}));
  EXPECT_EQ(any(x).read<bool>(), std::vector<bool>{true});
  EXPECT_EQ(all(x).read<bool>(), std::vector<bool>{false});
  EXPECT_EQ(all(x, {{0}}).dtype(), DType::boolean);
}

TEST_P(Reductions, Norms) {
  const Tensor x = context().tensor({2, 2}, {3, -4, 5, 12});
  EXPECT_EQ(l1_norm(x, {{1}}).read(), (std::vector<float>{7, 17}));
  EXPECT_TRUE(all_agree(l2_norm(x, {{1}}).read(), {5, 13}, 1e-6f));
  // From the definition: log(e^1 + e^2 + e^3), and shifted by 1000 without overflow.
  EXPECT_TRUE(all_agree(logsumexp(context().tensor({3}, {1, 2, 3})).read(), {3.40760596f}, 1e-6f));
  EXPECT_TRUE(all_agree(logsumexp(context().tensor({3}, {1001, 1002, 1003})).read(), {1003.40760596f}, 1e-6f));
  EXPECT_EQ(logsumexp(context().full({4}, -infinity)).read(), std::vector<float>{-infinity});
  EXPECT_EQ(logsumexp(context().tensor({2}, {infinity, 0})).read(), std::vector<float>{infinity});
}

TEST_P(Reductions, ArgMaxAndArgMin) {
  const Tensor x = context().tensor({2, 4}, {1, 9, 9, 3, -1, -5, -5, 0});
  EXPECT_EQ(argmax(x).read<std::int32_t>(), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(argmin(x).read<std::int32_t>(), (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(argmax(x, 0).read<std::int32_t>(), (std::vector<std::int32_t>{0, 0, 0, 0}));
  EXPECT_EQ(argmin(x, 0, true).shape(), (Shape{1, 4}));
  EXPECT_EQ(argmax(context().tensor({4}, {1, nan, 3, nan})).read<std::int32_t>(), std::vector<std::int32_t>{1});
  EXPECT_EQ(argmin(context().tensor({3}, std::vector<std::uint8_t>{5, 0, 0})).read<std::int32_t>(),
            std::vector<std::int32_t>{1});
  EXPECT_EQ(argmin(context().tensor({4}, {1, nan, -infinity, nan})).read<std::int32_t>(), std::vector<std::int32_t>{1});
  EXPECT_EQ(argmax(context().tensor({4}, {-1, -0.0f, 0, -infinity})).read<std::int32_t>(),
            std::vector<std::int32_t>{1});  // both zeros are equal
  const Tensor whole = context().tensor({4}, std::vector<std::int32_t>{0, 2147483647, -2147483647 - 1, 2147483647});
  EXPECT_EQ(argmax(whole).read<std::int32_t>(), std::vector<std::int32_t>{1});
  EXPECT_EQ(argmin(whole).read<std::int32_t>(), std::vector<std::int32_t>{2});
}

// Axes that are reduced in rounds: the first of equal ones, wherever the rounds cut the axis.
TEST_P(Reductions, ArgMaxOverLongAxes) {
  struct Axis {
    int outer, count, inner;
  };
  for (const Axis& axis : {Axis{1, 513, 1}, Axis{1, 3001, 1}, Axis{3, 1030, 2}, Axis{1, 150000, 1}}) {
    const int outer = axis.outer, count = axis.count, inner = axis.inner;
    SCOPED_TRACE(count);
    std::vector<float> values = random_values(static_cast<std::size_t>(outer * count * inner), -1, 1, 9);
    for (float& value : values) value = std::round(value * 50);  // many are equal
    std::vector<std::int32_t> largest, smallest;
    for (int o = 0; o < outer; ++o)
      for (int i = 0; i < inner; ++i) {
        const auto at = [&](int along) { return values[static_cast<std::size_t>((o * count + along) * inner + i)]; };
        int high = 0, low = 0;
        for (int along = 1; along < count; ++along) {
          if (at(along) > at(high)) high = along;
          if (at(along) < at(low)) low = along;
        }
        largest.push_back(high);
        smallest.push_back(low);
      }
    const Tensor x = context().tensor({outer, count, inner}, values);
    EXPECT_EQ(argmax(x, 1).read<std::int32_t>(), largest);
    EXPECT_EQ(argmin(x.cast(DType::i32), 1).read<std::int32_t>(), smallest);
  }
  const std::vector<float> equal(2000, 7);
  EXPECT_EQ(argmax(context().tensor({2000}, equal)).read<std::int32_t>(), std::vector<std::int32_t>{0});
}

TEST_P(Reductions, WorkBeforeAndAfterIsPartOfTheKernel) {
  const Tensor x = context().tensor({4, 8}, random_values(32, -1, 1, 2)).compute(),
               bias = context().full({8}, 1).compute();
  context().reset_stats();
  const Tensor result = sqrt(mean(square(x + bias), {{1}}) + 1e-5f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  EXPECT_EQ(context().stats().submits, 1u);
  const std::vector<float> values = x.read(), got = result.read();
  for (std::size_t row = 0; row < 4; ++row) {
    double total = 0;
    for (std::size_t i = 0; i < 8; ++i) total += std::pow(values[8 * row + i] + 1.0, 2);
    EXPECT_NEAR(got[row], std::sqrt(total / 8 + 1e-5), 1e-5);
  }
}

// One kernel for the parts of all tensors, and one for their means and the work on these; a fragment has no siblings,
// so that the parts of each tensor take a kernel on OpenGL ES.
TEST_P(Reductions, EqualOnesOfSeveralTensorsAreOneKernel) {
  for (const std::int64_t count : {4096, 5003, 70000}) {
    SCOPED_TRACE(count);
    std::vector<Tensor> tensors;
    double expected = 0, largest = 0;
    for (std::uint32_t seed = 1; seed <= 3; ++seed) {
      const std::vector<float> values =
          random_values(static_cast<std::size_t>(count), -1, static_cast<float>(seed), seed);
      double total = 0;
      for (const float value : values) total += static_cast<double>(value) * static_cast<double>(value);
      expected += total / static_cast<double>(count);
      largest += static_cast<double>(*std::max_element(values.begin(), values.end()));
      tensors.push_back(context().tensor({count}, values).compute());
    }
    context().reset_stats();
    const Tensor means = (mean(square(tensors[0])) + mean(square(tensors[1])) + mean(square(tensors[2]))).compute();
    EXPECT_EQ(context().stats().dispatches, context().backend() == BackendKind::gles ? 4u : 2u);
    EXPECT_NEAR(means.read()[0], expected, 1e-5);
    EXPECT_NEAR((max(tensors[0]) + max(tensors[1]) + max(tensors[2])).read()[0], largest, 1e-5);
    // Wanted ones are in storages of their own.
    const std::vector<Tensor> each{sum(tensors[0]), sum(tensors[1]), sum(tensors[2])};
    context().compute(each);
    for (std::size_t i = 0; i < each.size(); ++i)
      EXPECT_NEAR(each[i].read()[0] / static_cast<float>(count), mean(tensors[i]).read()[0], 1e-4);
  }
}

TEST_P(Reductions, EqualOnesOfPartsOfOneTensorAreOneKernel) {
  const std::vector<float> values = random_values(5 * 400, -1, 1, 3);
  const Tensor x = context().tensor({5, 400}, values).compute();
  const auto part = [&](std::int64_t row) { return slice(x, {row, 0}, {1, 400}); };
  const Tensor y = context().tensor({3}, {1, 10, 100}).compute();
  context().reset_stats();
  const Tensor total =
      (y * sum(part(3)) + (y + 2.0f) * sum(part(0)) + (y + 3.0f) * sum(part(1)) + y * sum(part(2))).compute();
  EXPECT_EQ(context().stats().dispatches, 2u);
  const std::vector<float> sums = sum(x, {{1}}).read(), got = total.read();
  for (const auto& [index, factor] : {std::pair{0u, 1.0f}, {1u, 10.0f}, {2u, 100.0f}})
    EXPECT_NEAR(got[index], factor * (sums[0] + sums[1] + sums[2] + sums[3]) + 2 * sums[0] + 3 * sums[1],
                1e-3f * factor);
}

// Short ones are part of the kernel that reads the results of all of them, each with the work on its own operand.
TEST_P(Reductions, EqualOnesThatOneKernelReadsArePartOfIt) {
  struct Work {
    Shape shape;
    std::vector<int> axes;
  };
  for (const Work& work :
       {Work{{5, 37}, {1}}, {{64, 12}, {0}}, {{3, 20, 4}, {0, 2}}, {{300}, {0}}, {{6, 50}, {0, 1}}}) {
    SCOPED_TRACE(work.shape.to_string());
    const auto count = static_cast<std::size_t>(work.shape.size());
    const Tensor x = context().tensor(work.shape, random_values(count, -1, 1, 4)).compute(),
                 y = context().tensor(work.shape, random_values(count, -1, 1, 5)).compute();
    const auto sum_of = [&](const Tensor& z) { return sum(z, {.axes = work.axes}); };
    context().reset_stats();
    const Tensor cosine = (sum_of(x * y) / sqrt(sum_of(square(x)) * sum_of(y * y))).compute();
    EXPECT_EQ(context().stats().dispatches, 1u);
    const std::vector<float> product = sum_of(x * y).read(), of_x = sum_of(square(x)).read(),
                             of_y = sum_of(square(y)).read(), got = cosine.read();
    ASSERT_EQ(got.size(), product.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], product[i] / std::sqrt(of_x[i] * of_y[i]), 1e-5);
    // Results of other sizes, other types and other work are not.
    const Tensor mixed = (sum_of(x) + mean(y, {.axes = work.axes}) * max(x, {.axes = work.axes}) -
                          sum_of(y.cast(DType::i32)).cast(DType::f32))
                             .compute();
    const std::vector<float> sums = sum_of(x).read(), means = mean(y, {.axes = work.axes}).read(),
                             largest = max(x, {.axes = work.axes}).read(),
                             whole = sum_of(y.cast(DType::i32).cast(DType::f32)).read(), of_all = mixed.read();
    for (std::size_t i = 0; i < of_all.size(); ++i)
      EXPECT_NEAR(of_all[i], sums[i] + means[i] * largest[i] - whole[i], 1e-4);
  }
}

// None that another one needs is its sibling.
TEST_P(Reductions, EqualOnesInTurn) {
  const std::vector<float> numbers{2, 3, 5, 7};
  std::vector<Tensor> tensors;
  for (const float number : numbers) tensors.push_back(context().full({2000}, number).compute());
  const Tensor two = mean(tensors[0] + 1.0f), three = mean(tensors[1] + 1.0f);
  const Tensor five = mean(tensors[2] * two), seven = mean(tensors[3] * three);
  EXPECT_NEAR((two + three + five + seven + mean(tensors[0] + 1.0f)).read()[0], 3 + 4 + 15 + 28 + 3, 1e-4);
}

TEST_P(Reductions, BadInput) {
  const Tensor x = context().zeros({2, 3});
  EXPECT_TESSERA_ERROR(sum(x, {{2}}), invalid_argument, "sum", "2", "rank 2");
  EXPECT_TESSERA_ERROR(max(x, {{-3}}), invalid_argument, "max", "-3");
  EXPECT_TESSERA_ERROR(sum(x, {{1, -1}}), invalid_argument, "sum", "twice");
  EXPECT_TESSERA_ERROR(argmax(x, 5), invalid_argument, "argmax", "5");
  EXPECT_TESSERA_ERROR(mean(context().zeros({2}, DType::i32)), dtype_mismatch, "mean", "i32");
  EXPECT_TESSERA_ERROR(any(x), dtype_mismatch, "any", "f32");
  EXPECT_TESSERA_ERROR(sum(context().zeros({2}, DType::boolean)), dtype_mismatch, "sum", "boolean");
}

TEST_P(Reductions, AxesOfOneElement) {
  for (const Shape& shape : {Shape{3, 1}, Shape{1, 3}, Shape{5, 1, 2}, Shape{1}, Shape{1, 1}})
    for (int axis = 0; axis < shape.rank(); ++axis) {
      if (shape[axis] != 1) continue;
      SCOPED_TRACE(shape.to_string() + ", axis " + std::to_string(axis));
      const auto values = random_values(static_cast<std::size_t>(shape.size()), -1, 1, 11);
      const Tensor x = context().tensor(shape, values).compute();
      EXPECT_EQ(sum(x, {.axes = {axis}}).read(), values);
      EXPECT_EQ(mean(x, {.axes = {axis}}).read(), values);
      EXPECT_EQ(argmax(x, axis).read<std::int32_t>(), std::vector<std::int32_t>(values.size(), 0));
    }
}

TESSERA_ON_ALL_DEVICES_AND_OPENGL(Reductions);

}  // namespace
}  // namespace tessera::test::reduce_test

// Softmax and normalisations, against plain loops in double and against published definitions.
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::row_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
using Row = std::vector<double>;

// Applies `change` to each row of [outer, count, inner] along the middle axis.
std::vector<float> by_hand(const std::vector<float>& values, std::int64_t count, std::int64_t inner,
                           const std::function<void(Row&)>& change) {
  std::vector<float> result(values.size());
  const auto n = static_cast<std::size_t>(count), step = static_cast<std::size_t>(inner);
  for (std::size_t block = 0; block < values.size(); block += n * step) {
    for (std::size_t first = block; first < block + step; ++first) {
      Row row(n);
      for (std::size_t i = 0; i < n; ++i) row[i] = values[first + i * step];
      change(row);
      for (std::size_t i = 0; i < n; ++i) result[first + i * step] = static_cast<float>(row[i]);
    }
  }
  return result;
}

void softmax_row(Row& row) {
  const double largest = *std::max_element(row.begin(), row.end());
  double total = 0;
  for (const double x : row) total += std::exp(x - largest);
  for (double& x : row) x = std::exp(x - largest) / total;
}

void log_softmax_row(Row& row) {
  softmax_row(row);
  for (double& x : row) x = std::log(x);
}

constexpr double epsilon = 1e-5f;
void layer_norm_row(Row& row) {
  const auto count = static_cast<double>(row.size());
  double mean = 0, variance = 0;
  for (const double x : row) mean += x / count;
  for (const double x : row) variance += (x - mean) * (x - mean) / count;
  for (double& x : row) x = (x - mean) / std::sqrt(variance + epsilon);
}

void rms_norm_row(Row& row) {
  double squares = 0;
  for (const double x : row) squares += x * x / static_cast<double>(row.size());
  for (double& x : row) x /= std::sqrt(squares + epsilon);
}

class Rows : public OnDevice {
 protected:
  // All four operations on [outer, count, inner] along the middle axis.
  void check(std::int64_t outer, std::int64_t count, std::int64_t inner) {
    SCOPED_TRACE(std::to_string(outer) + " x " + std::to_string(count) + " x " + std::to_string(inner));
    const Shape shape = inner == 1 ? Shape{outer, count} : Shape{outer, count, inner};
    const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -3, 3, 7);
    const Tensor x = context().tensor(shape, values);
    EXPECT_TRUE(all_agree(softmax(x, 1).read(), by_hand(values, count, inner, softmax_row), 1e-6f));
    EXPECT_TRUE(all_agree(log_softmax(x, 1).read(), by_hand(values, count, inner, log_softmax_row), 2e-6f));
    if (inner != 1) return;
    EXPECT_TRUE(all_agree(layer_norm(x).read(), by_hand(values, count, inner, layer_norm_row), 5e-6f));
    EXPECT_TRUE(all_agree(rms_norm(x).read(), by_hand(values, count, inner, rms_norm_row), 5e-6f));
  }

  bool has_workgroups() { return context().backend() != BackendKind::gles; }

  // The number of dispatches that `result` takes.
  std::uint64_t dispatches(const Tensor& result) {
    context().reset_stats();
    result.compute();
    return context().stats().dispatches;
  }
};

TEST_P(Rows, EveryLength) {
  for (const std::int64_t count : {1, 2, 3, 4, 5, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1000, 1024, 4097})
    check(3, count, 1);
}

TEST_P(Rows, EveryNumberOfRows) {
  for (const std::int64_t rows : {1, 2, 3, 5, 33, 64, 65, 257}) {
    check(rows, 7, 1);
    check(rows, 66, 1);
    check(rows, 129, 1);
  }
  for (const std::int64_t rows : {1, 2, 5, 17}) check(rows, 1027, 1);
  for (const std::int64_t count : {28, 32, 36, 100, 256}) check(130, count, 1);  // in octets, from 32 on
}

TEST_P(Rows, OtherAxes) {
  check(1, 5, 4);
  check(2, 5, 3);
  check(3, 100, 8);
  check(1, 70, 260);
  check(2, 1025, 12);
}

TEST_P(Rows, EveryAxisOfRankSix) {
  const Shape shape{2, 3, 2, 4, 3, 2};
  const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -2, 2, 3);
  const Tensor x = context().tensor(shape, values);
  for (int axis = 0; axis < 6; ++axis) {
    SCOPED_TRACE(axis);
    std::int64_t inner = 1;
    for (int after = axis + 1; after < 6; ++after) inner *= shape[after];
    EXPECT_TRUE(all_agree(softmax(x, axis).read(), by_hand(values, shape[axis], inner, softmax_row), 1e-6f));
    EXPECT_TRUE(all_agree(softmax(x, axis - 6).read(), softmax(x, axis).read(), 0));
    const std::int64_t from_here = inner * shape[axis];
    EXPECT_TRUE(
        all_agree(layer_norm(x, {.begin_axis = axis}).read(), by_hand(values, from_here, 1, layer_norm_row), 5e-6f));
    EXPECT_TRUE(
        all_agree(rms_norm(x, {.begin_axis = axis}).read(), by_hand(values, from_here, 1, rms_norm_row), 5e-6f));
  }
}

TEST_P(Rows, RowsTooLongForOneWorkgroup) {
  const std::vector<float> values = random_values(80002, -3, 3, 7);
  const Tensor x = context().tensor({2, 40001}, values);
  EXPECT_TRUE(all_agree(softmax(x).read(), by_hand(values, 40001, 1, softmax_row), 1e-6f));
  EXPECT_TRUE(all_agree(layer_norm(x).read(), by_hand(values, 40001, 1, layer_norm_row), 5e-6f));
}

TEST_P(Rows, PublishedValues) {
  // Of the definition: e, e², e³ over their sum, 30.19287485.
  const Tensor x = context().tensor({3}, {1, 2, 3});
  EXPECT_TRUE(all_agree(softmax(x).read(), {0.09003057f, 0.24472847f, 0.66524096f}, 1e-7f));
  EXPECT_TRUE(all_agree(log_softmax(x).read(), {-2.40760596f, -1.40760596f, -0.40760596f}, 5e-7f));
  // ONNX's example of Softmax and LogSoftmax with large numbers.
  const Tensor large = context().tensor({2, 4}, {0, 1, 2, 3, 10000, 10001, 10002, 10003});
  const std::vector<float> expected{0.032058604f, 0.08714432f, 0.23688284f, 0.6439143f};
  std::vector<float> twice = expected;
  twice.insert(twice.end(), expected.begin(), expected.end());
  EXPECT_TRUE(all_agree(softmax(large).read(), twice, 1e-7f));
  EXPECT_TRUE(all_agree(
      log_softmax(large).read(),
      {-3.4401896f, -2.4401896f, -1.4401896f, -0.44018966f, -3.4401896f, -2.4401896f, -1.4401896f, -0.44018966f},
      5e-7f));
  // Mean 2.5, variance 1.25.
  const Tensor four = context().tensor({4}, {1, 2, 3, 4});
  EXPECT_TRUE(
      all_agree(layer_norm(four, {.epsilon = 0}).read(), {-1.34164079f, -0.4472136f, 0.4472136f, 1.34164079f}, 1e-6f));
  EXPECT_TRUE(all_agree(layer_norm(four, {.epsilon = 1}).read(), {-1, -0.33333333f, 0.33333333f, 1}, 1e-6f));
  // The mean of squares is 7.5.
  EXPECT_TRUE(
      all_agree(rms_norm(four, {.epsilon = 0}).read(), {0.36514837f, 0.73029674f, 1.09544512f, 1.46059349f}, 1e-6f));
  EXPECT_TRUE(all_agree(l2_normalize(context().tensor({2, 2}, {3, 4, 0, 0})).read(), {0.6f, 0.8f, 0, 0}, 1e-6f));
  EXPECT_TRUE(all_agree(l2_normalize(context().tensor({2, 2}, {3, 0, 4, 2}), 0).read(), {0.6f, 0, 0.8f, 1}, 1e-6f));
}

TEST_P(Rows, SpecialValues) {
  // In rows of 3 and of 40: too long for each element to read them; and in many of them.
  for (const auto& [rows, count] : {std::array{1, 3}, std::array{1, 40}, std::array{128, 40}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(count));
    const Shape shape{rows, count};
    const auto n = static_cast<std::size_t>(shape.size()), step = static_cast<std::size_t>(count);
    const auto with_first = [&](float first, float rest) {
      std::vector<float> values(n, rest);
      for (std::size_t i = 0; i < n; i += step) values[i] = first;
      return values;
    };
    const auto row = [&](float first, float rest) { return context().tensor(shape, with_first(first, rest)); };
    for (const Tensor& spoilt : {row(nan, 1), row(1, nan), row(infinity, 1), row(-infinity, -infinity)}) {
      for (const float value : softmax(spoilt).read()) EXPECT_TRUE(std::isnan(value));
      for (const float value : log_softmax(spoilt).read()) EXPECT_TRUE(std::isnan(value));
    }
    const auto others = static_cast<float>(count - 1);
    const std::vector<float> masked = with_first(0, 1 / others), log_masked = with_first(-infinity, -std::log(others));
    EXPECT_TRUE(all_agree(softmax(row(-infinity, 5)).read(), masked, 1e-6f));
    EXPECT_TRUE(all_agree(log_softmax(row(-infinity, 5)).read(), log_masked, 1e-6f));
    EXPECT_TRUE(all_agree(softmax(row(-3e38f, 3e38f)).read(), masked, 1e-6f));
    for (const Tensor& spoilt : {row(nan, 1), row(infinity, 1)}) {
      for (const float value : layer_norm(spoilt).read()) EXPECT_TRUE(std::isnan(value));
    }
    EXPECT_TRUE(all_agree(layer_norm(row(7, 7)).read(), std::vector<float>(n, 0), 0));
    EXPECT_TRUE(all_agree(rms_norm(row(0, 0)).read(), std::vector<float>(n, 0), 0));
  }
  // One row's numbers stay out of the next: rows that share a texel.
  EXPECT_TRUE(all_agree(softmax(context().tensor({3, 3}, {nan, 1, 1, 2, 2, 2, infinity, 1, 1})).read(),
                        {nan, nan, nan, 1 / 3.0f, 1 / 3.0f, 1 / 3.0f, nan, nan, nan}, 1e-6f));
}

TEST_P(Rows, FarFromZeroStaysAccurate) {
  for (const auto& [rows, count] : {std::array{2, 9}, std::array{2, 100}, std::array{2, 1027}, std::array{2, 4096},
                                    std::array{128, 100}, std::array{128, 512}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(count));
    std::vector<float> values = random_values(static_cast<std::size_t>(rows * count), -1, 1, 4);
    for (float& value : values) value += 1e4f;
    EXPECT_TRUE(all_agree(layer_norm(context().tensor({rows, count}, values)).read(),
                          by_hand(values, count, 1, layer_norm_row), 1e-5f));
  }
}

TEST_P(Rows, Halves) {
  for (const std::int64_t count : {5, 300}) {
    SCOPED_TRACE(count);
    const std::vector<half> values = as<half>(random_values(static_cast<std::size_t>(3 * count), -3, 3, 7));
    const std::vector<float> wide(values.begin(), values.end());
    const Tensor x = context().tensor({3, count}, values);
    ASSERT_EQ(softmax(x).dtype(), DType::f16);
    EXPECT_TRUE(all_agree(softmax(x).read(), by_hand(wide, count, 1, softmax_row), 1e-3f));
    EXPECT_TRUE(all_agree(log_softmax(x).read(), by_hand(wide, count, 1, log_softmax_row), 1e-3f));
    const Tensor gamma = context().full({count}, 2, DType::f16), beta = context().full({count}, 1, DType::f16);
    const Tensor normalized = layer_norm(x, {.gamma = gamma, .beta = beta});
    ASSERT_EQ(normalized.dtype(), DType::f16);
    std::vector<float> expected = by_hand(wide, count, 1, layer_norm_row);
    for (float& value : expected) value = 2 * value + 1;
    EXPECT_TRUE(all_agree(normalized.read(), expected, 1e-3f));
    EXPECT_TRUE(all_agree(rms_norm(x).read(), by_hand(wide, count, 1, rms_norm_row), 1e-3f));
  }
  // Squares and sums that halves cannot hold.
  EXPECT_TRUE(all_agree(rms_norm(context().full({500}, 300, DType::f16)).read(), std::vector<float>(500, 1), 1e-3f));
  EXPECT_EQ(lrn(context().full({1, 2}, 3, DType::f16), {.beta = 1}).dtype(), DType::f16);
  EXPECT_EQ(instance_norm(context().full({1, 2, 2}, 3, DType::f16)).dtype(), DType::f16);
}

TEST_P(Rows, GammaAndBeta) {
  const std::vector<float> values = random_values(60, -2, 2, 8), gains = random_values(12, 0.5f, 2, 9),
                           shifts = random_values(12, -1, 1, 10);
  const Tensor x = context().tensor({5, 3, 4}, values), gamma = context().tensor({3, 4}, gains),
               beta = context().tensor({3, 4}, shifts);
  std::vector<float> expected = by_hand(values, 12, 1, layer_norm_row);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = expected[i] * gains[i % 12] + shifts[i % 12];
  EXPECT_TRUE(all_agree(layer_norm(x, {.gamma = gamma, .beta = beta, .begin_axis = 1}).read(), expected, 1e-5f));
  expected = by_hand(values, 12, 1, rms_norm_row);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= gains[i % 12];
  EXPECT_TRUE(all_agree(rms_norm(x, {.gamma = gamma, .begin_axis = 1}).read(), expected, 1e-5f));
}

TEST_P(Rows, BatchNorm) {
  // (x - mean) / sqrt(variance + epsilon) * gamma + beta, channel by channel.
  const Tensor x = context().tensor({1, 2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor mean = context().tensor({3}, {1, 1, 2}), variance = context().tensor({3}, {3, 8, 15});
  EXPECT_TRUE(
      all_agree(batch_norm(x, mean, variance, {.epsilon = 1}).read(), {0, 1 / 3.0f, 0.25f, 1.5f, 4 / 3.0f, 1}, 1e-6f));
  const Tensor gamma = context().tensor({3}, {1, 3, 4}), beta = context().tensor({3}, {10, 20, 30});
  EXPECT_TRUE(all_agree(batch_norm(x, mean, variance, {.gamma = gamma, .beta = beta, .epsilon = 1}).read(),
                        {10, 21, 31, 11.5f, 24, 34}, 1e-6f));
  // Statistics that are no more than numbers.
  EXPECT_TRUE(all_agree(batch_norm(x, context().zeros({3}), context().full({3}, 3), {.epsilon = 1}).read(),
                        {0.5f, 1, 1.5f, 2, 2.5f, 3}, 1e-6f));
}

TEST_P(Rows, InstanceNorm) {
  for (const Shape& shape : {Shape{2, 5, 3, 4}, Shape{2, 9, 9, 3}, Shape{1, 30, 20, 8}, Shape{3, 7, 4}}) {
    SCOPED_TRACE(shape.to_string());
    const std::int64_t channels = shape[-1];
    const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -2, 5, 8);
    EXPECT_TRUE(all_agree(instance_norm(context().tensor(shape, values), {.epsilon = 1e-5f}).read(),
                          by_hand(values, shape.size() / shape[0] / channels, channels, layer_norm_row), 1e-5f));
  }
  // Over 1, 3 and 10, 30, with gamma and beta: -1 and 1 before them.
  const Tensor x = context().tensor({1, 2, 1, 2}, {1, 10, 3, 30}), gamma = context().tensor({2}, {2, 3}),
               beta = context().tensor({2}, {0, 1});
  EXPECT_TRUE(all_agree(instance_norm(x, {.gamma = gamma, .beta = beta, .epsilon = 0}).read(), {-2, -2, 2, 4}, 1e-6f));
}

TEST_P(Rows, GroupNorm) {
  const Shape shape{2, 3, 5, 6};
  const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -2, 5, 8),
                           gains = random_values(6, 1, 2, 9);
  const Tensor x = context().tensor(shape, values);
  for (const int groups : {1, 3, 6}) {
    SCOPED_TRACE(groups);
    // With the groups in front of the positions, a group is a row.
    const std::size_t per_group = 6 / static_cast<std::size_t>(groups);
    const auto in_group_order = [&](std::size_t i) {
      const std::size_t batch = i / 90, position = i / 6 % 15, channel = i % 6;
      return batch * 90 + channel / per_group * 15 * per_group + position * per_group + channel % per_group;
    };
    std::vector<float> ordered(values.size()), expected(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) ordered[in_group_order(i)] = values[i];
    ordered = by_hand(ordered, static_cast<std::int64_t>(15 * per_group), 1, layer_norm_row);
    for (std::size_t i = 0; i < values.size(); ++i) expected[i] = ordered[in_group_order(i)] * gains[i % 6];
    EXPECT_TRUE(all_agree(group_norm(x, groups, {.gamma = context().tensor({6}, gains), .epsilon = 1e-5f}).read(),
                          expected, 1e-5f));
  }
}

TEST_P(Rows, LocalResponse) {
  // TensorFlow's definition by hand: 1 / (1 + 1 + 4), 2 / (1 + 1 + 4 + 9), 3 / (1 + 4 + 9 + 16), 4 / (1 + 9 + 16).
  const Tensor x = context().tensor({1, 1, 1, 4}, {1, 2, 3, 4});
  EXPECT_TRUE(all_agree(lrn(x, {.depth_radius = 1, .beta = 1}).read(), {1 / 6.0f, 2 / 15.0f, 0.1f, 4 / 26.0f}, 1e-6f));
  EXPECT_TRUE(all_agree(lrn(x, {.depth_radius = 0, .bias = 3, .alpha = 1, .beta = 0.5f}).read(),
                        {0.5f, 0.75592895f, 0.8660254f, 0.91766294f}, 2e-6f));
  for (const std::int64_t channels : {1, 3, 5, 16, 33}) {
    for (const int radius : {0, 1, 2, 5, 100}) {
      SCOPED_TRACE(std::to_string(channels) + " channels, radius " + std::to_string(radius));
      const std::vector<float> values = random_values(static_cast<std::size_t>(6 * channels), -2, 2, 8);
      const auto expected = by_hand(values, channels, 1, [&](Row& row) {
        const Row before = row;
        for (std::int64_t c = 0; c < channels; ++c) {
          double squares = 0;
          for (std::int64_t d = std::max<std::int64_t>(c - radius, 0);
               d <= std::min<std::int64_t>(c + radius, channels - 1); ++d)
            squares += before[static_cast<std::size_t>(d)] * before[static_cast<std::size_t>(d)];
          row[static_cast<std::size_t>(c)] /= std::pow(2 + 0.5 * squares, 0.75);
        }
      });
      const LocalResponse response{.depth_radius = radius, .bias = 2, .alpha = 0.5f, .beta = 0.75f};
      EXPECT_TRUE(all_agree(lrn(context().tensor({2, 3, channels}, values), response).read(), expected, 5e-6f));
    }
  }
}

TEST_P(Rows, NoElements) {
  EXPECT_EQ(softmax(context().zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_TRUE(softmax(context().zeros({0, 3})).read().empty());
  EXPECT_TRUE(log_softmax(context().zeros({3, 0})).read().empty());
  EXPECT_TRUE(layer_norm(context().zeros({3, 0})).read().empty());
  EXPECT_TRUE(group_norm(context().zeros({0, 2, 2, 4}), 2).read().empty());
  EXPECT_TRUE(instance_norm(context().zeros({2, 0, 2, 4})).read().empty());
  EXPECT_TRUE(batch_norm(context().zeros({0, 2}), context().zeros({2}), context().zeros({2})).read().empty());
  EXPECT_TRUE(l2_normalize(context().zeros({2, 0})).read().empty());
  EXPECT_TRUE(lrn(context().zeros({2, 0})).read().empty());
}

TEST_P(Rows, Dispatches) {
  const auto x_of = [&](std::int64_t rows, std::int64_t count) {
    return context().tensor({rows, count}, random_values(static_cast<std::size_t>(rows * count), -1, 1, 2)).compute();
  };
  const Tensor narrow = x_of(5, 10), odd = x_of(5, 301), wide = x_of(5, 1024);
  EXPECT_EQ(dispatches(softmax(narrow)), 1u);
  EXPECT_EQ(dispatches(log_softmax(narrow)), 1u);
  EXPECT_EQ(dispatches(layer_norm(narrow)), 1u);
  // Without workgroups: the statistics, then the result; work on x, which both read, is done before them.
  EXPECT_EQ(dispatches(softmax(odd)), has_workgroups() ? 1u : 2u);
  EXPECT_EQ(dispatches(softmax(odd * 0.125f)), has_workgroups() ? 1u : 3u);
  EXPECT_EQ(dispatches(softmax(wide)), has_workgroups() ? 1u : 2u);
  EXPECT_EQ(dispatches(log_softmax(wide)), has_workgroups() ? 1u : 2u);
  const Tensor gamma = context().full({1024}, 2).compute(), beta = context().full({1024}, 1).compute();
  EXPECT_EQ(dispatches(relu(layer_norm(wide, {.gamma = gamma, .beta = beta}))), has_workgroups() ? 1u : 2u);
  EXPECT_EQ(dispatches(rms_norm(wide, {.gamma = gamma})), has_workgroups() ? 1u : 2u);
  EXPECT_EQ(dispatches(softmax(wide, 0)), 1u);
  const Tensor mean = context().full({1024}, 0.1f).compute(), variance = context().full({1024}, 3).compute();
  EXPECT_EQ(dispatches(relu(batch_norm(wide * 2.0f, mean, variance, {.gamma = gamma, .beta = beta}))), 1u);
  EXPECT_EQ(dispatches(l2_normalize(odd)), 2u);
  EXPECT_EQ(dispatches(relu(lrn(odd))), 1u);
  const Tensor image = x_of(2 * 9, 8).reshape({2, 3, 3, 8});
  EXPECT_EQ(dispatches(instance_norm(image)), 1u);
  EXPECT_EQ(dispatches(group_norm(image, 4)), 4u);
}

TEST_P(Rows, OtherSizesCompileNothing) {
  const auto run = [&](std::int64_t rows, std::int64_t count) {
    const Tensor x = context().full({rows, count}, 1);
    softmax(x * 3.0f).compute();
    layer_norm(x, {.epsilon = 1e-6f + static_cast<float>(count)}).compute();
  };
  run(3, 400);
  context().reset_stats();
  run(5, 401);
  run(70, 499);
  run(1, 1030);
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(Rows, BadInput) {
  const Tensor x = context().zeros({2, 3}), image = context().zeros({1, 2, 2, 6});
  const Tensor two = context().zeros({2}), three = context().zeros({3}), six = context().zeros({6}),
               whole = context().zeros({2, 3}, DType::i32);
  EXPECT_TESSERA_ERROR(softmax(x, 7), invalid_argument, "softmax", "7", "rank 2");
  EXPECT_TESSERA_ERROR(log_softmax(x, -3), invalid_argument, "log_softmax", "-3", "rank 2");
  EXPECT_TESSERA_ERROR(softmax(context().zeros({})), invalid_argument, "softmax", "rank 0");
  EXPECT_TESSERA_ERROR(softmax(whole), dtype_mismatch, "softmax", "i32");
  EXPECT_TESSERA_ERROR(layer_norm(x, {.begin_axis = 2}), invalid_argument, "layer_norm", "2");
  EXPECT_TESSERA_ERROR(layer_norm(x, {.gamma = two}), shape_mismatch, "layer_norm", "gamma", "[2]", "[3]", "[2,3]");
  EXPECT_TESSERA_ERROR(layer_norm(x, {.beta = three, .begin_axis = 0}), shape_mismatch, "layer_norm", "beta", "[3]",
                       "[2,3]");
  EXPECT_TESSERA_ERROR(layer_norm(x, {.gamma = context().zeros({3}, DType::f16)}), dtype_mismatch, "layer_norm", "f16",
                       "f32");
  EXPECT_TESSERA_ERROR(layer_norm(x, {.epsilon = -0.5f}), invalid_argument, "layer_norm", "-0.5");
  EXPECT_TESSERA_ERROR(rms_norm(x, {.epsilon = nan}), invalid_argument, "rms_norm", "nan");
  EXPECT_TESSERA_ERROR(batch_norm(x, two, three), shape_mismatch, "batch_norm", "mean", "[2]", "[3]");
  EXPECT_TESSERA_ERROR(batch_norm(x, three, two), shape_mismatch, "batch_norm", "variance", "[2]", "[3]");
  EXPECT_TESSERA_ERROR(batch_norm(x, three, three, {.epsilon = -1}), invalid_argument, "batch_norm", "-1");
  EXPECT_TESSERA_ERROR(batch_norm(whole, three, three), dtype_mismatch, "batch_norm", "i32");
  EXPECT_TESSERA_ERROR(instance_norm(x), invalid_argument, "instance_norm", "[2,3]");
  EXPECT_TESSERA_ERROR(instance_norm(image, {.gamma = three}), shape_mismatch, "instance_norm", "[3]", "[6]");
  EXPECT_TESSERA_ERROR(group_norm(image, 4), invalid_argument, "group_norm", "4", "6");
  EXPECT_TESSERA_ERROR(group_norm(image, 0), invalid_argument, "group_norm", "0", "6");
  EXPECT_TESSERA_ERROR(group_norm(image, (std::int64_t{1} << 32) + 6), invalid_argument, "group_norm", "4294967302");
  EXPECT_TESSERA_ERROR(group_norm(image, 2, {.gamma = six, .beta = two}), shape_mismatch, "group_norm", "beta", "[2]",
                       "[6]");
  EXPECT_TESSERA_ERROR(l2_normalize(x, 2), invalid_argument, "l2_normalize", "2");
  EXPECT_TESSERA_ERROR(l2_normalize(x, 1, -1), invalid_argument, "l2_normalize", "-1");
  EXPECT_TESSERA_ERROR(lrn(x, {.depth_radius = -2}), invalid_argument, "lrn", "-2");
  EXPECT_TESSERA_ERROR(lrn(whole), dtype_mismatch, "lrn", "i32");
}

TESSERA_ON_EACH_BACKEND(Rows);

}  // namespace
}  // namespace tessera::test::row_test

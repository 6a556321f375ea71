// Running sums and products, against plain loops and against published definitions.
#include <cmath>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::scan_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr Scan every_option[] = {{}, {.exclusive = true}, {.reverse = true}, {.exclusive = true, .reverse = true}};

class Scans : public OnDevice {
 protected:
  // With plain loops in double.
  static std::vector<float> by_hand(const std::vector<float>& values, const Shape& shape, int axis, const Scan& options,
                                    bool is_product) {
    std::int64_t inner = 1;
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
    const std::int64_t count = shape[axis];
    std::vector<float> results(values.size());
    for (std::int64_t row = 0; row < shape.size() / count; ++row) {
      double total = is_product;
      for (std::int64_t position = 0; position < count; ++position) {
        const std::int64_t along = options.reverse ? count - 1 - position : position;
        const auto at = static_cast<std::size_t>((row / inner * count + along) * inner + row % inner);
        const double with = is_product ? total * values[at] : total + values[at];
        results[at] = static_cast<float>(options.exclusive ? total : with);
        total = with;
      }
    }
    return results;
  }

  void check(const Shape& shape, int axis, const Scan& options = {}) {
    SCOPED_TRACE(shape.to_string() + " along " + std::to_string(axis) + (options.exclusive ? ", exclusive" : "") +
                 (options.reverse ? ", reverse" : ""));
    const auto size = static_cast<std::size_t>(shape.size());
    const std::vector<float> terms = random_values(size, -1, 1, 3), factors = random_values(size, 0.99f, 1.01f, 4);
    EXPECT_TRUE(all_agree(cumsum(context().tensor(shape, terms), axis, options).read(),
                          by_hand(terms, shape, axis, options, false), 2e-5f));
    EXPECT_TRUE(all_agree(cumprod(context().tensor(shape, factors), axis, options).read(),
                          by_hand(factors, shape, axis, options, true), 5e-5f));
  }
};

// The examples of ONNX's CumSum.
TEST_P(Scans, PublishedExamples) {
  const Tensor x = context().tensor({5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(cumsum(x, 0).read(), (std::vector<float>{1, 3, 6, 10, 15}));
  EXPECT_EQ(cumsum(x, 0, {.exclusive = true}).read(), (std::vector<float>{0, 1, 3, 6, 10}));
  EXPECT_EQ(cumsum(x, 0, {.reverse = true}).read(), (std::vector<float>{15, 14, 12, 9, 5}));
  EXPECT_EQ(cumsum(x, 0, {.exclusive = true, .reverse = true}).read(), (std::vector<float>{14, 12, 9, 5, 0}));
  const Tensor matrix = context().tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(cumsum(matrix, 0).read(), (std::vector<float>{1, 2, 3, 5, 7, 9}));
  EXPECT_EQ(cumsum(matrix, 1).read(), (std::vector<float>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(cumsum(matrix, -1).read(), (std::vector<float>{1, 3, 6, 4, 9, 15}));
  // Those of TensorFlow's cumprod, with numbers for a, b and c.
  const Tensor factors = context().tensor({3}, {2, 3, 5});
  EXPECT_EQ(cumprod(factors).read(), (std::vector<float>{2, 6, 30}));
  EXPECT_EQ(cumprod(factors, 0, {.exclusive = true}).read(), (std::vector<float>{1, 2, 6}));
  EXPECT_EQ(cumprod(factors, 0, {.reverse = true}).read(), (std::vector<float>{30, 15, 5}));
  EXPECT_EQ(cumprod(factors, 0, {.exclusive = true, .reverse = true}).read(), (std::vector<float>{15, 5, 1}));
}

TEST_P(Scans, LengthsAroundEachStage) {
  for (const std::int64_t length : {1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 260, 1000, 5000}) {
    check({length}, 0, every_option[static_cast<std::size_t>(length % 4)]);
    check({3, length}, 1, every_option[static_cast<std::size_t>((length + 1) % 4)]);
  }
  check({20000}, 0);  // blocks of blocks
}

TEST_P(Scans, EveryOptionAlongEveryAxis) {
  for (const Scan& options : every_option) {
    for (const int axis : {0, 1, 2}) check({3, 5, 7}, axis, options);
    for (const int axis : {0, 1, 2}) check({2, 6, 8}, axis, options);
    check({3, 300}, 1, options);
    check({3, 301}, 1, options);
    check({300, 4}, 0, options);
    check({300, 3}, 0, options);
    check({2, 259, 5}, 1, options);
  }
  check({2, 3, 2, 3, 2, 3}, 3);
  check({2, 1, 3}, 1, {.exclusive = true});
}

TEST_P(Scans, LongSumsStayAccurate) {
  const std::int64_t count = 300'000;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1f + static_cast<float>(i % 1000) * 1e-4f;
  const std::vector<float> got = cumsum(context().tensor({count}, values)).read();
  double total = 0, worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    total += values[i];
    worst = std::fmax(worst, std::fabs(got[i] / total - 1));
  }
  EXPECT_LT(worst, 2e-6);
}

TEST_P(Scans, ElementTypes) {
  // Halves would stop at 2048; rounded once, each result is the nearest half.
  const std::vector<float> sums = cumsum(context().full({3000}, 1, DType::f16)).read();
  EXPECT_EQ(sums[2047], 2048);
  EXPECT_EQ(sums[2999], 3000);
  EXPECT_EQ(cumsum(context().full({4}, 1, DType::f16)).dtype(), DType::f16);
  const std::vector<std::int32_t> large{16777217, 1, 2147483647, 1, -5};
  EXPECT_EQ(cumsum(context().tensor({5}, large)).read<std::int32_t>(),
            (std::vector<std::int32_t>{16777217, 16777218, -2130706431, -2130706430, -2130706435}));
  const Tensor whole = context().tensor({4}, std::vector<std::int32_t>{3, -7, 65536, 65536});
  EXPECT_EQ(cumprod(whole).read<std::int32_t>(), (std::vector<std::int32_t>{3, -21, -1376256, 0}));
  EXPECT_EQ(cumsum(context().tensor({3}, std::vector<std::int8_t>{100, 100, 1})).read<std::int8_t>(),
            (std::vector<std::int8_t>{100, -56, -55}));
  EXPECT_EQ(cumsum(context().tensor({3}, std::vector<std::uint8_t>{200, 100, 1})).read<std::uint8_t>(),
            (std::vector<std::uint8_t>{200, 44, 45}));
  for (const std::int64_t length : {7, 8, 300, 301}) {
    std::vector<std::int32_t> values, expected;
    std::int32_t total = 0;
    for (std::int32_t i = 0; i < length; ++i) {
      values.push_back(i * 37 % 101 - 50);
      expected.push_back(total += values.back());
    }
    EXPECT_EQ(cumsum(context().tensor({length}, values)).read<std::int32_t>(), expected);
    EXPECT_EQ(cumsum(context().tensor({length, 1}, values), 0).read<std::int32_t>(), expected);
  }
}

TEST_P(Scans, SpecialValues) {
  EXPECT_TRUE(
      all_agree(cumsum(context().tensor({4}, {1, infinity, 2, -infinity})).read(), {1, infinity, infinity, nan}, 0));
  EXPECT_TRUE(all_agree(cumsum(context().tensor({4}, {1, nan, 2, 3})).read(), {1, nan, nan, nan}, 0));
  EXPECT_TRUE(all_agree(cumprod(context().tensor({3}, {infinity, 2, 0})).read(), {infinity, infinity, nan}, 0));
  // What comes after an element does not reach it, not even as zero times infinity.
  EXPECT_TRUE(all_agree(cumsum(context().tensor({5}, {1, 2, 3, 4, infinity}), 0, {.exclusive = true}).read(),
                        {0, 1, 3, 6, 10}, 0));
  std::vector<float> late(500, 1.0f);
  late[400] = nan;
  const std::vector<float> sums = cumsum(context().tensor({500}, late)).read();
  EXPECT_EQ(sums[399], 400);
  EXPECT_TRUE(std::isnan(sums[400]) && std::isnan(sums[499]));
}

TEST_P(Scans, NoElements) {
  EXPECT_EQ(cumsum(context().zeros({2, 0, 3}), 1).shape(), (Shape{2, 0, 3}));
  EXPECT_TRUE(cumprod(context().zeros({0})).read().empty());
}

TEST_P(Scans, ShortAxesAreOneKernelAndOtherSizesCompileNothing) {
  const Tensor x = context().tensor({2, 8}, random_values(16, -1, 1, 2)).compute();
  context().reset_stats();
  const Tensor result = (cumsum(x) * 2.0f + 1.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  const Tensor other = context().full({3, 5, 2}, 1).compute();
  context().reset_stats();
  const Tensor other_result = (cumsum(other, 1, {.exclusive = true, .reverse = true}) * 3.0f + 2.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
  context().reset_stats();
  const Tensor longer = cumsum(context().full({5000}, 1, DType::f16)).compute();
  EXPECT_EQ(context().stats().submits, 1u);
  EXPECT_LE(context().stats().dispatches, 4u);  // the input, wholes of blocks, their scan, the result
}

TEST_P(Scans, BadInput) {
  const Tensor x = context().zeros({2, 3});
  EXPECT_TESSERA_ERROR(cumsum(x, 2), invalid_argument, "cumsum", "2", "rank 2");
  EXPECT_TESSERA_ERROR(cumprod(x, -3), invalid_argument, "cumprod", "-3", "rank 2");
  EXPECT_TESSERA_ERROR(cumsum(context().zeros({}), 0), invalid_argument, "cumsum", "rank 0");
  EXPECT_TESSERA_ERROR(cumsum(context().zeros({2}, DType::boolean)), dtype_mismatch, "cumsum", "boolean");
}

TESSERA_ON_EACH_BACKEND(Scans);

}  // namespace
}  // namespace tessera::test::scan_test

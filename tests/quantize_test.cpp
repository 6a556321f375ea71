// Quantization, against published definitions and plain loops.
#include <cmath>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::quantize_test {
namespace {

using Bytes = std::vector<std::uint8_t>;
using SignedBytes = std::vector<std::int8_t>;
constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

class Quantization : public OnDevice {};

// The example of ONNX's QuantizeLinear.
TEST_P(Quantization, LinearPerTensor) {
  const Tensor x = context().tensor({6}, {0, 2, 3, 1000, -254, -1000});
  const Tensor scale = context().full({}, 2), zero_point = context().full({}, 128, DType::u8);
  EXPECT_EQ(quantize_linear(x, scale, zero_point).read<std::uint8_t>(), (Bytes{128, 129, 130, 255, 1, 0}));
  // Half to even, as its text has it: 1 / 2 to 0, 3 / 2 to 2, 5 / 2 to 2, and the same below zero.
  const Tensor ties = context().tensor({6}, {1, 3, 5, -1, -3, -5});
  EXPECT_EQ(quantize_linear(ties, scale, DType::i8).read<std::int8_t>(), (SignedBytes{0, 2, 2, 0, -2, -2}));
  EXPECT_EQ(quantize_linear(ties, scale).read<std::uint8_t>(), (Bytes{0, 2, 2, 0, 0, 0}));
  EXPECT_EQ(quantize_linear(context().tensor({4}, {255, 257, -256, -260}), scale, DType::i8).read<std::int8_t>(),
            (SignedBytes{127, 127, -128, -128}));
  EXPECT_EQ(quantize_linear(context().tensor({3}, {nan, infinity, -infinity}), scale).read<std::uint8_t>(),
            (Bytes{0, 255, 0}));
}

// The example of ONNX's QuantizeLinear along an axis, and back by that of DequantizeLinear.
TEST_P(Quantization, LinearPerChannel) {
  const Tensor x = context().tensor(
      {1, 3, 3, 2}, {-162, 10, -100, 232, -20, -50, -76, 0, 0, 252, 32, -44, 245, -485, -960, -270, -375, -470});
  const Tensor scale = context().tensor({3}, {2, 4, 5}), zero_point = context().tensor({3}, Bytes{84, 24, 196});
  const Bytes expected{3, 89, 34, 200, 74, 59, 5, 24, 24, 87, 32, 13, 245, 99, 4, 142, 121, 102};
  const Tensor y = quantize_linear(x, scale, zero_point);
  EXPECT_EQ(y.read<std::uint8_t>(), expected);
  EXPECT_EQ(dequantize_linear(y, scale, zero_point).read(), x.read());
  EXPECT_EQ(quantize_linear(x, scale, zero_point, -3).read<std::uint8_t>(), expected);
  const Tensor rows = context().tensor({2, 3}, {2, 4, 6, 3, 6, 9});
  EXPECT_EQ(quantize_linear(rows, context().tensor({2}, {2, 3}), DType::i8, 0).read<std::int8_t>(),
            (SignedBytes{1, 2, 3, 1, 2, 3}));
}

// The example of ONNX's DequantizeLinear.
TEST_P(Quantization, DequantizeLinear) {
  const Tensor x = context().tensor({4}, Bytes{0, 3, 128, 255}), scale = context().full({}, 2);
  EXPECT_EQ(dequantize_linear(x, scale, context().full({}, 128, DType::u8)).read(),
            (std::vector<float>{-256, -250, 0, 254}));
  EXPECT_EQ(dequantize_linear(x, scale).read(), (std::vector<float>{0, 6, 256, 510}));
  const Tensor sums = context().tensor({2}, std::vector<std::int32_t>{-100000, 70000});
  EXPECT_EQ(dequantize_linear(sums, context().full({1}, 0.5f)).read(), (std::vector<float>{-50000, 35000}));
  EXPECT_EQ(dequantize_linear(x, context().full({}, 2, DType::f16)).dtype(), DType::f16);
  EXPECT_EQ(quantize_linear(sums, context().full({}, 1000), DType::i8).read<std::int8_t>(), (SignedBytes{-100, 70}));
  EXPECT_EQ(quantize_linear(context().full({2}, 5, DType::f16), scale, DType::i8).read<std::int8_t>(),
            (SignedBytes{2, 2}));
}

// The examples of ONNX's DynamicQuantizeLinear.
TEST_P(Quantization, Dynamic) {
  const auto check = [&](const Shape& shape, const std::vector<float>& x, float scale, std::uint8_t zero_point,
                         const Bytes& values) {
    const DynamicQuantized got = dynamic_quantize_linear(context().tensor(shape, x));
    EXPECT_EQ(got.values.read<std::uint8_t>(), values);
    EXPECT_TRUE(all_agree(got.scale.read(), {scale}, 1e-7f));
    EXPECT_EQ(got.zero_point.read<std::uint8_t>(), Bytes{zero_point});
  };
  check({6}, {0, 2, -3, -2.5f, 1.34f, 0.5f}, 0.0196078438f, 153, {153, 255, 0, 26, 221, 179});
  check({6}, {-1, -2.1f, -1.3f, -2.5f, -3.34f, -4}, 0.0156862754f, 255, {191, 121, 172, 96, 42, 0});
  check({3, 4}, {1, 2.1f, 1.3f, 2.5f, 3.34f, 4, 1.5f, 2.6f, 3.9f, 4, 3, 2.345f}, 0.0156862754f, 0,
        {64, 134, 83, 159, 213, 255, 96, 166, 249, 255, 191, 149});
  check({3}, {0, 0, 0}, 1, 0, {0, 0, 0});
  check({0}, {}, 1, 0, {});
}

TEST_P(Quantization, Symmetric) {
  const Quantized some = quantize(context().tensor({5}, {-2.54f, 1.27f, 0.02f, 0, 0.63f}));
  EXPECT_EQ(some.values.read<std::int8_t>(), (SignedBytes{-127, 64, 1, 0, 32}));
  EXPECT_TRUE(all_agree(some.scale.read(), {0.02f}, 1e-7f));
  EXPECT_EQ(some.scale.shape(), Shape{});
  const Quantized zeros = quantize(context().zeros({3}));
  EXPECT_EQ(zeros.scale.read(), std::vector<float>{1});
  EXPECT_EQ(zeros.values.read<std::int8_t>(), (SignedBytes{0, 0, 0}));
  EXPECT_EQ(quantize(context().zeros({0})).scale.read(), std::vector<float>{1});
  EXPECT_EQ(quantize(context().zeros({0, 2}), 1).scale.read(), (std::vector<float>{1, 1}));
  const Quantized undefined = quantize(context().tensor({2}, {nan, 1}));
  EXPECT_TRUE(std::isnan(undefined.scale.read()[0]));
  EXPECT_EQ(undefined.values.read<std::int8_t>(), (SignedBytes{0, 0}));
  const std::vector<float> values = random_values(5000, -3, 3, 7);
  const Quantized many = quantize(context().tensor({50, 100}, values));
  const float step = many.scale.read()[0];
  const std::vector<float> back = dequantize(many.values, many.scale).read();
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(back[i], values[i], 0.5001f * step);
  EXPECT_EQ(quantize(context().full({4}, 65504, DType::f16)).values.read<std::int8_t>(),
            (SignedBytes{127, 127, 127, 127}));
}

// Devices differ in what they make of numbers below 2^-126: what is made of them must not.
TEST_P(Quantization, TinyNumbersCountAsZeros) {
  const float denormal = 1e-40f, smallest = std::numeric_limits<float>::min();
  for (const float tiny : {denormal, smallest, std::ldexp(0.99f, -117)}) {
    const Tensor x = context().tensor({3}, {tiny, -tiny, tiny / 2});
    const Quantized symmetric = quantize(x);
    EXPECT_EQ(symmetric.scale.read(), std::vector<float>{1}) << tiny;
    EXPECT_EQ(symmetric.values.read<std::int8_t>(), (SignedBytes{0, 0, 0})) << tiny;
    EXPECT_EQ(quantize(x, 0).scale.read(), (std::vector<float>{1, 1, 1})) << tiny;
    const DynamicQuantized dynamic = dynamic_quantize_linear(x * 0.25f);
    EXPECT_EQ(dynamic.scale.read(), std::vector<float>{1}) << tiny;
    EXPECT_EQ(dynamic.values.read<std::uint8_t>(), (Bytes{0, 0, 0})) << tiny;
  }
  const float small = std::ldexp(1.0f, -117);
  const Quantized least = quantize(context().tensor({4}, {small, -small, smallest / 2, denormal}));
  EXPECT_EQ(least.values.read<std::int8_t>(), (SignedBytes{127, -127, 0, 0}));
  EXPECT_EQ(least.scale.read(), std::vector<float>{small / 127});
  // A scale that is given counts as 2^-124 at least.
  const Tensor x = context().tensor({6}, {1, -1, 0, denormal, std::ldexp(3.0f, -124), std::ldexp(-3.0f, -124)});
  for (const float scale : {0.0f, denormal, -denormal, smallest, std::ldexp(1.0f, -124)})
    EXPECT_EQ(quantize_linear(x, context().full({}, scale), DType::i8).read<std::int8_t>(),
              (SignedBytes{127, -128, 0, 0, 3, -3}))
        << scale;
  EXPECT_EQ(quantize_linear(x, context().full({}, -0.5f), DType::i8).read<std::int8_t>(),
            (SignedBytes{-2, 2, 0, 0, 0, 0}));
  EXPECT_TESSERA_ERROR(fake_quantize(x, {.min = 0, .max = denormal}), invalid_argument, "fake_quantize", "min", "max");
  EXPECT_TESSERA_ERROR(fake_quantize(x, {.min = -3e38f, .max = 3e38f}), invalid_argument, "fake_quantize", "min");
}

TEST_P(Quantization, SymmetricPerChannel) {
  const std::vector<float> values{1.27f, 12.7f, 0, -0.5f, 127, 0};
  const Tensor x = context().tensor({2, 3}, values);
  const Quantized columns = quantize(x, 1);
  EXPECT_EQ(columns.values.read<std::int8_t>(), (SignedBytes{127, 13, 0, -50, 127, 0}));
  EXPECT_TRUE(all_agree(columns.scale.read(), {0.01f, 1, 1}, 1e-6f));
  EXPECT_EQ(columns.scale.shape(), Shape{3});
  const Quantized rows = quantize(x, -2);
  EXPECT_EQ(rows.scale.shape(), Shape{2});
  EXPECT_TRUE(all_agree(rows.scale.read(), {0.1f, 1}, 1e-6f));
  EXPECT_TRUE(all_agree(dequantize(rows.values, rows.scale, 0).read(), {1.3f, 12.7f, 0, 0, 127, 0}, 1e-5f));
  EXPECT_EQ(quantize(context().tensor({3}, {-3, 0, 5}), 0).values.read<std::int8_t>(), (SignedBytes{-127, 0, 127}));
}

// From TensorFlow's tests of FakeQuantWithMinMaxArgs: the range given, the nudged one, and values around its levels.
TEST_P(Quantization, Fake) {
  const auto check = [&](const FakeQuantize& options, float low, float high, float level) {
    SCOPED_TRACE(std::to_string(options.min) + " to " + std::to_string(options.max));
    const float near = level / 8;
    const Tensor x = context().tensor({9}, {low - near, low, low + near, low + level - near, low + level,
                                            low + level + near, high - near, high, high + near});
    EXPECT_TRUE(all_agree(fake_quantize(x, options).read(),
                          {low, low, low, low + level, low + level, low + level, high, high, high}, 1e-5f));
  };
  check({.min = -10, .max = 53.75f}, -10, 53.75f, 0.25f);
  check({.min = -0.1f, .max = 63.65f}, 0, 63.75f, 0.25f);
  check({.min = -0.1276f, .max = 63.6224f}, -0.25f, 63.5f, 0.25f);
  check({.min = 0.4f, .max = 64.15f}, 0, 63.75f, 0.25f);
  check({.min = -63.65f, .max = 0.1f}, -63.75f, 0, 0.25f);
  check({.min = -10, .max = 53.5f, .narrow_range = true}, -10, 53.5f, 0.25f);
  check({.min = -0.1f, .max = 63.4f, .narrow_range = true}, 0, 63.5f, 0.25f);
  check({.min = 0, .max = 7.5f, .bits = 4}, 0, 7.5f, 0.5f);
  EXPECT_TRUE(std::isnan(fake_quantize(context().full({1}, nan)).read()[0]));
  EXPECT_EQ(fake_quantize(context().tensor({2}, {infinity, 0})).read()[1], 0);
  EXPECT_EQ(fake_quantize(context().full({2}, 1, DType::f16)).dtype(), DType::f16);
}

TEST_P(Quantization, EachIsOneKernelOnceTheScaleIsKnown) {
  const Tensor x = context().tensor({4, 8}, random_values(32, -1, 1, 2)).compute();
  const Tensor scale = context().tensor({8}, random_values(8, 0.01f, 0.02f, 3)).compute();
  const Tensor zero_point = context().tensor({8}, Bytes{1, 2, 3, 4, 5, 6, 7, 8}).compute();
  const auto dispatches = [&](const std::vector<Tensor>& results) {
    context().reset_stats();
    context().compute(results);
    EXPECT_EQ(context().stats().submits, 1u);
    return context().stats().dispatches;
  };
  EXPECT_EQ(dispatches({quantize_linear(x, scale, zero_point)}), 1u);
  EXPECT_EQ(dispatches({dequantize_linear(quantize_linear(x, scale, zero_point), scale, zero_point)}), 1u);
  EXPECT_EQ(dispatches({fake_quantize(x, {.bits = 4})}), 1u);
  const Quantized symmetric = quantize(x);
  EXPECT_EQ(dispatches({symmetric.values, symmetric.scale}), 2u);  // the largest magnitude, the values
  const DynamicQuantized dynamic = dynamic_quantize_linear(x);
  EXPECT_LE(dispatches({dynamic.values, dynamic.scale, dynamic.zero_point}), 4u);
}

TEST_P(Quantization, BadInput) {
  const Tensor x = context().zeros({2, 3}), scale = context().full({}, 1), two = context().full({2}, 1);
  const Tensor zero_point = context().zeros({}, DType::u8), bytes = context().zeros({2, 3}, DType::i8);
  EXPECT_TESSERA_ERROR(quantize_linear(x, two, DType::u8), shape_mismatch, "quantize_linear", "scale", "[2]", "[3]");
  EXPECT_TESSERA_ERROR(quantize_linear(x, context().full({3, 1}, 1)), shape_mismatch, "[3,1]", "[3]");
  EXPECT_TESSERA_ERROR(quantize_linear(x, two, zero_point, 0), shape_mismatch, "zero point", "[]", "[2]");
  EXPECT_TESSERA_ERROR(quantize_linear(x, two, DType::u8, 2), invalid_argument, "2", "rank 2");
  EXPECT_TESSERA_ERROR(quantize_linear(x, scale, DType::i32), dtype_mismatch, "i32");
  EXPECT_TESSERA_ERROR(quantize_linear(x, scale, context().zeros({}, DType::i32)), dtype_mismatch, "i32");
  EXPECT_TESSERA_ERROR(quantize_linear(bytes, scale), dtype_mismatch, "quantize_linear", "i8");
  EXPECT_TESSERA_ERROR(quantize_linear(x, zero_point), dtype_mismatch, "scale", "u8");
  EXPECT_TESSERA_ERROR(dequantize_linear(bytes, scale, zero_point), dtype_mismatch, "i8", "u8");
  EXPECT_TESSERA_ERROR(dequantize_linear(x, scale), dtype_mismatch, "dequantize_linear", "f32");
  EXPECT_TESSERA_ERROR(dequantize(bytes, two), shape_mismatch, "dequantize", "[2]", "single");
  EXPECT_TESSERA_ERROR(quantize(bytes), dtype_mismatch, "quantize", "i8");
  EXPECT_TESSERA_ERROR(quantize(x, 2), invalid_argument, "quantize", "2", "rank 2");
  EXPECT_TESSERA_ERROR(dynamic_quantize_linear(bytes), dtype_mismatch, "dynamic_quantize_linear", "i8");
  EXPECT_TESSERA_ERROR(fake_quantize(x, {.min = 1, .max = 1}), invalid_argument, "fake_quantize", "min (1", "max (1");
  EXPECT_TESSERA_ERROR(fake_quantize(x, {.min = nan}), invalid_argument, "fake_quantize", "nan", "6");
  EXPECT_TESSERA_ERROR(fake_quantize(x, {.bits = 1}), invalid_argument, "bits (1)", "2 to 16");
  EXPECT_TESSERA_ERROR(fake_quantize(x, {.bits = 17}), invalid_argument, "bits (17)", "2 to 16");
  EXPECT_TESSERA_ERROR(fake_quantize(bytes), dtype_mismatch, "fake_quantize", "i8");
}

// Products with weights of 4 bits, against sums in double.
class FourBits : public Quantization {
 protected:
  void check(const Shape& a_shape, std::int64_t columns, std::int64_t groups, std::int64_t group, bool has_zeros,
             DType dtype = DType::f32) {
    SCOPED_TRACE(a_shape.to_string() + " with " + std::to_string(columns) + " columns");
    const std::int64_t count = groups * group, given = a_shape[-1], rows = a_shape.size() / given;
    const auto numbers = [](std::int64_t size, float low, float high, std::uint32_t seed) {
      return random_values(static_cast<std::size_t>(size), low, high, seed);
    };
    const std::vector<float> a = numbers(rows * given, -1, 1, 1), scales = numbers(columns * groups, -1, 1, 2);
    const Bytes pairs = as<std::uint8_t>(numbers(columns * count / 2, 0, 255.9f, 3)),
                zeros = as<std::uint8_t>(numbers(columns * groups, 0, 15.9f, 4));
    Weights4Bit weights{context().tensor({columns, count / 2}, pairs), context().tensor({columns, groups}, scales)};
    if (has_zeros) weights.zero_points = context().tensor({columns, groups}, zeros);
    std::vector<float> want;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < given; ++k) {
          const int pair = pairs[static_cast<std::size_t>((column * count + k) / 2)];
          const auto place = static_cast<std::size_t>(column * groups + k / group);
          const int level = (k % 2 == 0 ? pair % 16 : pair / 16) - (has_zeros ? zeros[place] : 8);
          sum += level * static_cast<double>(scales[place]) *
                 static_cast<double>(a[static_cast<std::size_t>(row * given + k)]);
        }
        want.push_back(static_cast<float>(sum));
      }
    const Tensor result = matmul_4bit(context().tensor(a_shape, a).cast(dtype), weights);
    EXPECT_EQ(result.shape()[-1], columns);
    EXPECT_TRUE(all_agree(result.cast(DType::f32).read(), want, dtype == DType::f32 ? 2e-5f : 2e-2f));
  }
};

TEST_P(FourBits, ProductsOfEverySize) {
  check({16}, 4, 1, 16, true);
  check({3, 64}, 8, 2, 32, true);
  check({2, 5, 32}, 12, 2, 16, false);  // whole columns of four, and rows of four and one
  check({5, 30}, 7, 4, 8, true);        // rows that end within a texel, and too few of a
  check({4, 32}, 8, 1, 32, false, DType::f16);
  check({9, 64}, 20, 2, 32, true);  // in octets
  check({70, 48}, 36, 3, 16, false);
  check({131, 96}, 37, 3, 32, true);
  check({64, 250}, 64, 8, 32, true, DType::f16);
}

// Scales and zero points may be numbers, and weights a part of a larger tensor.
TEST_P(FourBits, NumbersForGroupsAndPartsOfWeights) {
  const std::int64_t rows = 61, columns = 20, count = 64, groups = 2, bytes = count / 2;
  const std::vector<float> a = random_values(static_cast<std::size_t>(rows * count), -1, 1, 1);
  const Bytes pairs = as<std::uint8_t>(random_values(static_cast<std::size_t>((columns + 2) * bytes), 0, 255.9f, 3));
  const Tensor all = context().tensor({(columns + 2) * bytes}, pairs), x = context().tensor({rows, count}, a);
  const auto check = [&](std::int64_t first, float scale, const Tensor& scales, float zero,
                         const std::optional<Tensor>& zero_points) {
    std::vector<float> want;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t column = 0; column < columns; ++column) {
        double sum = 0;
        for (std::int64_t k = 0; k < count; ++k) {
          const int pair = pairs[static_cast<std::size_t>(first + column * bytes + k / 2)];
          sum += static_cast<double>(a[static_cast<std::size_t>(row * count + k)]) *
                 static_cast<double>((static_cast<float>(k % 2 == 0 ? pair % 16 : pair / 16) - zero) * scale);
        }
        want.push_back(static_cast<float>(sum));
      }
    const Tensor part = slice(all, {first}, {columns * bytes}).reshape({columns, bytes});
    EXPECT_TRUE(all_agree(matmul_4bit(x, {part, scales, zero_points}).read(), want, 2e-5f)) << first << ' ' << zero;
  };
  const Shape grouped{columns, groups};
  for (const std::int64_t first : {std::int64_t{0}, bytes, std::int64_t{3}}) {
    check(first, 0.5f, context().full(grouped, 0.5), 8, {});
    check(first, 0.25f, context().full(grouped, 0.25, DType::f16), 3, context().full(grouped, 3, DType::u8));
    check(first, 2, context().full(grouped, 2).compute(), 7.5f, context().full(grouped, 7.5));
  }
}

// Weights would take eight times as much as floats.
TEST_P(FourBits, StayFourBitsForManyRows) {
  const std::int64_t rows = 64, columns = 128, count = 1024;
  const Tensor a = context().tensor({rows, count}, random_values(static_cast<std::size_t>(rows * count), -1, 1, 1));
  const Weights4Bit weights{
      context().tensor({columns, count / 2}, Bytes(static_cast<std::size_t>(columns * count / 2), 0x9a)),
      context().full({columns, count / 32}, 0.5)};
  a.compute();
  context().trim();
  context().reset_stats();
  const std::uint64_t before = context().memory().bytes_in_use;
  const Tensor result = matmul_4bit(a, weights);
  result.compute();
  const auto weight_bytes = static_cast<std::uint64_t>(columns * count / 2),
             a_bytes = static_cast<std::uint64_t>(rows * count * 4),
             result_bytes = static_cast<std::uint64_t>(rows * columns * 4);
  // Kernels in blocks read a copy of a, which goes before another kernel brings their sums into order.
  const bool is_in_blocks = GetParam().backend == BackendKind::gles;
  EXPECT_EQ(context().stats().dispatches, is_in_blocks ? 3u : 1u);
  EXPECT_EQ(context().memory().bytes_peak - before, weight_bytes + result_bytes + (is_in_blocks ? a_bytes : 0));
}

TEST_P(FourBits, StayFourBitsOnTheDevice) {
  const std::int64_t columns = 64, count = 512;
  const Tensor a = context().tensor({count}, random_values(static_cast<std::size_t>(count), -1, 1, 1));
  const Weights4Bit weights{
      context().tensor({columns, count / 2}, Bytes(static_cast<std::size_t>(columns * count / 2), 0x9a)),
      context().full({columns, count / 32}, 0.5)};
  a.compute();
  context().trim();
  context().reset_stats();
  const std::uint64_t before = context().memory().bytes_in_use;
  const Tensor result = matmul_4bit(a, weights);
  result.compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  const auto weight_bytes = static_cast<std::uint64_t>(columns * count / 2),
             result_bytes = static_cast<std::uint64_t>(columns * 4);
  EXPECT_EQ(context().memory().bytes_peak - before, weight_bytes + result_bytes);
}

TEST_P(FourBits, BadInput) {
  const auto zeros = [&](const Shape& shape, DType dtype) { return context().zeros(shape, dtype); };
  const auto expect = [&](ErrorCode code, std::string_view sentence, const Tensor& a, const Weights4Bit& weights) {
    try {
      matmul_4bit(a, weights);
      ADD_FAILURE() << "No error: " << sentence;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(std::string_view(error.what()), sentence);
    }
  };
  const Tensor a = zeros({2, 16}, DType::f32), values = zeros({3, 8}, DType::u8), scales = zeros({3, 1}, DType::f32);
  expect(ErrorCode::dtype_mismatch, "matmul_4bit: an operand is i8; it takes weights in u8.", a,
         {values.cast(DType::i8), scales});
  expect(ErrorCode::shape_mismatch,
         "matmul_4bit: the weights are [3,8], their scales [2,1]; they must be [N,K/2] and [N,groups].", a,
         {values, zeros({2, 1}, DType::f32)});
  expect(ErrorCode::shape_mismatch, "matmul_4bit: a column of 16 weights is not 4 groups of a multiple of 8.", a,
         {values, zeros({3, 4}, DType::f32)});
  expect(ErrorCode::shape_mismatch, "matmul_4bit: a [2,17] has rows of 17; the columns of the weights have 16.",
         zeros({2, 17}, DType::f32), {values, scales});
}

TESSERA_ON_EACH_BACKEND(FourBits);
TESSERA_ON_EACH_BACKEND(Quantization);

}  // namespace
}  // namespace tessera::test::quantize_test

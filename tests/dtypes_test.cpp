// Element types: uploads, reads, casts and constants of each of them, and the limits of the narrow ones.
#include <cmath>
#include <cstring>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::dtypes_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
constexpr DType every_dtype[] = {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean};

class DTypes : public OnDevice {};

template <Element T>
void expect_round_trip(Context& context, const std::vector<T>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const Tensor tensor = context.tensor({count}, values);
  EXPECT_EQ(tensor.dtype(), dtype_of<T>());
  const std::vector<T> back = tensor.template read<T>();
  ASSERT_EQ(back.size(), values.size());
  EXPECT_EQ(std::memcmp(back.data(), values.data(), values.size() * sizeof(T)), 0);
}

TEST_P(DTypes, UploadedBitsComeBack) {
  for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 16u, 17u, 1000u}) {
    std::vector<float> reals;
    std::vector<std::int32_t> wholes;
    std::vector<std::int8_t> bytes;
    std::vector<std::uint8_t> unsigned_bytes;
    for (std::size_t i = 0; i < count; ++i) {
      wholes.push_back(static_cast<std::int32_t>(i * 2654435761u));
      reals.push_back(static_cast<float>(wholes.back()) / 1000);
      bytes.push_back(static_cast<std::int8_t>(i * 37));
      unsigned_bytes.push_back(static_cast<std::uint8_t>(i * 37));
    }
    expect_round_trip(context(), reals);
    expect_round_trip(context(), wholes);
    expect_round_trip(context(), bytes);
    expect_round_trip(context(), unsigned_bytes);
    expect_round_trip(context(), as<half>(reals));
  }
  expect_round_trip(context(), std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::min(), -1, 0,
                                                         std::numeric_limits<std::int32_t>::max()});
}

TEST_P(DTypes, Booleans) {
  const std::array<bool, 5> values{true, false, true, true, false};
  const Tensor tensor = context().tensor({5}, values);
  EXPECT_EQ(tensor.dtype(), DType::boolean);
  EXPECT_EQ(tensor.read<bool>(), (std::vector<bool>{true, false, true, true, false}));
  EXPECT_EQ(tensor.read(), (std::vector<float>{1, 0, 1, 1, 0}));
  EXPECT_EQ(context().tensor({5}, tensor.read<bool>()).read<bool>(), tensor.read<bool>());
  EXPECT_TESSERA_ERROR(context().tensor({4}, tensor.read<bool>()), invalid_argument);
  // Any byte but 0 is true.
  const std::uint8_t bytes[] = {0, 1, 2, 255};
  EXPECT_EQ(
      context().tensor({4}, DType::boolean, std::as_bytes(std::span(bytes))).cast(DType::i32).read<std::int32_t>(),
      (std::vector<std::int32_t>{0, 1, 1, 1}));
}

TEST_P(DTypes, EveryHalfSurvivesAKernel) {
  std::vector<half> all;
  for (int bits = 0; bits < 65536; ++bits) all.push_back(half::from_bits(static_cast<std::uint16_t>(bits)));
  const Tensor tensor = context().tensor({65536}, all);
  const std::vector<float> widened = tensor.cast(DType::f32).read();
  const std::vector<half> stored = (-(-tensor)).read<half>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float value = all[i];
    ASSERT_TRUE(agrees(widened[i], value, 0)) << i;
    ASSERT_TRUE(agrees(stored[i], value, 0)) << i << ": " << value;
  }
}

TEST_P(DTypes, HalvesRoundToNearestEven) {
  const std::vector<float> values{
      1.0f,  1.00048828125f, 1.000488281251f, 1.00146484375f, 2049,          2051,    65504, 65519,    65520,     1e6f,
      -1e6f, 5.9604645e-8f,  2.9802322e-8f,   2.9802326e-8f,  8.9406967e-8f, 6.1e-5f, -0.1f, infinity, -infinity, nan};
  const std::vector<float> got =
      context().tensor({static_cast<std::int64_t>(values.size())}, values).cast(DType::f16).cast(DType::f32).read();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_TRUE(agrees(got[i], half(values[i]), 0)) << values[i] << " became " << got[i];
}

TEST_P(DTypes, EachOperationOnHalvesRounds) {
  // 2048 + 1 + 1 in halves is 2048 both times; a chain that rounded only at its end would give 2050.
  const Tensor x = context().full({3}, 2048, DType::f16);
  EXPECT_EQ(((x + 1.0f) + 1.0f).read(), (std::vector<float>{2048, 2048, 2048}));
  EXPECT_EQ((x * 100.0f / 100.0f).cast(DType::f32).read(), (std::vector<float>(3, infinity)));
}

TEST_P(DTypes, FloatToIntegerTruncatesAndSaturates) {
  const std::vector<float> values{0,      0.9f, -0.9f, 1.5f,  -1.5f,         127.9f,   128,       -129,
                                  255.5f, 256,  3e9f,  -3e9f, 2147483520.0f, infinity, -infinity, nan};
  const Tensor x = context().tensor({static_cast<std::int64_t>(values.size())}, values);
  constexpr std::int32_t low = std::numeric_limits<std::int32_t>::min(),
                         high = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(x.cast(DType::i32).read<std::int32_t>(),
            (std::vector<std::int32_t>{0, 0, 0, 1, -1, 127, 128, -129, 255, 256, high, low, 2147483520, high, low, 0}));
  EXPECT_EQ(x.cast(DType::i8).read<std::int8_t>(),
            (std::vector<std::int8_t>{0, 0, 0, 1, -1, 127, 127, -128, 127, 127, 127, -128, 127, 127, -128, 0}));
  EXPECT_EQ(x.cast(DType::u8).read<std::uint8_t>(),
            (std::vector<std::uint8_t>{0, 0, 0, 1, 0, 127, 128, 0, 255, 255, 255, 0, 255, 255, 0, 0}));
  EXPECT_EQ(x.cast(DType::boolean).read(), (std::vector<float>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST_P(DTypes, IntegersWrapWhenTheyNarrow) {
  const std::vector<std::int32_t> values{0,  127,  128,  255,   256,
                                         -1, -128, -129, 70000, std::numeric_limits<std::int32_t>::min()};
  const Tensor x = context().tensor({static_cast<std::int64_t>(values.size())}, values);
  std::vector<std::int8_t> narrow;
  std::vector<std::uint8_t> bytes;
  for (const std::int32_t value : values) {
    narrow.push_back(static_cast<std::int8_t>(value));
    bytes.push_back(static_cast<std::uint8_t>(value));
  }
  EXPECT_EQ(x.cast(DType::i8).read<std::int8_t>(), narrow);
  EXPECT_EQ(x.cast(DType::u8).read<std::uint8_t>(), bytes);
  EXPECT_EQ(x.cast(DType::f32).read(), as<float>(std::vector<float>(values.begin(), values.end())));
}

TEST_P(DTypes, EveryCastOfSmallNumbers) {
  const std::vector<float> values{0, 1, 2, 3, 100};
  for (const DType from : every_dtype)
    for (const DType to : every_dtype) {
      const std::vector<float> got = context().tensor({5}, values).cast(from).compute().cast(to).read();
      const bool is_truth = from == DType::boolean || to == DType::boolean;
      EXPECT_EQ(got, is_truth ? (std::vector<float>{0, 1, 1, 1, 1}) : values)
          << to_string(from) << " to " << to_string(to);
    }
}

TEST_P(DTypes, ConstantsOfEveryType) {
  for (const DType dtype : every_dtype) {
    EXPECT_EQ(context().full({5}, 1, dtype).read(), std::vector<float>(5, 1)) << to_string(dtype);
    EXPECT_EQ(context().zeros({2, 3}, dtype).read(), std::vector<float>(6, 0)) << to_string(dtype);
    EXPECT_EQ(context().full({}, 1, dtype).dtype(), dtype);
  }
  EXPECT_EQ(context().full({3}, -2147483648.0f, DType::i32).read<std::int32_t>(),
            std::vector<std::int32_t>(3, std::numeric_limits<std::int32_t>::min()));
  EXPECT_EQ(context().full({1}, infinity).read(), std::vector<float>{infinity});
  EXPECT_TRUE(std::isnan(context().full({1}, nan).read()[0]));
}

TEST_P(DTypes, IntegerChainsStayIntegers) {
  // Above 2^24 a float would lose the last digits.
  const Tensor x = context().tensor({2}, std::vector<std::int32_t>{16777217, -2147483647});
  EXPECT_EQ((x + 2.0f - 1.0f).read<std::int32_t>(), (std::vector<std::int32_t>{16777218, -2147483646}));
  EXPECT_EQ((x * x).read<std::int32_t>(), (std::vector<std::int32_t>{33554433, 1}));
}

// 16777217 is no float: whichever way a number comes in, an integer type has it or refuses it.
TEST_P(DTypes, NumbersBesideIntegersAreExact) {
  using Ints = std::vector<std::int32_t>;
  constexpr int odd = 16777217, high = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(context().full({1}, odd, DType::i32).read<std::int32_t>(), Ints{odd});
  EXPECT_EQ(context().full({1}, high, DType::i32).read<std::int32_t>(), Ints{high});
  const Tensor x = context().tensor({2}, Ints{0, odd});
  EXPECT_EQ((x + odd).read<std::int32_t>(), (Ints{odd, 2 * odd}));
  EXPECT_EQ((odd - x).read<std::int32_t>(), (Ints{odd, 0}));
  EXPECT_EQ(x.add(odd).sub(odd - 2).read<std::int32_t>(), (Ints{2, odd + 2}));
  EXPECT_EQ(x.mul(odd).read<std::int32_t>(), (Ints{0, 33554433}));
  EXPECT_EQ(x.div(odd).read<std::int32_t>(), (Ints{0, 1}));
  EXPECT_EQ((x == odd).read(), (std::vector<float>{0, 1}));
  EXPECT_EQ(maximum(x, odd).read<std::int32_t>(), (Ints{odd, odd}));
  EXPECT_EQ(bitwise_xor(x, odd).read<std::int32_t>(), (Ints{odd, 0}));
  EXPECT_EQ(where(x > 0, x, odd).read<std::int32_t>(), (Ints{odd, odd}));
  EXPECT_EQ(where(x > 0, odd, x).read<std::int32_t>(), (Ints{0, odd}));
  EXPECT_EQ(clip(x, -odd, odd).read<std::int32_t>(), (Ints{0, odd}));
  EXPECT_EQ(clip(x, odd, high).read<std::int32_t>(), (Ints{odd, odd}));
  EXPECT_EQ(pad(x, {{1, 1}}, odd).read<std::int32_t>(), (Ints{odd, 0, odd, odd}));
  EXPECT_EQ(pad(x, {{0, 1}}, high).read<std::int32_t>(), (Ints{0, odd, high}));
  EXPECT_EQ(
      one_hot(context().zeros({1}, DType::i32), 2, {.on = odd, .off = -odd, .dtype = DType::i32}).read<std::int32_t>(),
      (Ints{odd, -odd}));
  EXPECT_EQ(map_kernel("x + 16777217", {{"x", x}}).read<std::int32_t>(), (Ints{odd, 2 * odd}));
  EXPECT_EQ(map_kernel("x + (16777216 + 1) * 1 - -odd", {{"x", x}, {"odd", double{odd}}}).read<std::int32_t>(),
            (Ints{2 * odd, 3 * odd}));
  EXPECT_TESSERA_ERROR(x + 2147483648.0, dtype_mismatch, "add", "2147483648", "i32");
  EXPECT_TESSERA_ERROR(context().full({1}, static_cast<double>(INT64_MAX), DType::i32), dtype_mismatch, "full",
                       "922337203685477580");
  EXPECT_TESSERA_ERROR(context().full({1}, -2147483649.0, DType::i32), dtype_mismatch, "full", "-2147483649", "i32");
  EXPECT_TESSERA_ERROR(pad(x, {{1, 1}}, 0.5), dtype_mismatch, "pad", "0.5", "i32");
  EXPECT_TESSERA_ERROR(clip(x, 0.5, 3), dtype_mismatch, "clip", "0.5", "i32");
  EXPECT_TESSERA_ERROR(x * nan, dtype_mismatch, "mul", "nan", "i32");
}

TESSERA_ON_ALL_DEVICES(DTypes);

TEST(Half, ConvertsAsIeeeSays) {
  for (int bits = 0; bits < 65536; ++bits) {
    const half value = half::from_bits(static_cast<std::uint16_t>(bits));
    const float widened = value;
    if (std::isnan(widened)) EXPECT_TRUE(std::isnan(static_cast<float>(half(widened))));
    else EXPECT_EQ(half(widened).bits(), bits);
  }
  EXPECT_EQ(static_cast<float>(half::from_bits(0x0001)), 5.9604645e-8f);
  EXPECT_EQ(static_cast<float>(half::from_bits(0x7bff)), 65504.0f);
  EXPECT_EQ(half(65519.996f).bits(), 0x7bff);
  EXPECT_EQ(half(65520.0f).bits(), 0x7c00);
  EXPECT_EQ(half(2.9802322e-8f).bits(), 0);  // half of the smallest: to even
  EXPECT_EQ(half(2.9802326e-8f).bits(), 1);
  EXPECT_EQ(half(1.00048828125f).bits(), 0x3c00);  // a tie
}

}  // namespace
}  // namespace tessera::test::dtypes_test

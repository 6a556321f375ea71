// Fourier transforms, against sums in double.
#include <cmath>
#include <complex>
#include <functional>
#include <numbers>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::fft_test {
namespace {

using Numbers = std::vector<std::complex<double>>;

// Of `count` numbers, of which there may be fewer; others are zero.
Numbers by_hand(const Numbers& x, std::size_t count, double sign) {
  Numbers result(count);
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t j = 0; j < std::min(count, x.size()); ++j)
      result[k] += x[j] * std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(j * k % count) /
                                              static_cast<double>(count));
  return result;
}

Numbers complex_of(const std::vector<float>& values) {
  Numbers numbers;
  for (std::size_t i = 0; i < values.size(); i += 2) numbers.emplace_back(values[i], values[i + 1]);
  return numbers;
}

std::vector<float> parts_of(const Numbers& numbers) {
  std::vector<float> parts;
  for (const auto& number : numbers) {
    parts.push_back(static_cast<float>(number.real()));
    parts.push_back(static_cast<float>(number.imag()));
  }
  return parts;
}

Numbers first(Numbers numbers, std::size_t count) {
  numbers.resize(count);
  return numbers;
}

class FourierTest : public OnDevice {
 protected:
  // Errors are in relation to the largest numbers, which are about sqrt(count).
  void expect_near(const Tensor& got, const std::vector<float>& want, double tolerance) {
    const std::vector<float> values = got.cast(DType::f32).read();
    ASSERT_EQ(values.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(values[i], want[i], tolerance) << i;
  }
  void check(std::size_t count) {
    SCOPED_TRACE(count);
    const auto n = static_cast<std::int64_t>(count);
    const double tolerance = 4e-6 * std::sqrt(static_cast<double>(count));
    const std::vector<float> values = random_values(2 * count, -1, 1, 3);
    const Tensor x = context().tensor({n, 2}, values);
    const Numbers numbers = complex_of(values);
    expect_near(fft(x), parts_of(by_hand(numbers, count, -1)), tolerance);
    Numbers inverse = by_hand(numbers, count, 1);
    for (auto& number : inverse) number /= static_cast<double>(count);
    expect_near(ifft(x), parts_of(inverse), tolerance);
    const std::vector<float> reals(values.begin(), values.begin() + n);
    const Numbers spectrum = by_hand(Numbers(reals.begin(), reals.end()), count, -1);
    const Tensor half = rfft(context().tensor({n}, reals));
    EXPECT_EQ(half.shape(), (Shape{n / 2 + 1, 2}));
    expect_near(half, parts_of(first(spectrum, count / 2 + 1)), tolerance);
    expect_near(fft(context().tensor({n, 1}, reals)), parts_of(spectrum), tolerance);
    expect_near(irfft(half, -2, n), reals, tolerance);
  }
};

TEST_P(FourierTest, EveryRadix) {
  for (const std::size_t count : {1, 2, 3, 4, 5, 7, 8, 16, 30, 61, 96}) check(count);
}

TEST_P(FourierTest, LengthsWithLargePrimeFactors) {
  for (const std::size_t count : {67, 134}) check(count);
}

TEST_P(FourierTest, LongOnes) { check(1000); }

TEST_P(FourierTest, OtherAxes) {
  for (const std::int64_t inner : {2, 3}) {
    SCOPED_TRACE(inner);
    const std::int64_t count = 6;
    const std::vector<float> values = random_values(static_cast<std::size_t>(2 * count * inner * 2), -1, 1, 4);
    const Tensor x = context().tensor({2, count, inner, 2}, values);
    const Tensor in_order = transpose(x, {0, 2, 1, 3});
    for (const auto transform : {fft, ifft}) {
      const Tensor want = transpose(transform(in_order, 2, {}), {0, 2, 1, 3});
      expect_near(transform(x, 1, {}), want.read(), 1e-6);
      expect_near(transform(x, -3, 4), transpose(transform(in_order, 2, 4), {0, 2, 1, 3}).read(), 1e-6);
    }
    const std::vector<float> lines = in_order.read();
    const Numbers line = complex_of({lines.begin(), lines.begin() + 2 * count});
    const std::vector<float> transformed = fft(in_order, 2).read();
    expect_near(context().tensor({count, 2}, std::vector<float>(transformed.begin(), transformed.begin() + 2 * count)),
                parts_of(by_hand(line, static_cast<std::size_t>(count), -1)), 1e-5);
  }
}

TEST_P(FourierTest, OtherLengths) {
  const std::vector<float> values = random_values(20, -1, 1, 5);
  const Tensor x = context().tensor({10, 2}, values);
  for (const std::size_t length : {1, 6, 16}) {
    SCOPED_TRACE(length);
    const auto count = static_cast<std::int64_t>(length);
    expect_near(fft(x, 0, count), parts_of(by_hand(complex_of(values), length, -1)), 1e-5);
    const std::vector<float> reals(values.begin(), values.begin() + 10);
    expect_near(rfft(context().tensor({10}, reals), 0, count),
                parts_of(first(by_hand(Numbers(reals.begin(), reals.end()), length, -1), length / 2 + 1)), 1e-5);
  }
  // Worked out by the definition: of 1, 2i, 3 and the conjugate of 2i.
  const Tensor half = context().tensor({3, 2}, {1, 0, 0, 2, 3, 0});
  expect_near(irfft(half), {1, -1.5f, 1, 0.5f}, 1e-6);
}

TEST_P(FourierTest, TakesHalves) {
  const Tensor x = context().tensor({8, 2}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}).cast(DType::f16);
  EXPECT_EQ(fft(x).dtype(), DType::f16);
  EXPECT_EQ(fft(x).cast(DType::f32).read(), (std::vector<float>{1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}));
}

TEST_P(FourierTest, PassesGrowWithTheLogarithm) {
  const auto passes = [&](const Tensor& result) {
    context().reset_stats();
    result.compute();
    return context().stats().dispatches;
  };
  const Tensor x = context().tensor({4096}, random_values(4096, -1, 1, 6));
  EXPECT_EQ(passes(rfft(x, 0, 64)), 2u);
  EXPECT_EQ(passes(rfft(x, 0, 512)), 3u);
  EXPECT_EQ(passes(rfft(x, 0, 1000)), 4u);  // 8, 5, 5, 5
  EXPECT_EQ(passes(rfft(x)), 4u);
  EXPECT_EQ(passes(rfft(x, 0, 61)), 1u);
  // Three transforms of 128 numbers, the numbers themselves, and three products.
  EXPECT_EQ(passes(rfft(x, 0, 64 - 3 + 6)), 3u * 3u + 1u + 3u);
}

TEST_P(FourierTest, WithoutElements) {
  EXPECT_EQ(fft(context().zeros({0, 4, 2})).shape(), (Shape{0, 4, 2}));
  EXPECT_EQ(fft(context().zeros({0, 2}), 0, 2).read(), (std::vector<float>{0, 0, 0, 0}));
}

TEST_P(FourierTest, BadInput) {
  const auto expect = [&](ErrorCode code, std::string_view sentence, const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "No error: " << sentence;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(std::string_view(error.what()), sentence);
    }
  };
  const Tensor x = context().zeros({4, 2});
  expect(ErrorCode::invalid_argument, "fft: axis 1 of x [4,2] has the parts of a number.", [&] { fft(x, 1); });
  expect(ErrorCode::invalid_argument, "fft: axis 2 is outside of a tensor of rank 2.", [&] { fft(x, 2); });
  expect(ErrorCode::invalid_argument, "ifft: a length of 0 is outside of 1 to 16777216.", [&] { ifft(x, 0, 0); });
  expect(ErrorCode::invalid_argument, "irfft: a length of 0 is outside of 1 to 16777216.", [&] {
    irfft(context().zeros({1, 2}));
  });
  expect(ErrorCode::shape_mismatch,
         "fft: the last axis of x [2,3] has 3 elements; it has the real and the imaginary part of a number.", [&] {
           fft(context().zeros({2, 3}));
         });
  expect(ErrorCode::dtype_mismatch, "rfft: an operand is i32; it takes floats.",
         [&] { rfft(context().zeros({4}, DType::i32)); });
}

TESSERA_ON_EACH_BACKEND(FourierTest);

}  // namespace
}  // namespace tessera::test::fft_test

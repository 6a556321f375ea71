// Separable filters and histograms, against plain loops.
#include <cmath>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::filter_test {
namespace {

class Filters : public OnDevice {
 protected:
  static double pixel(const std::vector<float>& values, const Shape& shape, std::int64_t n, std::int64_t y,
                      std::int64_t x, std::int64_t c, Border border) {
    for (auto [at, size] : {std::pair<std::int64_t*, std::int64_t>{&y, shape[1]}, {&x, shape[2]}}) {
      if (border == Border::zero && (*at < 0 || *at >= size)) return 0;
      if (border == Border::edge || size == 1) *at = std::clamp<std::int64_t>(*at, 0, size - 1);
      while (*at < 0 || *at >= size) *at = *at < 0 ? -*at : 2 * (size - 1) - *at;
    }
    return values[static_cast<std::size_t>(((n * shape[1] + y) * shape[2] + x) * shape[3] + c)];
  }

  // All taps at once, as one filter of two dimensions.
  static std::vector<float> by_hand(const std::vector<float>& values, const Shape& shape, const std::vector<float>& row,
                                    const std::vector<float>& column, Border border) {
    std::vector<float> result;
    const auto across = static_cast<std::int64_t>(row.size()), down = static_cast<std::int64_t>(column.size());
    for (std::int64_t n = 0; n < shape[0]; ++n)
      for (std::int64_t y = 0; y < shape[1]; ++y)
        for (std::int64_t x = 0; x < shape[2]; ++x)
          for (std::int64_t c = 0; c < shape[3]; ++c) {
            double total = 0;
            for (std::int64_t i = 0; i < down; ++i)
              for (std::int64_t j = 0; j < across; ++j)
                total += double{column[static_cast<std::size_t>(i)]} * double{row[static_cast<std::size_t>(j)]} *
                         pixel(values, shape, n, y + i - down / 2, x + j - across / 2, c, border);
            result.push_back(static_cast<float>(total));
          }
    return result;
  }
};

constexpr Border all_borders[] = {Border::zero, Border::edge, Border::reflect};

TEST_P(Filters, AgainstPlainLoops) {
  const std::vector<float> row{0.1f, -0.5f, 2}, column{1, 0.25f, -1, 0.5f, 3};
  for (const Border border : all_borders)
    for (const Shape& shape :
         {Shape{1, 6, 5, 3}, Shape{2, 5, 4, 4}, Shape{1, 1, 1, 1}, Shape{1, 2, 1, 2}, Shape{1, 3, 8, 1}}) {
      SCOPED_TRACE(shape.to_string() + ", border " + std::to_string(static_cast<int>(border)));
      const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -1, 1, 71);
      const std::vector<float> want = by_hand(values, shape, row, column, border);
      const Tensor image = context().tensor(shape, values);
      EXPECT_TRUE(all_agree(separable_filter(image, row, column, border).read(), want, 1e-5f));
      EXPECT_TRUE(
          all_agree(separable_filter(image, context().tensor({3}, row), context().tensor({5}, column), border).read(),
                    want, 1e-5f));
    }
}

TEST_P(Filters, BordersAsTheHeaderDrawsThem) {
  const Tensor abc = context().tensor({1, 3, 1}, {1, 2, 3});
  const std::vector<float> two_before{1, 0, 0, 0, 0}, two_after{0, 0, 0, 0, 1};
  const auto shifted = [&](const std::vector<float>& row, Border border) {
    return separable_filter(abc, row, {1}, border).read();
  };
  EXPECT_EQ(shifted(two_before, Border::zero), (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(shifted(two_before, Border::edge), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(shifted(two_before, Border::reflect), (std::vector<float>{3, 2, 1}));
  EXPECT_EQ(shifted(two_after, Border::reflect), (std::vector<float>{3, 2, 1}));
}

TEST_P(Filters, BytesAndHalves) {
  const Tensor bytes = context().tensor({1, 3, 1}, std::vector<std::uint8_t>{0, 100, 255});
  const auto filtered = [&](const std::vector<float>& row) {
    return separable_filter(bytes, row, {1}, Border::edge).read<std::uint8_t>();
  };
  EXPECT_EQ(filtered({0.25f, 0.5f, 0.25f}), (std::vector<std::uint8_t>{25, 114, 216}));  // 113.75, 216.25
  EXPECT_EQ(filtered({-1, 0, 1}), (std::vector<std::uint8_t>{100, 255, 155}));
  EXPECT_EQ(filtered({1, 0, -1}), (std::vector<std::uint8_t>{0, 0, 0}));
  const Tensor halves = context().tensor({1, 3, 1}, as<half>({1, 2, 4}));
  EXPECT_EQ(separable_filter(halves, {0.5f, 0, 0.5f}, {2}, Border::edge).read<half>(), as<half>({3, 5, 6}));
}

TEST_P(Filters, GaussianBlur) {
  // An impulse comes out as the product of two normal curves, whole.
  std::vector<float> impulse(81);
  impulse[40] = 1;
  const std::vector<float> got = gaussian_blur(context().tensor({9, 9, 1}, impulse), 1.2f, Border::zero).read();
  double total = 0, curve = 0;
  for (int i = -4; i <= 4; ++i) curve += std::exp(-i * i / (2 * 1.44));
  for (int i = 0; i < 81; ++i) {
    const int dy = i / 9 - 4, dx = i % 9 - 4;
    EXPECT_NEAR(got[static_cast<std::size_t>(i)], std::exp(-(dy * dy + dx * dx) / (2 * 1.44)) / (curve * curve), 1e-6);
    total += got[static_cast<std::size_t>(i)];
  }
  EXPECT_NEAR(total, 1, 1e-5);
  // More taps than words, and more than the image has pixels.
  EXPECT_TRUE(
      all_agree(gaussian_blur(context().full({4, 5, 2}, 0.5f), 15).read(), std::vector<float>(40, 0.5f), 1e-5f));
  EXPECT_EQ(gaussian_blur(context().full({1, 4, 4, 3}, 200, DType::u8), 2).read<std::uint8_t>(),
            std::vector<std::uint8_t>(48, 200));
  EXPECT_TRUE(gaussian_blur(context().zeros({0, 4, 3}), 2).read().empty());
}

TEST_P(Filters, Sobel) {
  // On a ramp of 2 to the right and 3 downwards, away from the edge: 8 times each.
  std::vector<float> ramp;
  for (int i = 0; i < 25; ++i) ramp.push_back(static_cast<float>(2 * (i % 5) + 3 * (i / 5)));
  const Gradient gradient = sobel(context().tensor({5, 5, 1}, ramp)),
                 of_bytes = sobel(context().tensor({5, 5, 1}, as<std::uint8_t>(ramp)));
  EXPECT_EQ(gradient.x.read()[12], 16);
  EXPECT_EQ(gradient.y.read()[12], 24);
  EXPECT_EQ(gradient.x.read()[0], 0);  // both neighbours of the corner are the same pixel
  EXPECT_EQ(of_bytes.x.dtype(), DType::f32);
  EXPECT_EQ(of_bytes.y.read(), gradient.y.read());
}

TEST_P(Filters, TwoDispatchesAndOtherNumbersCompileNothing) {
  const Tensor frame = context().tensor({8, 9, 3}, as<std::uint8_t>(random_values(216, 0, 255, 2))).compute();
  const Tensor other = context().tensor({7, 11, 3}, as<std::uint8_t>(random_values(231, 0, 255, 2))).compute();
  context().reset_stats();
  to_float(gaussian_blur(frame, 1)).compute();
  EXPECT_EQ(context().stats().dispatches, 2u);
  context().reset_stats();
  to_float(gaussian_blur(other, 0.9f)).compute();  // as many taps
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

// A tap that counts for nothing is not read: what lies there may be anything.
TEST_P(Filters, TapsOfZeroAreNotRead) {
  std::vector<float> image(49, 1);
  image[24] = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = context().tensor({7, 7, 1}, image);
  const std::vector<float> around{0.5f, 0, 0.5f}, itself{0, 1, 0};
  for (const Border border : all_borders) {
    EXPECT_EQ(separable_filter(x, around, itself, border).read()[24], 1);
    EXPECT_EQ(separable_filter(x, itself, around, border).read()[24], 1);
  }
}

// Filters that reach beyond the image and around it again, on both sides of where one reflection is enough.
TEST_P(Filters, WeightsThatAreOneNumber) {
  const Tensor image = context().tensor({4, 4, 1}, random_values(16, 0, 1, 3));
  const Tensor thirds = context().full({3}, 1 / 3.0f);
  const Tensor mean = separable_filter(image, thirds, thirds, Border::edge);
  const std::vector<float> third(3, 1 / 3.0f);
  EXPECT_TRUE(all_agree(mean.read(), separable_filter(image, third, third, Border::edge).read(), 1e-6f));
}

TEST_P(Filters, ReflectionsOfSmallImages) {
  for (const std::int64_t size : {1, 2, 3, 4, 5})
    for (const std::size_t taps : {3u, 5u, 7u, 9u, 11u}) {
      SCOPED_TRACE(std::to_string(size) + " pixels, " + std::to_string(taps) + " taps");
      const auto values = random_values(static_cast<std::size_t>(3 * size), -1, 1, 5),
                 weights = random_values(taps, -1, 1, 6);
      std::vector<float> want;
      for (std::int64_t pixel = 0; pixel < size; ++pixel)
        for (std::int64_t channel = 0; channel < 3; ++channel) {
          float total = 0;
          for (std::size_t tap = 0; tap < taps; ++tap) {
            std::int64_t at = pixel + static_cast<std::int64_t>(tap) - static_cast<std::int64_t>(taps / 2);
            while (size > 1 && (at < 0 || at >= size)) at = at < 0 ? -at : 2 * (size - 1) - at;
            total += weights[tap] * values[static_cast<std::size_t>((size > 1 ? at : 0) * 3 + channel)];
          }
          want.push_back(total);
        }
      const Tensor x = context().tensor({1, size, 3}, values);
      EXPECT_TRUE(all_agree(separable_filter(x, weights, {1}, Border::reflect).read(), want, 1e-5f));
    }
}

TEST_P(Filters, HistogramsCountExactly) {
  for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{2, 5, 7, 3}, Shape{1, 40, 53, 1}, Shape{1, 64, 50, 4}})
    for (const int bins : {1, 5, 256}) {
      SCOPED_TRACE(shape.to_string() + ", " + std::to_string(bins) + " bins");
      const auto values = as<std::uint8_t>(random_values(static_cast<std::size_t>(shape.size()), 0, 255.9f, 81));
      std::vector<std::int32_t> want(static_cast<std::size_t>(shape[0] * shape[3] * bins));
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto channels = static_cast<std::size_t>(shape[3]),
                   image = i / static_cast<std::size_t>(shape[1] * shape[2] * shape[3]);
        ++want[(image * channels + i % channels) * static_cast<std::size_t>(bins) +
               static_cast<std::size_t>(values[i] * bins / 256)];
      }
      const Tensor counts = histogram(context().tensor(shape, values), bins);
      EXPECT_EQ(counts.shape(), (Shape{shape[0], shape[3], bins}));
      EXPECT_EQ(counts.read<std::int32_t>(), want);
    }
}

TEST_P(Filters, HistogramsOfFloats) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const Tensor x = context().tensor({1, 11, 1}, {0, 0.1f, 0.25f, 0.4f, 0.5f, 0.99f, 1, 1.1f, -0.1f, nan, infinity});
  EXPECT_EQ(histogram(x, 4).read<std::int32_t>(), (std::vector<std::int32_t>{2, 2, 1, 2}));
  EXPECT_EQ(histogram(x, 4).shape(), (Shape{1, 4}));
  EXPECT_EQ(histogram(x, 2, -1, 1).read<std::int32_t>(), (std::vector<std::int32_t>{1, 7}));
  EXPECT_EQ(histogram(context().full({3, 3, 2}, 0.75f, DType::f16), 2).read<std::int32_t>(),
            (std::vector<std::int32_t>{0, 9, 0, 9}));
  EXPECT_EQ(histogram(context().zeros({0, 3, 2}), 3).read<std::int32_t>(), std::vector<std::int32_t>(6, 0));
  EXPECT_TRUE(histogram(context().zeros({0, 3, 3, 2}), 3).read<std::int32_t>().empty());
}

TEST_P(Filters, BadInput) {
  const Tensor x = context().zeros({4, 4, 3});
  EXPECT_TESSERA_ERROR(separable_filter(x, {1, 2}, {1}), invalid_argument, "separable_filter", "row", "2 taps");
  EXPECT_TESSERA_ERROR(separable_filter(x, {1}, std::vector<float>{}), invalid_argument, "separable_filter", "column",
                       "0 taps");
  EXPECT_TESSERA_ERROR(separable_filter(x, context().zeros({3, 1}), context().zeros({3})), shape_mismatch,
                       "separable_filter", "row", "[3,1]");
  EXPECT_TESSERA_ERROR(separable_filter(x, context().zeros({3}), context().zeros({4})), invalid_argument,
                       "separable_filter", "column", "4 taps");
  EXPECT_TESSERA_ERROR(separable_filter(context().zeros({4, 4}), {1}, {1}), shape_mismatch, "separable_filter",
                       "[4,4]");
  EXPECT_TESSERA_ERROR(gaussian_blur(x, 0), invalid_argument, "gaussian_blur", "0.0");
  EXPECT_TESSERA_ERROR(gaussian_blur(x, std::numeric_limits<float>::quiet_NaN()), invalid_argument, "gaussian_blur",
                       "nan");
  EXPECT_TESSERA_ERROR(gaussian_blur(context().zeros({4, 4, 3}, DType::i32), 1), dtype_mismatch, "gaussian_blur",
                       "i32");
  EXPECT_TESSERA_ERROR(sobel(context().zeros({4})), shape_mismatch, "sobel", "[4]");
  EXPECT_TESSERA_ERROR(histogram(x, 0), invalid_argument, "histogram", "0 bins", "65536");
  EXPECT_TESSERA_ERROR(histogram(x, (std::int64_t{1} << 32) + 4), invalid_argument, "histogram", "4294967300 bins");
  EXPECT_TESSERA_ERROR(histogram(x, 4, 1, 1), invalid_argument, "histogram", "low (1.0", "high (1.0");
  EXPECT_TESSERA_ERROR(histogram(context().zeros({4, 4, 3}, DType::i32), 4), dtype_mismatch, "histogram", "i32");
  EXPECT_TESSERA_ERROR(histogram(context().zeros({4, 4}), 4), shape_mismatch, "histogram", "[4,4]");
}

TESSERA_ON_EACH_BACKEND(Filters);

}  // namespace
}  // namespace tessera::test::filter_test

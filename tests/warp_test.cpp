// Crops, affine transforms and rotations, against TF.js's own examples and plain loops.
#include <cmath>
#include <numbers>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::warp_test {
namespace {

class Warping : public OnDevice {
 protected:
  std::vector<float> crop(const Tensor& image, const std::vector<float>& boxes,
                          const std::vector<std::int32_t>& indices, int height, int width,
                          const CropAndResize& options = {}) {
    const auto count = static_cast<std::int64_t>(indices.size());
    const Tensor result = crop_and_resize(image, context().tensor({count, 4}, boxes),
                                          context().tensor({count}, indices), height, width, options);
    EXPECT_EQ(result.shape(), (Shape{count, height, width, image.shape()[-1]}));
    return result.read();
  }

  // The pixel at whole coordinates, or the fill.
  static float pixel(const std::vector<float>& values, const Shape& shape, std::int64_t n, double y, double x,
                     std::int64_t c, float fill) {
    if (y < 0 || x < 0 || y >= static_cast<double>(shape[1]) || x >= static_cast<double>(shape[2])) return fill;
    const auto row = static_cast<std::int64_t>(y), column = static_cast<std::int64_t>(x);
    return values[static_cast<std::size_t>(((n * shape[1] + row) * shape[2] + column) * shape[3] + c)];
  }

  void check(const Shape& shape, int height, int width, const std::array<float, 6>& m, Interpolation mode) {
    const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -1, 1, 12);
    std::vector<float> want;
    for (std::int64_t n = 0; n < shape[0]; ++n)
      for (int i = 0; i < height; ++i)
        for (int j = 0; j < width; ++j)
          for (std::int64_t c = 0; c < shape[3]; ++c) {
            const double x = double{m[0]} * j + double{m[1]} * i + double{m[2]},
                         y = double{m[3]} * j + double{m[4]} * i + double{m[5]};
            const auto at = [&](double row, double column) { return pixel(values, shape, n, row, column, c, 0.5f); };
            if (mode == Interpolation::nearest) {
              want.push_back(at(std::floor(y + 0.5), std::floor(x + 0.5)));
              continue;
            }
            const double top = std::floor(y), left = std::floor(x), fy = y - top, fx = x - left;
            want.push_back(static_cast<float>((1 - fy) * ((1 - fx) * at(top, left) + fx * at(top, left + 1)) +
                                              fy * ((1 - fx) * at(top + 1, left) + fx * at(top + 1, left + 1))));
          }
    const Tensor result = affine_transform(context().tensor(shape, values), m,
                                           {.mode = mode, .height = height, .width = width, .fill = {0.5f}});
    EXPECT_EQ(result.shape(), (Shape{shape[0], height, width, shape[3]}));
    EXPECT_TRUE(all_agree(result.read(), want, 1e-5f)) << shape.to_string();
  }

  Tensor two() { return context().tensor({1, 2, 2, 1}, {1, 2, 3, 4}); }
};

// tfjs-core's crop_and_resize_test.ts
TEST_P(Warping, CropsLikeTfjs) {
  const CropAndResize nearest{.mode = Interpolation::nearest};
  const Tensor three = context().tensor({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor batch = context().tensor({2, 2, 2, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_TRUE(all_agree(crop(two(), {0, 0, 1, 1}, {0}, 1, 1), {2.5f}, 1e-6f));
  EXPECT_TRUE(all_agree(crop(two(), {0, 0, 1, 1}, {0}, 1, 1, nearest), {4}, 1e-6f));
  EXPECT_TRUE(all_agree(crop(two(), {0, 0, 1, 1}, {0}, 3, 3), {1, 1.5f, 2, 2, 2.5f, 3, 3, 3.5f, 4}, 1e-6f));
  EXPECT_TRUE(all_agree(crop(two(), {0, 0, 1, 1}, {0}, 3, 3, nearest), {1, 2, 2, 3, 4, 4, 3, 4, 4}, 0));
  EXPECT_TRUE(all_agree(crop(two(), {1, 1, 0, 0}, {0}, 3, 3), {4, 3.5f, 3, 3, 2.5f, 2, 2, 1.5f, 1}, 1e-6f));
  EXPECT_TRUE(all_agree(crop(two(), {1, 1, 0, 0}, {0}, 3, 3, nearest), {4, 4, 3, 4, 4, 3, 2, 2, 1}, 0));
  EXPECT_TRUE(all_agree(crop(three, {0, 0, 1, 1, 0, 0, 0.5f, 0.5f}, {0, 0}, 2, 2), {1, 3, 7, 9, 1, 2, 4, 5}, 1e-6f));
  EXPECT_TRUE(
      all_agree(crop(three, {1, 1, 0, 0, 0.5f, 0.5f, 0, 0}, {0, 0}, 2, 2, nearest), {9, 7, 3, 1, 5, 4, 2, 1}, 0));
  EXPECT_TRUE(all_agree(crop(two(), {0, 0, 1, 1.5f}, {0}, 3, 3), {1, 1.75f, 0, 2, 2.75f, 0, 3, 3.75f, 0}, 1e-6f));
  EXPECT_TRUE(all_agree(crop(two(), {-1, -1, 1, 1}, {0}, 3, 3, {.extrapolation = -1.5f}),
                        {-1.5f, -1.5f, -1.5f, -1.5f, 1, 2, -1.5f, 3, 4}, 1e-6f));
  EXPECT_TRUE(all_agree(crop(batch, {0, 0, 1, 1.5f, 0, 0, 1.5f, 1}, {0, 1}, 3, 3),
                        {1, 1.75f, 0, 2, 2.75f, 0, 3, 3.75f, 0, 5, 5.5f, 6, 6.5f, 7, 7.5f, 0, 0, 0}, 1e-6f));
  EXPECT_TRUE(crop(two(), {}, {}, 3, 3).empty());
}

TEST_P(Warping, CropsOfImagesThatAreNotThereAndOfOtherTypes) {
  EXPECT_EQ(crop(two(), {0, 0, 1, 1, 0, 0, 1, 1}, {1, -1}, 1, 2, {.extrapolation = 7}),
            (std::vector<float>{7, 7, 7, 7}));
  const Tensor u8 = context().tensor({1, 2, 2, 1}, std::vector<std::uint8_t>{0, 255, 100, 201});
  EXPECT_EQ(crop(u8, {0, 0, 1, 1}, {0}, 1, 3), (std::vector<float>{50, 139, 228}));
  // Four channels, a whole image at its own size with borders that rounding could put outside.
  const std::vector<float> values = random_values(static_cast<std::size_t>(7 * 11 * 4), 0, 1, 5);
  EXPECT_TRUE(all_agree(crop(context().tensor({7, 11, 4}, values), {0, 0, 1, 1}, {0}, 7, 11, {.extrapolation = 99}),
                        values, 1e-5f));
}

TEST_P(Warping, AffineAgainstPlainLoops) {
  for (const Interpolation mode : {Interpolation::nearest, Interpolation::bilinear}) {
    check({1, 5, 6, 3}, 5, 6, {1, 0, 0, 0, 1, 0}, mode);
    check({2, 5, 6, 4}, 4, 7, {0.9f, 0.21f, -0.717f, -0.33f, 1.1f, 0.42f}, mode);
    check({1, 1, 1, 1}, 3, 3, {1, 0, -1, 0, 1, -1}, mode);
    check({1, 3, 4, 2}, 9, 9, {0.31f, 0, -0.3f, 0, 0.31f, -0.3f}, mode);
  }
}

TEST_P(Warping, AffineFillsAndTypes) {
  const Tensor rgb = context().tensor({1, 1, 3}, std::vector<std::uint8_t>{10, 20, 30});
  EXPECT_EQ(affine_transform(rgb, {1, 0, 0, 0, 1, 0}, {.width = 2, .fill = {1, 2, 255}}).read<std::uint8_t>(),
            (std::vector<std::uint8_t>{10, 20, 30, 1, 2, 255}));
  const Tensor halves = context().tensor({1, 2, 1}, as<half>({1, 2}));
  EXPECT_EQ(affine_transform(halves, {1, 0, 0.5f, 0, 1, 0}).read<half>(), as<half>({1.5f, 1}));
}

TEST_P(Warping, RotatesLikeTfjs) {
  // The definition, for each pixel: rotate about (width / 2, height / 2), take the nearest one.
  for (const double degrees : {0.0, 30.0, 90.0, 135.0, 180.0, 270.0, -45.0}) {
    SCOPED_TRACE(degrees);
    const Shape shape{1, 4, 5, 3};
    const std::vector<float> values = random_values(60, 0, 1, 21);
    const double radians = degrees * std::numbers::pi / 180;
    std::vector<float> want;
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 5; ++x)
        for (std::int64_t c = 0; c < 3; ++c) {
          const double from_x = (x - 2.5) * std::cos(radians) - (y - 2.0) * std::sin(radians) + 2.5;
          const double from_y = (x - 2.5) * std::sin(radians) + (y - 2.0) * std::cos(radians) + 2.0;
          want.push_back(pixel(values, shape, 0, std::floor(from_y + 0.5 + 1e-9), std::floor(from_x + 0.5 + 1e-9), c,
                               static_cast<float>(c)));
        }
    EXPECT_TRUE(all_agree(
        rotate(context().tensor(shape, values), static_cast<float>(radians), {.fill = {0, 1, 2}}).read(), want, 0));
  }
  // About the pixel in the middle a quarter turn moves the lower right corner to the upper right one.
  const Tensor three = context().tensor({3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(rotate(three, std::numbers::pi_v<float> / 2, {.centre_x = 1.0f / 3, .centre_y = 1.0f / 3}).read(),
            (std::vector<float>{3, 6, 9, 2, 5, 8, 1, 4, 7}));
}

TEST_P(Warping, NumbersAndSizesCompileNothing) {
  const Tensor frame = context().tensor({8, 8, 4}, as<std::uint8_t>(random_values(256, 0, 255, 1))).compute();
  to_float(rotate(frame, 0.1f)).compute();
  context().reset_stats();
  to_float(affine_transform(frame, {2, 0, 0, 0, 2, 0},
                            {.mode = Interpolation::nearest, .height = 3, .width = 5, .fill = {9}}))
      .compute();
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
  EXPECT_EQ(context().stats().dispatches, 1u);
}

TEST_P(Warping, BadInput) {
  const Tensor boxes = context().zeros({2, 4}), indices = context().zeros({2}, DType::i32);
  constexpr std::int64_t beyond_32_bits = (std::int64_t{1} << 32) + 2;
  EXPECT_TESSERA_ERROR(crop_and_resize(two(), boxes, indices, beyond_32_bits, 2), invalid_argument, "crop_and_resize",
                       "(4294967298)");
  EXPECT_TESSERA_ERROR(affine_transform(two(), {1, 0, 0, 0, 1, 0}, {.width = beyond_32_bits}), invalid_argument,
                       "affine_transform", "(4294967298)");
  EXPECT_TESSERA_ERROR(crop_and_resize(two(), context().zeros({2, 3}), indices, 2, 2), shape_mismatch,
                       "crop_and_resize", "[n,4]", "[2,3]");
  EXPECT_TESSERA_ERROR(crop_and_resize(two(), boxes, context().zeros({3}, DType::i32), 2, 2), shape_mismatch,
                       "crop_and_resize", "[2,4]", "[3]");
  EXPECT_TESSERA_ERROR(crop_and_resize(two(), boxes, context().zeros({2}), 2, 2), dtype_mismatch, "crop_and_resize",
                       "f32", "i32");
  EXPECT_TESSERA_ERROR(crop_and_resize(two(), boxes, indices, 2, 0), invalid_argument, "crop_and_resize", "(2)", "(0)");
  EXPECT_TESSERA_ERROR(crop_and_resize(two(), boxes, indices, 2, 2, {.mode = Interpolation::cubic}), invalid_argument,
                       "crop_and_resize", "cubic");
  EXPECT_TESSERA_ERROR(crop_and_resize(context().zeros({0, 2, 2, 1}), boxes, indices, 2, 2), invalid_argument,
                       "[0,2,2,1]", "[2,4]");
  EXPECT_TESSERA_ERROR(affine_transform(two(), {}, {.fill = {1, 2}}), invalid_argument, "affine_transform", "2 numbers",
                       "1 channels");
  EXPECT_TESSERA_ERROR(affine_transform(two(), {}, {.height = -2}), invalid_argument, "affine_transform", "(-2)",
                       "(2)");
  EXPECT_TESSERA_ERROR(rotate(context().zeros({2, 2, 1}, DType::i32), 1), dtype_mismatch, "rotate", "i32", "u8");
  EXPECT_TESSERA_ERROR(rotate(context().zeros({2, 2}), 1), shape_mismatch, "rotate", "[2,2]");
}

TESSERA_ON_EACH_BACKEND(Warping);

}  // namespace
}  // namespace tessera::test::warp_test

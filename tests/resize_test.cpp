// Resizing and flipping, against ONNX's own examples and plain loops.
#include <cmath>
#include <functional>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::resize_test {
namespace {

class Resizing : public OnDevice {
 protected:
  // Where pixel i of `out` lies among `in`, straight from ONNX's definitions.
  static double place(Coordinates coordinates, std::int64_t i, std::int64_t in, std::int64_t out) {
    const auto pixel = static_cast<double>(i), from = static_cast<double>(in), to = static_cast<double>(out);
    if (coordinates == Coordinates::align_corners) return out == 1 ? 0 : pixel * (from - 1) / (to - 1);
    return coordinates == Coordinates::asymmetric ? pixel * from / to : (pixel + 0.5) * from / to - 0.5;
  }

  static double weight(const Resize& options, double distance) {
    const double d = std::fabs(distance), a = options.cubic_coefficient;
    if (options.mode == Interpolation::bilinear) return std::max(0.0, 1 - d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
  }

  static std::vector<float> by_hand(const std::vector<float>& values, const Shape& shape, int height, int width,
                                    const Resize& options) {
    std::vector<float> result;
    const auto pixel = [&](std::int64_t n, double y, double x, std::int64_t c) {
      const auto row = static_cast<std::int64_t>(std::clamp(y, 0.0, static_cast<double>(shape[1] - 1)));
      const auto column = static_cast<std::int64_t>(std::clamp(x, 0.0, static_cast<double>(shape[2] - 1)));
      return values[static_cast<std::size_t>(((n * shape[1] + row) * shape[2] + column) * shape[3] + c)];
    };
    for (std::int64_t n = 0; n < shape[0]; ++n)
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j)
          for (std::int64_t c = 0; c < shape[3]; ++c) {
            const double y = place(options.coordinates, i, shape[1], height),
                         x = place(options.coordinates, j, shape[2], width);
            if (options.mode == Interpolation::nearest) {  // halves down; what double rounds off must not decide
              result.push_back(pixel(n, std::ceil(y - 0.5 - 1e-9), std::ceil(x - 0.5 - 1e-9), c));
              continue;
            }
            double total = 0;
            for (int dy = -2; dy <= 3; ++dy)
              for (int dx = -2; dx <= 3; ++dx)
                total += weight(options, y - std::floor(y) - dy) * weight(options, x - std::floor(x) - dx) *
                         pixel(n, std::floor(y) + dy, std::floor(x) + dx, c);
            result.push_back(static_cast<float>(total));
          }
    return result;
  }

  void check(const Shape& shape, int height, int width, const Resize& options) {
    SCOPED_TRACE(shape.to_string() + " to " + std::to_string(height) + " by " + std::to_string(width) + ", mode " +
                 std::to_string(static_cast<int>(options.mode)) + ", coordinates " +
                 std::to_string(static_cast<int>(options.coordinates)));
    const std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -1, 1, 3);
    const Tensor result = resize(context().tensor(shape, values), height, width, options);
    EXPECT_EQ(result.shape(), (Shape{shape[0], height, width, shape[3]}));
    EXPECT_TRUE(all_agree(result.read(), by_hand(values, shape, height, width, options),
                          options.mode == Interpolation::nearest ? 0.0f : 2e-6f));
  }

  Tensor counted(std::int64_t height, std::int64_t width) {  // 1, 2, 3, …
    std::vector<float> values;
    for (std::int64_t i = 1; i <= height * width; ++i) values.push_back(static_cast<float>(i));
    return context().tensor({1, height, width, 1}, values);
  }
};

constexpr Coordinates all_coordinates[] = {Coordinates::half_pixel, Coordinates::align_corners,
                                           Coordinates::asymmetric};
constexpr Interpolation all_modes[] = {Interpolation::nearest, Interpolation::bilinear, Interpolation::cubic};

TEST_P(Resizing, ExamplesOfOnnx) {
  const Tensor two = counted(2, 2), wide = counted(2, 4), four = counted(4, 4);
  const Resize corners{.coordinates = Coordinates::align_corners};
  // resize_upsample_scales_linear, and with align_corners
  EXPECT_TRUE(all_agree(resize_bilinear(two, 4, 4).read(),
                        {1, 1.25f, 1.75f, 2, 1.5f, 1.75f, 2.25f, 2.5f, 2.5f, 2.75f, 3.25f, 3.5f, 3, 3.25f, 3.75f, 4},
                        1e-6f));
  EXPECT_TRUE(all_agree(resize(two, 4, 4, corners).read(),
                        {1, 1.33333333f, 1.66666667f, 2, 1.66666667f, 2, 2.33333333f, 2.66666667f, 2.33333333f,
                         2.66666667f, 3, 3.33333333f, 3, 3.33333333f, 3.66666667f, 4},
                        1e-6f));
  // resize_downsample_sizes_linear: [2,4] to [1,2] by size is by a factor of 1/2 in each direction
  EXPECT_TRUE(all_agree(resize_bilinear(wide, 1, 2).read(), {3.5f, 5.5f}, 1e-6f));
  EXPECT_TRUE(all_agree(resize(wide, 1, 2, corners).read(), {1, 4}, 1e-6f));
  // resize_upsample_scales_nearest
  EXPECT_EQ(resize(two, 4, 6, {.mode = Interpolation::nearest}).read(),
            (std::vector<float>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4}));
  // resize_upsample_scales_cubic: its first and last rows
  const std::vector<float> cubic = resize(four, 8, 8, {.mode = Interpolation::cubic}).read();
  EXPECT_TRUE(all_agree(
      {cubic.begin(), cubic.begin() + 8},
      {0.47265625f, 0.76953125f, 1.24609375f, 1.875f, 2.28125f, 2.91015625f, 3.38671875f, 3.68359375f}, 1e-6f));
  EXPECT_TRUE(all_agree(
      {cubic.end() - 8, cubic.end()},
      {13.31640625f, 13.61328125f, 14.08984375f, 14.71875f, 15.125f, 15.75390625f, 16.23046875f, 16.52734375f}, 1e-6f));
  // resize_upsample_scales_cubic_align_corners: its second row
  const std::vector<float> aligned =
      resize(four, 8, 8, {.mode = Interpolation::cubic, .coordinates = Coordinates::align_corners}).read();
  EXPECT_TRUE(all_agree(
      {aligned.begin() + 8, aligned.begin() + 16},
      {2.36443138f, 2.70553946f, 3.1647222f, 3.69388032f, 4.03498554f, 4.56413984f, 5.02332497f, 5.36443186f}, 1e-6f));
  EXPECT_TRUE(
      all_agree(resize(four, 3, 3, {.mode = Interpolation::cubic, .coordinates = Coordinates::align_corners}).read(),
                {1, 2.5f, 4, 7, 8.5f, 10, 13, 14.5f, 16}, 1e-6f));
}

TEST_P(Resizing, AgainstPlainLoops) {
  for (const Interpolation mode : all_modes)
    for (const Coordinates coordinates : all_coordinates) {
      check({1, 5, 7, 3}, 8, 4, {.mode = mode, .coordinates = coordinates});
      check({2, 4, 3, 4}, 9, 10, {.mode = mode, .coordinates = coordinates});
      check({1, 1, 1, 2}, 3, 2, {.mode = mode, .coordinates = coordinates});
      check({1, 6, 5, 1}, 1, 1, {.mode = mode, .coordinates = coordinates});
    }
  check({1, 4, 4, 1}, 7, 7, {.mode = Interpolation::cubic, .cubic_coefficient = -0.5f});
  check({1, 33, 17, 5}, 12, 40, {});
}

// Pixels of which halves fall between two: of ten pixels three lie at 1.1666, 4.5 and 7.8333.
TEST_P(Resizing, NearestRoundsAsAsked) {
  const Tensor ten = counted(1, 10);
  const auto nearest = [&](Nearest how, Coordinates coordinates = Coordinates::half_pixel) {
    return resize(ten, 1, 3, {.mode = Interpolation::nearest, .coordinates = coordinates, .nearest = how}).read();
  };
  EXPECT_EQ(nearest(Nearest::prefer_lower), (std::vector<float>{2, 5, 9}));
  EXPECT_EQ(nearest(Nearest::prefer_upper), (std::vector<float>{2, 6, 9}));
  EXPECT_EQ(nearest(Nearest::down), (std::vector<float>{2, 5, 8}));
  EXPECT_EQ(nearest(Nearest::up), (std::vector<float>{3, 6, 9}));
  EXPECT_EQ(nearest(Nearest::prefer_lower, Coordinates::align_corners), (std::vector<float>{1, 5, 10}));  // 0, 4.5, 9
  EXPECT_EQ(nearest(Nearest::prefer_upper, Coordinates::align_corners), (std::vector<float>{1, 6, 10}));
  EXPECT_EQ(nearest(Nearest::down, Coordinates::asymmetric), (std::vector<float>{1, 4, 7}));  // 0, 3.33, 6.67
}

TEST_P(Resizing, EveryType) {
  const std::vector<float> numbers{0, 10, 255, 101};
  const Shape shape{2, 2, 1};  // without a batch
  const Resize nearest{.mode = Interpolation::nearest};
  const std::vector<float> nearest_wide{0, 0, 10, 10, 255, 255, 101, 101};
  const Tensor u8 = context().tensor(shape, as<std::uint8_t>(numbers));
  EXPECT_EQ(resize(u8, 2, 4, nearest).read<std::uint8_t>(), as<std::uint8_t>(nearest_wide));
  EXPECT_EQ(resize(u8, 2, 4, nearest).shape(), (Shape{2, 4, 1}));
  // 0, 2.5, 7.5, 10 and 255, 216.5, 139.5, 101, halves to even.
  EXPECT_EQ(resize_bilinear(u8, 2, 4).read<std::uint8_t>(),
            (std::vector<std::uint8_t>{0, 2, 8, 10, 255, 216, 140, 101}));
  EXPECT_EQ(resize_bilinear(u8, 2, 4).dtype(), DType::u8);
  // Cubic goes below and above what there is: u8 saturates.
  const std::vector<float> cubic =
      resize(context().tensor({1, 2, 1}, std::vector<std::uint8_t>{0, 255}), 1, 6, {.mode = Interpolation::cubic})
          .read();
  EXPECT_EQ(cubic[0], 0);
  EXPECT_EQ(cubic[5], 255);
  EXPECT_EQ(resize(context().tensor({1, 2, 1}, std::vector<std::int32_t>{16777217, -16777217}), 1, 3, nearest)
                .read<std::int32_t>(),
            (std::vector<std::int32_t>{16777217, 16777217, -16777217}));
  EXPECT_EQ(resize(context().tensor({1, 2, 1}, std::vector<std::int8_t>{-128, 127}), 1, 4, nearest).read<std::int8_t>(),
            (std::vector<std::int8_t>{-128, -128, 127, 127}));
  EXPECT_EQ(resize(context().tensor({1, 2, 1}, std::array<bool, 2>{true, false}), 1, 4, nearest).read<bool>(),
            (std::vector<bool>{true, true, false, false}));
  EXPECT_EQ(resize_bilinear(context().tensor({1, 2, 1}, as<half>({1, 2})), 1, 4).read<half>(),
            as<half>({1, 1.25f, 1.75f, 2}));
}

TEST_P(Resizing, SameSizeAndNoImages) {
  const Tensor x = counted(3, 4);
  context().reset_stats();
  EXPECT_EQ(resize(x, 3, 4, {.mode = Interpolation::cubic}).read(), x.read());
  EXPECT_EQ(context().stats().dispatches, 0u);
  EXPECT_EQ(resize_bilinear(context().zeros({0, 2, 2, 3}), 4, 4).shape(), (Shape{0, 4, 4, 3}));
  EXPECT_TRUE(resize_bilinear(context().zeros({0, 2, 2, 3}), 4, 4).read().empty());
}

TEST_P(Resizing, Flips) {
  const Tensor x = context().tensor({2, 2, 3, 2}, random_values(24, -1, 1, 8));
  const std::vector<float> values = x.read(), across = flip_left_right(x).read(), down = flip_up_down(x).read();
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t c = 0; c < 2; ++c) {
          const std::size_t at = ((n * 2 + i) * 3 + j) * 2 + c;
          EXPECT_EQ(across[at], values[((n * 2 + i) * 3 + 2 - j) * 2 + c]);
          EXPECT_EQ(down[at], values[((n * 2 + 1 - i) * 3 + j) * 2 + c]);
        }
  EXPECT_EQ(flip_left_right(context().tensor({1, 3, 1}, std::vector<std::uint8_t>{1, 2, 3})).read<std::uint8_t>(),
            (std::vector<std::uint8_t>{3, 2, 1}));
  EXPECT_EQ(flip_up_down(context().tensor({1, 3, 1}, {1, 2, 3})).read(), (std::vector<float>{1, 2, 3}));
  EXPECT_TRUE(flip_up_down(context().zeros({0, 2, 2, 1})).read().empty());
  // Under something that reads pixels here and there, larger and smaller.
  for (const int width : {5, 1})
    EXPECT_TRUE(all_agree(resize_bilinear(flip_left_right(x), 2, width).read(),
                          flip_left_right(resize_bilinear(x, 2, width)).read(), 1e-6f));
  context().reset_stats();
  (flip_left_right(x) * 2.0f + 1.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
}

TEST_P(Resizing, WorkAfterwardsIsPartOfTheKernelAndSizesCompileNothing) {
  const Tensor frame = context().tensor({16, 20, 3}, as<std::uint8_t>(random_values(960, 0, 255, 4))).compute();
  const auto run = [&](int height, int width, float gain) {
    const Tensor small = resize_bilinear(frame, height, width);
    clip(colour_matrix(to_float(small), {0, 0, 1, 0, 1, 0, 1, 0, 0}) * gain, 0.0f, 1.0f).compute();
  };
  context().reset_stats();
  run(5, 7, 1.5f);
  EXPECT_EQ(context().stats().dispatches, context().device().backend == BackendKind::cpu ? 2u : 1u);
  EXPECT_EQ(context().stats().submits, 1u);
  context().reset_stats();
  run(6, 9, 1.25f);  // no whole factor, which would have a kernel of its own
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
  context().reset_stats();
  (resize(frame, 40, 40, {.mode = Interpolation::nearest}).cast(DType::f32) * 2.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  // Reading fewer pixels than there are: what is done to each comes along.
  context().reset_stats();
  resize_bilinear(to_float(frame), 8, 10).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
}

TEST_P(Resizing, BadInput) {
  const Tensor x = context().zeros({2, 3, 1});
  EXPECT_TESSERA_ERROR(resize(x, 0, 4), invalid_argument, "resize", "(0)", "(4)");
  EXPECT_TESSERA_ERROR(resize_bilinear(x, 4, -1), invalid_argument, "resize", "(4)", "(-1)");
  constexpr std::int64_t beyond_32_bits = (std::int64_t{1} << 32) + 4;
  EXPECT_TESSERA_ERROR(resize(x, 4, beyond_32_bits), invalid_argument, "resize", "(4)", "(4294967300)", "2147483647");
  EXPECT_TESSERA_ERROR(resize(context().zeros({2, 3}), 4, 4), shape_mismatch, "resize", "[2,3]", "rank 2");
  EXPECT_TESSERA_ERROR(resize(context().zeros({0, 3, 1}), 4, 4), invalid_argument, "resize", "[0,3,1]");
  EXPECT_TESSERA_ERROR(resize(context().zeros({2, 3, 1}, DType::i32), 4, 4), dtype_mismatch, "resize", "i32");
  EXPECT_TESSERA_ERROR(resize(context().zeros({1, 99991, 1}), 1, 99989), unsupported, "resize", "99991", "99989");
  EXPECT_EQ(resize(context().zeros({1, 100000, 1}), 1, 50000).shape(), (Shape{1, 50000, 1}));
  EXPECT_TESSERA_ERROR(flip_left_right(context().zeros({3})), shape_mismatch, "flip_left_right", "[3]");
  EXPECT_TESSERA_ERROR(flip_up_down(context().zeros({1, 1, 1, 1, 1})), shape_mismatch, "flip_up_down", "[1,1,1,1,1]");
}

TESSERA_ON_EACH_BACKEND(Resizing);

}  // namespace
}  // namespace tessera::test::resize_test

// Colours: conversions, matrices, tables and YUV, against the standards' numbers and plain loops.
#include <cmath>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::colour_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

class Colours : public OnDevice {
 protected:
  Tensor bytes(const Shape& shape, const Bytes& values) { return context().tensor(shape, values); }

  // A plane of one colour, as y, u, v.
  std::vector<float> colour_of(std::uint8_t y, std::uint8_t u, std::uint8_t v, const Yuv& format) {
    const std::vector<float> rgb = nv12_to_rgb(bytes({2, 2}, Bytes(4, y)), bytes({1, 1, 2}, {u, v}), format).read();
    return {rgb.end() - 3, rgb.end()};
  }
  Bytes yuv_of(std::uint8_t r, std::uint8_t g, std::uint8_t b, const Yuv& format) {
    const Yuv420 planes = rgb_to_yuv420(bytes({1, 1, 3}, {r, g, b}), format);
    return {planes.y.read<std::uint8_t>()[0], planes.u.read<std::uint8_t>()[0], planes.v.read<std::uint8_t>()[0]};
  }
};

TEST_P(Colours, BytesAndFloats) {
  EXPECT_TRUE(all_agree(to_float(bytes({4}, {0, 51, 128, 255})).read(), {0, 0.2f, 128.0f / 255, 1}, 1e-6f));
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_u8(context().tensor({8}, {0, 0.2f, 0.5001f, 1, -3, 1.5f, nan, infinity})).read<std::uint8_t>(),
            (Bytes{0, 51, 128, 255, 0, 255, 0, 255}));
  EXPECT_EQ(to_u8(context().full({3}, 1, DType::f16)).read<std::uint8_t>(), (Bytes{255, 255, 255}));
  Bytes all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<std::uint8_t>(i));
  EXPECT_EQ(to_u8(to_float(bytes({256}, all))).read<std::uint8_t>(), all);
  EXPECT_TESSERA_ERROR(to_float(context().zeros({2})), dtype_mismatch, "to_float", "f32", "u8");
  EXPECT_TESSERA_ERROR(to_u8(context().zeros({2}, DType::u8)), dtype_mismatch, "to_u8", "u8");
}

TEST_P(Colours, MatricesAgainstPlainLoops) {
  for (const std::size_t channels : {1u, 3u, 4u, 6u})
    for (const std::size_t rows : {1u, 3u, 4u})
      for (const std::size_t extra : {0u, 1u}) {
        SCOPED_TRACE(std::to_string(channels) + " channels to " + std::to_string(rows) + ", " + std::to_string(extra) +
                     " added");
        const std::size_t columns = channels + extra, pixels = 7;
        const std::vector<float> values = random_values(pixels * channels, -1, 1, 31),
                                 matrix = random_values(rows * columns, -2, 2, 32);
        std::vector<float> want;
        for (std::size_t pixel = 0; pixel < pixels; ++pixel)
          for (std::size_t row = 0; row < rows; ++row) {
            double total = extra ? matrix[row * columns + channels] : 0;
            for (std::size_t j = 0; j < channels; ++j)
              total += double{matrix[row * columns + j]} * double{values[pixel * channels + j]};
            want.push_back(static_cast<float>(total));
          }
        const Tensor image = context().tensor({1, 7, static_cast<std::int64_t>(channels)}, values);
        const Tensor result = colour_matrix(
            image, context().tensor({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}, matrix));
        EXPECT_EQ(result.shape(), (Shape{1, 7, static_cast<std::int64_t>(rows)}));
        EXPECT_TRUE(all_agree(result.read(), want, 1e-5f));
        if (rows == channels) {
          EXPECT_TRUE(all_agree(colour_matrix(image, matrix).read(), want, 1e-5f));
        }
      }
}

TEST_P(Colours, MatricesOnBytesAndHalves) {
  const Tensor rgb = bytes({1, 2, 3}, {10, 20, 30, 200, 100, 50});
  // Swaps red and blue and adds 100: bytes saturate.
  EXPECT_EQ(colour_matrix(rgb, {0, 0, 1, 100, 0, 1, 0, 100, 1, 0, 0, 100}).read<std::uint8_t>(),
            (Bytes{130, 120, 110, 150, 200, 255}));
  EXPECT_EQ(colour_matrix(rgb, {-1, 0, 0, 0, 0.5f, 0, 0, 0, 0.25f}).read<std::uint8_t>(),
            (Bytes{0, 10, 8, 0, 50, 12}));  // halves to even
  const Tensor halves = context().tensor({1, 1, 4}, as<half>({1, 2, 3, 4}));
  EXPECT_EQ(colour_matrix(halves, {1, 1, 1, 1, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1}).read<half>(),
            as<half>({10, 4, 6, 4}));
  EXPECT_EQ(colour_matrix(context().zeros({0, 4, 3}), {1, 0, 0, 0, 1, 0, 0, 0, 1}).shape(), (Shape{0, 4, 3}));
}

TEST_P(Colours, TablesOfTwoAreTrilinear) {
  // The table's entry at red r, green g, blue b is (r, g, b) negated: so is every colour between.
  std::vector<float> table;
  for (int b = 0; b < 2; ++b)
    for (int g = 0; g < 2; ++g)
      for (int r = 0; r < 2; ++r)
        for (const int channel : {r, g, b}) table.push_back(static_cast<float>(1 - channel));
  const Tensor negative = context().tensor({2, 2, 2, 3}, table);
  EXPECT_TRUE(all_agree(colour_lookup(context().tensor({1, 2, 3}, {0.25f, 0.5f, 1, 0, 0.1f, 0.9f}), negative).read(),
                        {0.75f, 0.5f, 0, 1, 0.9f, 0.1f}, 1e-6f));
  // Outside of the table its border counts; a fourth channel stays.
  EXPECT_TRUE(
      all_agree(colour_lookup(context().tensor({1, 1, 4}, {-1, 2, 0.5f, 7}), negative).read(), {1, 0, 0.5f, 7}, 1e-6f));
  EXPECT_EQ(colour_lookup(bytes({1, 1, 4}, {0, 255, 51, 9}), negative).read<std::uint8_t>(), (Bytes{255, 0, 204, 9}));
  const Tensor of_bytes = to_u8(negative);
  EXPECT_EQ(colour_lookup(bytes({1, 1, 3}, {0, 255, 51}), of_bytes).read<std::uint8_t>(), (Bytes{255, 0, 204}));
}

TEST_P(Colours, TablesAgainstPlainLoops) {
  const std::size_t n = 5;
  const std::vector<float> table = random_values(n * n * n * 3, 0, 1, 41), values = random_values(39, -0.1f, 1.1f, 42);
  std::vector<float> want;
  for (std::size_t pixel = 0; pixel < 13; ++pixel)
    for (std::size_t channel = 0; channel < 3; ++channel) {
      double total = 0;
      for (std::size_t entry = 0; entry < n * n * n;
           ++entry) {  // every entry, with a weight that falls to zero at the next
        double weight = 1;
        for (const auto& [axis, at] :
             {std::pair<std::size_t, std::size_t>{0, entry % n}, {1, entry / n % n}, {2, entry / (n * n)}})
          weight *= std::max(0.0, 1 - std::fabs(std::clamp(double{values[pixel * 3 + axis]}, 0.0, 1.0) * (n - 1) -
                                                static_cast<double>(at)));
        total += weight * double{table[entry * 3 + channel]};
      }
      want.push_back(static_cast<float>(total));
    }
  EXPECT_TRUE(all_agree(
      colour_lookup(context().tensor({13, 1, 3}, values), context().tensor({5, 5, 5, 3}, table)).read(), want, 1e-5f));
  EXPECT_EQ(colour_lookup(context().zeros({1, 1, 3}), context().full({1, 1, 1, 3}, 0.5f)).read(),
            (std::vector<float>{0.5f, 0.5f, 0.5f}));
}

// Colours as ITU-R BT.601 and BT.709 give them for 8 bits.
TEST_P(Colours, KnownColours) {
  const Yuv bt709{}, bt601{.matrix = Yuv::Matrix::bt601}, jpeg{.matrix = Yuv::Matrix::bt601, .range = Yuv::Range::full};
  EXPECT_TRUE(all_agree(colour_of(235, 128, 128, bt709), {1, 1, 1}, 1e-5f));
  EXPECT_TRUE(all_agree(colour_of(16, 128, 128, bt709), {0, 0, 0}, 1e-5f));
  EXPECT_TRUE(all_agree(colour_of(255, 128, 128, jpeg), {1, 1, 1}, 1e-5f));
  EXPECT_TRUE(all_agree(colour_of(0, 128, 128, jpeg), {0, 0, 0}, 1e-5f));
  EXPECT_EQ(yuv_of(255, 255, 255, bt709), (Bytes{235, 128, 128}));
  EXPECT_EQ(yuv_of(0, 0, 0, bt709), (Bytes{16, 128, 128}));
  EXPECT_EQ(yuv_of(255, 0, 0, bt709), (Bytes{63, 102, 240}));
  EXPECT_EQ(yuv_of(0, 255, 0, bt709), (Bytes{173, 42, 26}));
  EXPECT_EQ(yuv_of(0, 0, 255, bt709), (Bytes{32, 240, 118}));
  EXPECT_EQ(yuv_of(255, 0, 0, bt601), (Bytes{81, 90, 240}));
  EXPECT_EQ(yuv_of(0, 255, 0, bt601), (Bytes{145, 54, 34}));
  EXPECT_EQ(yuv_of(0, 0, 255, bt601), (Bytes{41, 240, 110}));
  EXPECT_EQ(yuv_of(255, 0, 0, jpeg), (Bytes{76, 85, 255}));
  EXPECT_EQ(yuv_of(0, 0, 255, jpeg), (Bytes{29, 255, 107}));
  EXPECT_TRUE(all_agree(colour_of(63, 102, 240, bt709), {1, 0, 0}, 0.01f));
  EXPECT_TRUE(all_agree(colour_of(145, 54, 34, bt601), {0, 1, 0}, 0.01f));
  // BT.2020: luma of red is 0.2627, chroma of blue the largest.
  EXPECT_EQ(yuv_of(255, 0, 0, {.matrix = Yuv::Matrix::bt2020}), (Bytes{74, 97, 240}));
  // Not clipped as floats, saturated as bytes.
  EXPECT_GT(colour_of(255, 128, 128, bt709)[0], 1.05f);
  EXPECT_EQ(nv12_to_rgb(bytes({1, 1}, {255}), bytes({1, 1, 2}, {128, 128}), {}, DType::u8).read<std::uint8_t>(),
            (Bytes{255, 255, 255}));
}

TEST_P(Colours, BlocksOfEvenAndOddSizes) {
  for (const auto& [height, width] : {std::pair<std::size_t, std::size_t>{4, 6}, {3, 5}, {1, 1}, {1, 4}, {5, 2}}) {
    SCOPED_TRACE(std::to_string(height) + " by " + std::to_string(width));
    const std::size_t chroma_height = (height + 1) / 2, chroma_width = (width + 1) / 2, images = 2;
    const std::vector<float> y = random_values(images * height * width, 0, 1, 51);
    const std::vector<float> uv = random_values(images * chroma_height * chroma_width * 2, 0, 1, 52);
    std::vector<float> u, v, want;
    for (std::size_t i = 0; i < uv.size(); i += 2) {
      u.push_back(uv[i]);
      v.push_back(uv[i + 1]);
    }
    for (std::size_t n = 0; n < images; ++n)
      for (std::size_t i = 0; i < height; ++i)
        for (std::size_t j = 0; j < width; ++j) {  // full range of BT.601, as JPEG File Interchange has it
          const double luma = y[(n * height + i) * width + j];
          const std::size_t block = (n * chroma_height + i / 2) * chroma_width + j / 2;
          const double cb = double{u[block]} - 128.0 / 255, cr = double{v[block]} - 128.0 / 255;
          for (const double value : {luma + 1.402 * cr, luma - 0.344136 * cb - 0.714136 * cr, luma + 1.772 * cb})
            want.push_back(static_cast<float>(value));
        }
    const auto signed_height = static_cast<std::int64_t>(height), signed_width = static_cast<std::int64_t>(width);
    const auto blocks_down = static_cast<std::int64_t>(chroma_height),
               blocks_across = static_cast<std::int64_t>(chroma_width);
    const Yuv jpeg{.matrix = Yuv::Matrix::bt601, .range = Yuv::Range::full};
    const Tensor luma = context().tensor({2, signed_height, signed_width}, y);
    const Tensor packed = nv12_to_rgb(luma, context().tensor({2, blocks_down, blocks_across, 2}, uv), jpeg);
    EXPECT_EQ(packed.shape(), (Shape{2, signed_height, signed_width, 3}));
    EXPECT_TRUE(all_agree(packed.read(), want, 1e-5f));
    const Tensor planar = yuv420_to_rgb(luma, context().tensor({2, blocks_down, blocks_across}, u),
                                        context().tensor({2, blocks_down, blocks_across}, v), jpeg);
    EXPECT_TRUE(all_agree(planar.read(), want, 1e-5f));
    // The way back, from what is the same colour all over a block: chroma is a mean of equal values there.
    const Nv12 back = rgb_to_nv12(packed, jpeg, DType::f32);
    EXPECT_TRUE(all_agree(back.y.read(), y, 1e-5f));
    EXPECT_TRUE(all_agree(back.uv.read(), uv, 1e-5f));
    const Yuv420 planes = rgb_to_yuv420(planar, jpeg, DType::f32);
    EXPECT_EQ(planes.u.shape(), (Shape{2, blocks_down, blocks_across}));
    EXPECT_TRUE(all_agree(planes.u.read(), u, 1e-5f));
    EXPECT_TRUE(all_agree(planes.v.read(), v, 1e-5f));
  }
}

TEST_P(Colours, RoundTripsOfBytes) {
  // Blocks of one colour each, in four channels of which the last does not count.
  const std::size_t height = 6, width = 8;
  const std::vector<float> colours = random_values(height / 2 * width / 2 * 3, 0, 255, 61);
  Bytes rgba, rgb;
  for (std::size_t i = 0; i < height; ++i)
    for (std::size_t j = 0; j < width; ++j)
      for (std::size_t c = 0; c < 4; ++c) {
        rgba.push_back(c == 3 ? std::uint8_t{77}
                              : static_cast<std::uint8_t>(colours[(i / 2 * (width / 2) + j / 2) * 3 + c]));
        if (c != 3) rgb.push_back(rgba.back());
      }
  for (const Yuv::Matrix matrix : {Yuv::Matrix::bt601, Yuv::Matrix::bt709, Yuv::Matrix::bt2020})
    for (const Yuv::Range range : {Yuv::Range::limited, Yuv::Range::full}) {
      const Yuv format{matrix, range};
      const Nv12 planes = rgb_to_nv12(bytes({6, 8, 4}, rgba), format);
      EXPECT_EQ(planes.y.dtype(), DType::u8);
      EXPECT_EQ(planes.uv.shape(), (Shape{3, 4, 2}));
      const Bytes again = nv12_to_rgb(planes.y, planes.uv, format, DType::u8).read<std::uint8_t>();
      for (std::size_t i = 0; i < rgb.size(); ++i) EXPECT_NEAR(again[i], rgb[i], 2) << "element " << i;
    }
}

TEST_P(Colours, ChromaIsTheMeanOfABlock) {
  // Red of 0, 0.2, 0.4 and 1 in a block: 0.4; at the odd edge 0.5 and 0.7: 0.6. u and v count red alike.
  const Tensor rgb = context().tensor({2, 3, 3}, {0, 0, 0, 0.2f, 0, 0, 0.5f, 0, 0, 0.4f, 0, 0, 1, 0, 0, 0.7f, 0, 0});
  const Yuv jpeg{.matrix = Yuv::Matrix::bt601, .range = Yuv::Range::full};
  const float middle = 128.0f / 255;
  EXPECT_TRUE(
      all_agree(rgb_to_yuv420(rgb, jpeg, DType::f32).v.read(), {middle + 0.5f * 0.4f, middle + 0.5f * 0.6f}, 1e-5f));
  EXPECT_TRUE(all_agree(rgb_to_yuv420(rgb, jpeg, DType::f32).u.read(),
                        {middle - 0.168736f * 0.4f, middle - 0.168736f * 0.6f}, 1e-5f));
}

TEST_P(Colours, AFrameIsOneDispatch) {
  const Tensor y = bytes({4, 6}, Bytes(24, 90)).compute(), uv = bytes({2, 3, 2}, Bytes(12, 130)).compute();
  context().reset_stats();
  clip(nv12_to_rgb(y, uv), 0.0f, 1.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  context().reset_stats();
  clip(nv12_to_rgb(bytes({3, 3}, Bytes(9, 80)).compute(), bytes({2, 2, 2}, Bytes(8, 8)).compute(),
                   {.matrix = Yuv::Matrix::bt601}),
       0.0f, 2.0f)
      .compute();
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
  // Before and after a matrix.
  const Tensor frame = bytes({2, 2, 4}, Bytes(16, 9)).compute();
  context().reset_stats();
  to_u8(colour_matrix(to_float(frame), {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}) * 1.5f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
}

TEST_P(Colours, BadInput) {
  const Tensor rgb = context().zeros({2, 2, 3}), y = context().zeros({3, 4}, DType::u8),
               uv = context().zeros({2, 2, 2}, DType::u8);
  EXPECT_TESSERA_ERROR(colour_matrix(rgb, context().zeros({3, 5})), shape_mismatch, "colour_matrix", "[3,5]",
                       "[2,2,3]");
  EXPECT_TESSERA_ERROR(colour_matrix(rgb, {1, 2, 3}), shape_mismatch, "colour_matrix", "3 numbers", "[2,2,3]");
  EXPECT_TESSERA_ERROR(colour_matrix(context().zeros({1, 1, 5}), std::vector<float>(25)), invalid_argument,
                       "colour_matrix", "[1,1,5]", "up to 4");
  EXPECT_TESSERA_ERROR(colour_matrix(context().zeros({1, 1, 0}), std::vector<float>{}), invalid_argument,
                       "colour_matrix", "[1,1,0]");
  EXPECT_TESSERA_ERROR(colour_matrix(context().zeros({2, 2, 3}, DType::i32), context().zeros({3, 3})), dtype_mismatch,
                       "colour_matrix", "i32");
  EXPECT_TESSERA_ERROR(colour_lookup(rgb, context().zeros({2, 2, 3, 3})), shape_mismatch, "colour_lookup", "[n,n,n,3]",
                       "[2,2,3,3]");
  EXPECT_TESSERA_ERROR(colour_lookup(context().zeros({2, 2, 2}), context().zeros({2, 2, 2, 3})), shape_mismatch,
                       "colour_lookup", "[2,2,2]");
  EXPECT_TESSERA_ERROR(nv12_to_rgb(y, context().zeros({1, 2, 2}, DType::u8)), shape_mismatch, "nv12_to_rgb", "[2,2,2]",
                       "[1,2,2]");
  EXPECT_TESSERA_ERROR(nv12_to_rgb(y, context().zeros({2, 2, 2})), dtype_mismatch, "nv12_to_rgb", "u8", "f32");
  EXPECT_TESSERA_ERROR(nv12_to_rgb(y, uv, {}, DType::i32), dtype_mismatch, "nv12_to_rgb", "i32");
  EXPECT_TESSERA_ERROR(nv12_to_rgb(context().zeros({4}, DType::u8), uv), shape_mismatch, "nv12_to_rgb", "[4]");
  EXPECT_TESSERA_ERROR(yuv420_to_rgb(y, uv, uv), shape_mismatch, "yuv420_to_rgb", "[3,4]", "[2,2,2]");
  EXPECT_TESSERA_ERROR(rgb_to_nv12(context().zeros({2, 2, 2})), shape_mismatch, "rgb_to_nv12", "2 channels");
  EXPECT_TESSERA_ERROR(rgb_to_yuv420(context().zeros({2, 2})), shape_mismatch, "rgb_to_yuv420", "[2,2]");
}

TESSERA_ON_EACH_BACKEND(Colours);

}  // namespace
}  // namespace tessera::test::colour_test

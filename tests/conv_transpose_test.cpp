// Transposed convolutions, against plain loops and against published examples.
#include <limits>
#include <numeric>

#include "support/compare.h"
#include "support/devices.h"
#include "support/windows.h"

namespace tessera::test::conv_transpose_test {
namespace {

class TransposedConvolution : public OnDevice {
 protected:
  Tensor counting(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.size()));
    std::iota(values.begin(), values.end(), 0.0f);
    return context().tensor(shape, values);
  }

  // `forward` is the convolution that is gone back through: its image is our result.
  void check(const WindowCase& forward, std::int64_t in, int groups = 1) {
    SCOPED_TRACE("back through " + forward.to_string() + " from " + std::to_string(in) + " channels in " +
                 std::to_string(groups) + " groups");
    const Shape image_shape = forward.shape(forward.result_sizes(), in);
    const std::int64_t out = forward.channels / groups;  // of one group
    const std::vector<float> image = random_values(static_cast<std::size_t>(image_shape.size()), -1, 1, 3);
    const std::vector<float> filter =
        random_values(static_cast<std::size_t>(forward.window[1] * forward.window[2] * out * in), -1, 1, 4);
    std::vector<double> totals(static_cast<std::size_t>(forward.image_shape().size()));
    forward.for_each_tap([&](std::int64_t pixel, std::int64_t result_pixel, int tap) {
      for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t i = 0; i < in; ++i)
          totals[static_cast<std::size_t>(result_pixel * forward.channels + i / (in / groups) * out + o)] +=
              static_cast<double>(image[static_cast<std::size_t>(pixel * in + i)]) *
              static_cast<double>(filter[static_cast<std::size_t>((tap * out + o) * in + i)]);
    });
    Conv2dTranspose options{.strides = {forward.strides[1], forward.strides[2]},
                            .dilations = {forward.dilations[1], forward.dilations[2]},
                            .groups = groups};
    if (forward.pads == WindowCase::Pads::same) options.padding = Padding::same;
    if (forward.pads == WindowCase::Pads::given)
      options.pads = {forward.given[2], forward.given[3], forward.given[4], forward.given[5]};
    options.size = {static_cast<int>(forward.size[1]), static_cast<int>(forward.size[2])};
    const Tensor result =
        conv2d_transpose(context().tensor(image_shape, image),
                         context().tensor({forward.window[1], forward.window[2], out, in}, filter), options);
    EXPECT_EQ(result.shape(), forward.image_shape());
    EXPECT_TRUE(all_agree(result.read(), {totals.begin(), totals.end()}, 1e-5f));
  }
};

TEST_P(TransposedConvolution, RandomCases) {
  std::mt19937 random(11);
  for (int i = 0; i < 40;) {
    const WindowCase forward = random_window_case(random);
    if (forward.spatial_axes != 2) continue;
    check(forward, std::array{1, 3, 4, 8}[random() % 4]);
    ++i;
  }
}

TEST_P(TransposedConvolution, Groups) {
  const auto with_channels = [](std::int64_t out) {
    return WindowCase{.batch = 2, .channels = out, .size = {1, 5, 6}, .window = {1, 3, 2}, .strides = {1, 2, 1}};
  };
  check(with_channels(6), 4, 2);
  check(with_channels(3), 3, 3);   // depthwise
  check(with_channels(8), 16, 2);  // four channels at a time
  check(with_channels(12), 12, 3);
}

// The examples of ONNX's ConvTranspose.
TEST_P(TransposedConvolution, PublishedExamples) {
  const Tensor image = counting({1, 3, 3, 1}), ones = context().full({3, 3, 1, 1}, 1);
  EXPECT_EQ(conv2d_transpose(image, ones).read(), (std::vector<float>{0,  1,  3, 3,  2,  3,  8,  15, 12, 7,  9,  21, 36,
                                                                      27, 15, 9, 20, 33, 24, 13, 6,  13, 21, 15, 8}));
  const Tensor padded = conv2d_transpose(image, ones, {.strides = {3, 2}, .pads = {{1, 1, 2, 2}}});
  EXPECT_EQ(padded.shape(), (Shape{1, 7, 3, 1}));
  EXPECT_EQ(padded.read(), (std::vector<float>{1, 1, 3, 1, 1, 3, 7, 4, 9, 7, 4, 9, 7, 4, 9, 13, 7, 15, 13, 7, 15}));
  EXPECT_EQ(conv2d_transpose(image, ones, {.strides = {3, 2}, .size = {{10, 8}}}).read(),
            (std::vector<float>{0, 0, 1, 1, 3,  2, 2,  0, 0, 0, 1, 1, 3,  2, 2,  0, 0, 0, 1, 1, 3, 2, 2, 0,  3, 3,  7,
                                4, 9, 5, 5, 0,  3, 3,  7, 4, 9, 5, 5, 0,  3, 3,  7, 4, 9, 5, 5, 0, 6, 6, 13, 7, 15, 8,
                                8, 0, 6, 6, 13, 7, 15, 8, 8, 0, 6, 6, 13, 7, 15, 8, 8, 0, 0, 0, 0, 0, 0, 0,  0, 0}));
  const Tensor dilated = conv2d_transpose(context().tensor({1, 3, 3, 1}, {3, 8, 1, 9, 5, 7, 3, 2, 6}),
                                          context().tensor({2, 2, 1, 1}, {7, 2, 1, 9}), {.dilations = {2, 2}});
  EXPECT_EQ(dilated.read(), (std::vector<float>{21, 56, 13, 16, 2,  63, 35, 67, 10, 14, 24, 22, 76,
                                                76, 21, 9,  5,  88, 45, 63, 3,  2,  33, 18, 54}));
}

// From TensorFlow's definition, the gradient of a convolution: 3 pixels at a stride of 2 made from 6 are padded by one,
// at the end.
TEST_P(TransposedConvolution, SamePaddingGoesToTheEnd) {
  const Tensor image = counting({1, 3, 3, 1}), ones = context().full({3, 3, 1, 1}, 1);
  EXPECT_EQ(conv2d_transpose(image, ones, {.strides = {2, 2}, .padding = Padding::same}).read(),
            (std::vector<float>{0, 0, 1, 1, 3, 2, 0, 0, 1,  1,  3,  2,  3, 3, 8,  5, 12, 7,
                                3, 3, 7, 4, 9, 5, 9, 9, 20, 11, 24, 13, 6, 6, 13, 7, 15, 8}));
}

// Keras's Conv2DTranspose: size * stride for same; size * stride + max(filter - stride, 0) for valid.
TEST_P(TransposedConvolution, SizesOfTheResult) {
  const Tensor image = context().zeros({2, 4, 5, 3}), filter = context().zeros({3, 2, 6, 3});
  const auto shape = [&](const Conv2dTranspose& options) { return conv2d_transpose(image, filter, options).shape(); };
  EXPECT_EQ(shape({}), (Shape{2, 6, 6, 6}));
  EXPECT_EQ(shape({.strides = {2, 3}}), (Shape{2, 9, 15, 6}));
  EXPECT_EQ(shape({.strides = {2, 3}, .padding = Padding::same}), (Shape{2, 8, 15, 6}));
  EXPECT_EQ(shape({.strides = {2, 3}, .pads = {{1, 0, 1, 0}}}), (Shape{2, 8, 13, 6}));
  EXPECT_EQ(shape({.strides = {2, 3}, .size = {{10, 16}}}), (Shape{2, 10, 16, 6}));
  EXPECT_EQ(shape({.dilations = {2, 1}}), (Shape{2, 8, 6, 6}));
  EXPECT_TRUE(conv2d_transpose(context().zeros({0, 4, 5, 3}), filter).read().empty());
}

// Taps that the strides divide evenly are the phases of a convolution; others have a kernel of their own.
TEST_P(TransposedConvolution, Phases) {
  const auto with = [](std::array<std::int64_t, 3> size, std::array<std::int64_t, 3> window,
                       std::array<std::int64_t, 3> strides) {
    return WindowCase{.batch = 2, .channels = 4, .size = size, .window = window, .strides = strides};
  };
  check(with({1, 8, 10}, {1, 2, 2}, {1, 2, 2}), 8);
  check(with({1, 9, 11}, {1, 4, 6}, {1, 2, 3}), 5);
  check(with({1, 7, 8}, {1, 3, 3}, {1, 1, 1}), 3);
  WindowCase padded = with({1, 9, 12}, {1, 4, 4}, {1, 2, 2});
  padded.pads = WindowCase::Pads::same;
  check(padded, 4);
  check(padded, 8, 2);
  WindowCase dilated = with({1, 9, 12}, {1, 3, 4}, {1, 1, 4});
  dilated.dilations = {1, 2, 1};
  check(dilated, 6);
  WindowCase beyond = with({1, 5, 6}, {1, 2, 3}, {1, 1, 3});  // pads that are wider than the filter reaches
  beyond.pads = WindowCase::Pads::given;
  beyond.given = {0, 0, 4, 3, 5, 4};
  check(beyond, 4);
}

TEST_P(TransposedConvolution, BiasAndActivationArePartOfTheLastKernel) {
  const Tensor image = context().full({1, 3, 3, 4}, 1, DType::f16).compute(),
               even = context().full({2, 2, 4, 4}, 0.5f, DType::f16).compute(),
               odd = context().full({3, 3, 4, 4}, 0.5f, DType::f16).compute();
  const auto dispatches = [&](const Tensor& filter) {
    context().reset_stats();
    relu(conv2d_transpose(image, filter, {.strides = {2, 2}}) - 3.0f).compute();
    return context().stats().dispatches;
  };
  EXPECT_EQ(dispatches(odd), 1u);
  EXPECT_EQ(dispatches(even), 3u);  // the filter's taps by their phases, the convolution, the phases in their order
  EXPECT_EQ(relu(conv2d_transpose(image, even, {.strides = {2, 2}}) - 3.0f).read(), std::vector<float>(144, 0));
  EXPECT_EQ(conv2d_transpose(image, even, {.strides = {2, 2}}).read(), std::vector<float>(144, 2));
}

// What no tap meets makes no NaN.
TEST_P(TransposedConvolution, InfinitePixelsStayWhereTapsMeetThem) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor image = context().tensor({1, 1, 2, 1}, {1, infinity});
  const auto made = [&](std::int64_t taps) {
    return conv2d_transpose(image, context().full({1, taps, 1, 1}, 1), {.strides = {1, 2}}).read();
  };
  EXPECT_EQ(made(2), (std::vector<float>{1, 1, infinity, infinity}));
  EXPECT_EQ(made(3), (std::vector<float>{1, 1, infinity, infinity, infinity}));
}

TEST_P(TransposedConvolution, BadInput) {
  const Tensor image = context().zeros({1, 4, 4, 3}), filter = context().zeros({3, 3, 2, 3});
  const auto fails = [&](const Conv2dTranspose& options, ErrorCode code, std::initializer_list<const char*> parts) {
    expect_error([&] { (void)conv2d_transpose(image, filter, options); }, code, parts, "conv2d_transpose");
  };
  EXPECT_TESSERA_ERROR(conv2d_transpose(context().zeros({4, 4, 3}), filter), shape_mismatch, "conv2d_transpose",
                       "[4,4,3]");
  EXPECT_TESSERA_ERROR(conv2d_transpose(image, context().zeros({3, 3, 2})), shape_mismatch, "conv2d_transpose",
                       "[height,width,out,in]");
  EXPECT_TESSERA_ERROR(conv2d_transpose(image, context().zeros({3, 3, 3, 2})), shape_mismatch, "conv2d_transpose",
                       "3 channels", "takes 2");
  EXPECT_TESSERA_ERROR(conv2d_transpose(context().zeros({1, 4, 4, 3}, DType::i8), filter), dtype_mismatch,
                       "conv2d_transpose", "i8", "floats");
  EXPECT_TESSERA_ERROR(conv2d_transpose(image, context().zeros({3, 3, 2, 3}, DType::f16)), dtype_mismatch,
                       "conv2d_transpose", "f32", "f16");
  fails({.groups = 0}, ErrorCode::invalid_argument, {"0 groups"});
  fails({.groups = 2}, ErrorCode::shape_mismatch, {"2 groups", "3 channels"});
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  fails({.groups = huge}, ErrorCode::shape_mismatch, {"4611686018427387904 groups", "3 channels"});
  fails({.dilations = {1, huge}}, ErrorCode::invalid_argument, {"dilation", "4611686018427387904"});
  fails({.dilations = {1, 2147483647}}, ErrorCode::invalid_argument, {"4294967295", "1073741824"});
  fails({.size = {{huge, 6}}}, ErrorCode::invalid_argument, {"4611686018427387904 elements", "4"});
  fails({.strides = {0, 1}}, ErrorCode::invalid_argument, {"stride", "0"});
  fails({.dilations = {1, -1}}, ErrorCode::invalid_argument, {"dilation", "-1"});
  fails({.pads = {{-1, 0, 0, 0}}}, ErrorCode::invalid_argument, {"padding", "-1"});
  fails({.pads = {{3, 3, 0, 0}}}, ErrorCode::shape_mismatch, {"0 elements", "4"});
  fails({.size = {{0, 6}}}, ErrorCode::invalid_argument, {"0 elements", "4"});
  fails({.strides = {2, 2}, .size = {{11, 9}}}, ErrorCode::shape_mismatch,
        {"a result of 11", "an image of 5", "has 4"});
}

TESSERA_ON_EACH_BACKEND(TransposedConvolution);

}  // namespace
}  // namespace tessera::test::conv_transpose_test

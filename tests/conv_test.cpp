// Convolutions, against plain loops and against published examples.
#include <numeric>

#include "support/compare.h"
#include "support/devices.h"
#include "support/windows.h"

namespace tessera::test::conv_test {
namespace {

std::vector<float> counting(std::size_t count, float first = 0) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

struct ConvCase {
  WindowCase window;
  std::int64_t out = 1;
  int groups = 1;

  std::int64_t in() const { return window.channels / groups; }

  Shape filter_shape() const {
    std::vector<std::int64_t> dims(window.window.end() - window.spatial_axes, window.window.end());
    dims.insert(dims.end(), {in(), out});
    return Shape(dims);
  }

  std::string to_string() const {
    return window.to_string() + ", filter " + filter_shape().to_string() + ", groups " + std::to_string(groups);
  }

  std::vector<double> totals(const std::vector<float>& image, const std::vector<float>& filter) const {
    std::vector<double> sums(static_cast<std::size_t>(window.shape(window.result_sizes(), out).size()));
    window.for_each_tap([&](std::int64_t result_pixel, std::int64_t pixel, int tap) {
      for (std::int64_t o = 0; o < out; ++o)
        for (std::int64_t i = 0; i < in(); ++i) {
          const std::int64_t group = o / (out / groups);
          sums[static_cast<std::size_t>(result_pixel * out + o)] +=
              static_cast<double>(image[static_cast<std::size_t>(pixel * window.channels + group * in() + i)]) *
              static_cast<double>(filter[static_cast<std::size_t>((tap * in() + i) * out + o)]);
        }
    });
    return sums;
  }

  std::vector<float> by_hand(const std::vector<float>& image, const std::vector<float>& filter) const {
    const std::vector<double> sums = totals(image, filter);
    return {sums.begin(), sums.end()};
  }

  template <class Options, std::size_t Axes>
  Options options() const {
    Options made;
    const std::vector<std::int64_t> strides = window.used(window.strides), dilations = window.used(window.dilations);
    if constexpr (Axes == 1) {
      made.stride = strides[0];
      made.dilation = dilations[0];
    } else {
      std::copy(strides.begin(), strides.end(), made.strides.begin());
      std::copy(dilations.begin(), dilations.end(), made.dilations.begin());
    }
    if (window.pads == WindowCase::Pads::same) made.padding = Padding::same;
    if (const std::vector<std::int64_t> pads = window.used_pads(); !pads.empty()) {
      made.pads.emplace();
      std::copy(pads.begin(), pads.end(), made.pads->begin());
    }
    made.groups = groups;
    return made;
  }

  Tensor run(const Tensor& image, const Tensor& filter) const {
    if (window.spatial_axes == 1) return conv1d(image, filter, options<Conv1d, 1>());
    if (window.spatial_axes == 2) return conv2d(image, filter, options<Conv2d, 2>());
    return conv3d(image, filter, options<Conv3d, 3>());
  }
};

class Convolution : public OnDevice {
 protected:
  void check(const ConvCase& it) {
    SCOPED_TRACE(it.to_string());
    const std::vector<float> image = random_values(static_cast<std::size_t>(it.window.image_shape().size()), -1, 1, 3);
    const std::vector<float> filter = random_values(static_cast<std::size_t>(it.filter_shape().size()), -1, 1, 4);
    const Tensor result =
        it.run(context().tensor(it.window.image_shape(), image), context().tensor(it.filter_shape(), filter));
    EXPECT_EQ(result.shape(), it.window.shape(it.window.result_sizes(), it.out));
    EXPECT_TRUE(all_agree(result.read(), it.by_hand(image, filter), 1e-5f));
  }
};

TEST_P(Convolution, RandomCases) {
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    ConvCase it{.window = random_window_case(random)};
    std::vector<int> divisors;
    for (int groups = 1; groups <= it.window.channels; ++groups)
      if (it.window.channels % groups == 0) divisors.push_back(groups);
    it.groups = divisors[random() % divisors.size()];
    it.out = it.groups * std::array{1, 3, 4, 8}[random() % 4];
    check(it);
  }
}

// One past each of the ways in which kernels read: texels of image channels, of result channels, of both, and
// depthwise.
TEST_P(Convolution, ChannelsAroundEachReading) {
  const WindowCase window{.size = {1, 5, 6}, .window = {1, 3, 3}, .pads = WindowCase::Pads::same};
  for (const std::int64_t in : {3, 4, 5, 8})
    for (const std::int64_t out : {3, 4, 5, 8}) {
      ConvCase it{.window = window, .out = out};
      it.window.channels = in;
      check(it);
    }
  for (const int channels : {1, 3, 4, 5, 8, 12}) {
    ConvCase depthwise{.window = window, .out = channels, .groups = channels};
    depthwise.window.channels = channels;
    check(depthwise);
    depthwise.out = 2 * channels;  // two results of each channel
    check(depthwise);
  }
}

// From 16 result channels of a group on, octets make them; depthwise, windows slide over eight pixels at a time.
TEST_P(Convolution, ManyChannelsAndWideRows) {
  const WindowCase window{.batch = 2, .size = {1, 5, 9}, .window = {1, 3, 3}, .pads = WindowCase::Pads::same};
  for (const std::int64_t in : {3, 4, 6})
    for (const std::int64_t out : {16, 20, 36}) {
      ConvCase it{.window = window, .out = out};
      it.window.channels = in;
      check(it);
    }
  ConvCase groups{.window = window, .out = 48, .groups = 3};
  groups.window.channels = 12;
  groups.window.strides = {1, 2, 2};
  check(groups);
  ConvCase deep{.window = {.spatial_axes = 3, .channels = 4, .size = {3, 4, 5}, .window = {2, 2, 3}}, .out = 16};
  check(deep);
  ConvCase pixels{.window = {.channels = 8, .size = {1, 17, 23}}, .out = 40};  // enough for two octets of pixels each
  check(pixels);
  for (const std::int64_t width : {8, 9, 17})
    for (const std::int64_t step : {1, 2}) {  // from pixel to pixel, and from tap to tap
      ConvCase depthwise{.window = window, .out = 8, .groups = 8};
      depthwise.window.channels = 8;
      depthwise.window.size[2] = step * width;
      depthwise.window.strides[2] = depthwise.window.dilations[2] = step;
      check(depthwise);
    }
}

// Sizes from which on blocks pay, where there are no workgroups: channels off the texels, strides, dilations, groups.
// With octets, convolutions that are large enough make result channels in whole texels, and copy what is wanted.
TEST_P(Convolution, ManyChannelsThatFillNoTexels) {
  const WindowCase window{.batch = 2, .size = {1, 11, 13}, .window = {1, 3, 3}, .pads = WindowCase::Pads::same};
  for (const std::int64_t in : {5, 8})
    for (const std::int64_t out : {17, 29, 39}) {
      ConvCase it{.window = window, .out = out};
      it.window.channels = in;
      check(it);
    }
  ConvCase steps{.window = window, .out = 45};
  steps.window.channels = 23;
  steps.window.strides = {1, 2, 2};
  check(steps);
  ConvCase deep{.window = {.spatial_axes = 3, .channels = 9, .size = {3, 8, 9}, .window = {2, 3, 3}}, .out = 18};
  check(deep);
  ConvCase depthwise{.window = window, .out = 37, .groups = 37};
  depthwise.window.channels = 37;
  depthwise.window.size = {1, 37, 41};
  check(depthwise);
  depthwise.window.strides = depthwise.window.dilations = {1, 2, 2};
  depthwise.window.size = {1, 73, 81};
  check(depthwise);
}

TEST_P(Convolution, ManyChannelsThatFillNoTexelsHaveWorkAfterThem) {
  const std::vector<float> image = random_values(std::size_t{12 * 14 * 9}, -1, 1, 1),
                           filter = random_values(std::size_t{9 * 9 * 21}, -1, 1, 2),
                           bias = random_values(21, -1, 1, 3),
                           residual = random_values(std::size_t{12 * 14 * 21}, -1, 1, 4);
  const auto layer = [&](Context& on, DType dtype) {
    const auto typed = [&](const Shape& shape, const std::vector<float>& values) {
      return on.tensor(shape, values).cast(dtype);
    };
    const Tensor sums = conv2d(typed({1, 12, 14, 9}, image), typed({3, 3, 9, 21}, filter), {.padding = Padding::same});
    return relu(sums + typed({21}, bias)) * 2.0f + typed({1, 12, 14, 21}, residual);
  };
  for (const DType dtype : {DType::f32, DType::f16})
    EXPECT_TRUE(all_agree(layer(context(), dtype).cast(DType::f32).read(), layer(cpu_context(), DType::f32).read(),
                          dtype == DType::f32 ? 1e-5f : 3e-2f));
}

TEST_P(Convolution, SizesInBlocks) {
  const WindowCase window{.size = {1, 23, 29}, .window = {1, 3, 3}, .pads = WindowCase::Pads::same};
  const auto with = [&](const WindowCase& other, int channels, std::int64_t out, int groups = 1) {
    ConvCase it{.window = other, .out = out, .groups = groups};
    it.window.channels = channels;
    check(it);
  };
  with(window, 12, 16);
  with(window, 13, 18);
  with(window, 16, 24, 2);
  with(window, 24, 24, 24);
  with(window, 37, 37, 37);
  WindowCase other = window;
  other.batch = 2;
  other.strides = {1, 2, 2};
  with(other, 9, 32);
  with(other, 32, 32, 32);
  other.strides = {1, 2, 1};
  other.dilations = {1, 1, 3};
  with(other, 8, 20);
  other = window;
  other.window = {1, 1, 1};
  with(other, 21, 34);
  other.strides = {1, 2, 2};
  with(other, 24, 64);
  other = window;
  other.window = {1, 2, 7};  // more taps side by side than kernels have in their text
  with(other, 8, 12);
  with({.spatial_axes = 1, .batch = 3, .size = {1, 1, 301}, .window = {1, 1, 5}}, 6, 22);
}

// On OpenGL ES results between convolutions are stored as the next one reads them, with the padding of its windows. A
// pixel takes part of a texel in the last case: there elements are stored in their order. The first convolution sums
// far more than the second one of stride 2, and does so in two strips.
TEST_P(Convolution, ConvolutionsOfConvolutions) {
  struct Case {
    std::int64_t channels, taps, stride, groups;
    std::uint64_t passes;  // in blocks: both filters and the image are laid out, and each convolution takes two
  };
  for (const Case& n :
       {Case{32, 3, 1, 1, 7}, {32, 3, 2, 1, 9}, {32, 5, 1, 32, 7}, {32, 1, 1, 1, 7}, {30, 3, 1, 1, 8}}) {
    SCOPED_TRACE(std::to_string(n.channels) + " channels, " + std::to_string(n.taps) + " taps, stride " +
                 std::to_string(n.stride) + ", groups " + std::to_string(n.groups));
    const auto result_on = [&](Context& on) {
      const auto values = [&](const Shape& shape, unsigned seed) {
        return on.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), -0.2f, 0.2f, seed));
      };
      const std::vector inputs{values({2, 21, 38, 16}, 1), values({3, 3, 16, n.channels}, 2),
                               values({n.taps, n.taps, n.channels / n.groups, 32}, 3), values({n.channels}, 4)};
      on.compute(inputs);
      on.reset_stats();
      const Tensor first = relu(conv2d(inputs[0], inputs[1], {.padding = Padding::same}) + inputs[3]);
      return conv2d(first, inputs[2], {.strides = {n.stride, n.stride}, .padding = Padding::same, .groups = n.groups})
          .compute();
    };
    const Tensor result = result_on(context());
    if (context().backend() == BackendKind::gles) {
      EXPECT_EQ(context().stats().dispatches, n.passes);
    }
    EXPECT_TRUE(all_agree(result.read(), result_on(cpu_context()).read(), 1e-4f));
  }
}

// Integers of 8 bits in the same ways, all types and values among them: exact, with sums that no float has.
TEST_P(Convolution, IntegersOf8Bits) {
  const auto check_bytes = [&](DType of_image, DType of_filter, const WindowCase& window, int channels,
                               std::int64_t out, int groups = 1, bool is_largest = false) {
    ConvCase it{.window = window, .out = out, .groups = groups};
    it.window.channels = channels;
    SCOPED_TRACE(it.to_string() + ", " + std::string(to_string(of_image)) + " by " + std::string(to_string(of_filter)));
    const auto values = [&](DType dtype, const Shape& shape) {
      const float low = dtype == DType::i8 ? -128 : 0;
      std::vector<float> made = random_values(static_cast<std::size_t>(shape.size()), low, low + 256, 5);
      for (float& value : made) value = is_largest ? (dtype == DType::i8 ? -128.0f : 255.0f) : std::floor(value);
      return made;
    };
    const std::vector<float> image = values(of_image, it.window.image_shape()),
                             filter = values(of_filter, it.filter_shape());
    const Tensor x = context().tensor(it.window.image_shape(), image).cast(of_image),
                 w = context().tensor(it.filter_shape(), filter).cast(of_filter);
    x.compute(), w.compute();  // so that convolutions read bytes
    std::vector<std::int32_t> expected;
    for (const double total : it.totals(image, filter)) expected.push_back(static_cast<std::int32_t>(total));
    EXPECT_EQ(it.run(x, w).read<std::int32_t>(), expected);
  };
  const WindowCase window{.size = {1, 13, 17}, .window = {1, 3, 3}, .pads = WindowCase::Pads::same};
  for (const DType of_image : {DType::i8, DType::u8})
    for (const DType of_filter : {DType::i8, DType::u8}) check_bytes(of_image, of_filter, window, 36, 16);
  check_bytes(DType::u8, DType::i8, window, 5, 18);
  check_bytes(DType::u8, DType::i8, window, 16, 32, 2);
  check_bytes(DType::u8, DType::i8, window, 24, 24, 24);
  check_bytes(DType::u8, DType::u8, {.batch = 2, .size = {1, 7, 9}, .window = {1, 3, 3}, .strides = {1, 2, 2}}, 132, 20,
              1, true);
  check_bytes(DType::u8, DType::u8, {.size = {1, 19, 23}, .window = {1, 1, 1}}, 300, 36, 1, true);
  check_bytes(DType::u8, DType::u8, {.size = {1, 24, 40}, .window = {1, 19, 17}}, 8, 8, 8, true);
  check_bytes(DType::u8, DType::i8, {.size = {1, 9, 31}, .window = {1, 2, 7}, .pads = WindowCase::Pads::same}, 72, 20,
              1, true);
}

TEST_P(Convolution, AWindowLargerThanTheImage) {
  check({.window = {.channels = 4,
                    .size = {1, 2, 3},
                    .window = {1, 5, 5},
                    .pads = WindowCase::Pads::given,
                    .given = {0, 0, 2, 3, 1, 4}},
         .out = 4});
  check({.window = {.channels = 3, .size = {1, 1, 1}, .window = {1, 7, 7}, .pads = WindowCase::Pads::same}, .out = 5});
  // One tap, however far apart the next one would be.
  check({.window = {.channels = 4, .size = {1, 3, 5}, .dilations = {1, 2147483647, 2147483647}}, .out = 4});
  // Whole windows in the padding give zeros.
  check({.window = {.channels = 2,
                    .size = {1, 2, 2},
                    .window = {1, 1, 1},
                    .pads = WindowCase::Pads::given,
                    .given = {0, 0, 2, 2, 3, 1}},
         .out = 4});
}

// The examples of ONNX's Conv, with images and filters of one channel.
TEST_P(Convolution, PublishedExamples) {
  const Tensor ones = context().full({3, 3, 1, 1}, 1), image = context().tensor({1, 5, 5, 1}, counting(25));
  EXPECT_EQ(conv2d(image, ones, {.pads = {{1, 1, 1, 1}}}).read(),
            (std::vector<float>{12,  21, 27, 33,  24,  33,  54,  63, 72,  51,  63,  99, 108,
                                117, 81, 93, 144, 153, 162, 111, 72, 111, 117, 123, 84}));
  EXPECT_EQ(conv2d(image, ones).read(), (std::vector<float>{54, 63, 72, 99, 108, 117, 144, 153, 162}));
  EXPECT_EQ(conv2d(image, ones, {.strides = {2, 2}, .padding = Padding::same}).read(),
            (std::vector<float>{12, 27, 24, 63, 108, 81, 72, 117, 84}));
  const Tensor tall = context().tensor({1, 7, 5, 1}, counting(35));
  EXPECT_EQ(conv2d(tall, ones, {.strides = {2, 2}, .pads = {{1, 1, 1, 1}}}).read(),
            (std::vector<float>{12, 27, 24, 63, 108, 81, 123, 198, 141, 112, 177, 124}));
  EXPECT_EQ(conv2d(tall, ones, {.strides = {2, 2}}).read(), (std::vector<float>{54, 72, 144, 162, 234, 252}));
  EXPECT_EQ(conv2d(tall, ones, {.strides = {2, 2}, .pads = {{1, 1, 0, 0}}}).read(),
            (std::vector<float>{21, 33, 99, 117, 189, 207, 171, 183}));
}

// TensorFlow's "SAME" with an even window pads the end only, and does not flip the filter.
TEST_P(Convolution, SamePaddingGoesToTheEnd) {
  const Tensor image = context().tensor({1, 4, 1}, {1, 2, 3, 4}), filter = context().tensor({2, 1, 1}, {10, 1});
  EXPECT_EQ(conv1d(image, filter, {.padding = Padding::same}).read(), (std::vector<float>{12, 23, 34, 40}));
  EXPECT_EQ(conv1d(image, filter, {.stride = 3, .padding = Padding::same}).read(), (std::vector<float>{12, 40}));
  EXPECT_EQ(conv1d(image, filter, {.dilation = 2}).read(), (std::vector<float>{13, 24}));
}

TEST_P(Convolution, Halves) {
  // 4096 ones in halves would stop at 2048.
  const Tensor image = context().full({1, 2, 2, 1024}, 1, DType::f16),
               filter = context().full({2, 2, 1024, 4}, 1, DType::f16);
  const Tensor result = conv2d(image, filter);
  EXPECT_EQ(result.dtype(), DType::f16);
  EXPECT_EQ(result.read(), (std::vector<float>{4096, 4096, 4096, 4096}));
  const ConvCase it{.window = {.channels = 4, .size = {1, 5, 4}, .window = {1, 3, 3}}, .out = 8};
  const std::vector<float> values = random_values(80, -1, 1, 1), weights = random_values(288, -1, 1, 2);
  const Tensor x = context().tensor({1, 5, 4, 4}, as<half>(values)),
               w = context().tensor({3, 3, 4, 8}, as<half>(weights));
  EXPECT_TRUE(all_agree(it.run(x, w).read(), it.by_hand(x.read(), w.read()), tolerance_in(DType::f16, 1e-5f)));
}

TEST_P(Convolution, IntegersGiveI32) {
  for (const auto& [in, out, groups] : {std::array{3, 5, 1}, std::array{3, 4, 1}, std::array{4, 8, 1},
                                        std::array{8, 8, 8}, std::array{6, 6, 2}, std::array{5, 20, 1}}) {
    const ConvCase it{
        .window = {.channels = in, .size = {1, 4, 5}, .window = {1, 3, 2}, .pads = WindowCase::Pads::same},
        .out = out,
        .groups = groups};
    SCOPED_TRACE(it.to_string());
    std::vector<float> image, filter;
    for (const float value : random_values(static_cast<std::size_t>(it.window.image_shape().size()), -128, 127.9f, 1))
      image.push_back(std::floor(value));
    for (const float value : random_values(static_cast<std::size_t>(it.filter_shape().size()), 0, 255.9f, 2))
      filter.push_back(std::floor(value));
    const Tensor x = context().tensor(it.window.image_shape(), as<std::int8_t>(image));
    const Tensor result = it.run(x, context().tensor(it.filter_shape(), as<std::uint8_t>(filter)));
    EXPECT_EQ(result.dtype(), DType::i32);
    EXPECT_EQ(result.read(), it.by_hand(image, filter));
  }
}

TEST_P(Convolution, BiasAndActivationArePartOfTheKernel) {
  for (const int groups : {1, 4}) {
    const Tensor image = context().tensor({1, 6, 6, 4}, random_values(144, -1, 1, 1)).compute();
    const Tensor filter =
        context()
            .tensor({3, 3, 4 / groups, 4}, random_values(static_cast<std::size_t>(144 / groups), -1, 1, 2))
            .compute();
    const Tensor bias = context().tensor({4}, {0.1f, -0.2f, 0.3f, -0.4f}).compute();
    const Conv2d options{.padding = Padding::same, .groups = groups};
    std::vector<float> want = conv2d(image, filter, options).read();
    for (std::size_t i = 0; i < want.size(); ++i)
      want[i] = std::max(0.0f, want[i] + std::array{0.1f, -0.2f, 0.3f, -0.4f}[i % 4]);
    context().reset_stats();
    const Tensor result = relu(conv2d(image, filter, options) + bias).compute();
    EXPECT_EQ(context().stats().dispatches, 1u);
    EXPECT_EQ(context().stats().submits, 1u);
    EXPECT_TRUE(all_agree(result.read(), want, 1e-6f));
  }
}

TEST_P(Convolution, OtherSizesCompileNothing) {
  const auto run = [&](std::int64_t height, std::int64_t channels, int stride) {
    conv2d(context().full({1, height, 9, channels}, 1), context().full({3, height / 3, channels, 8}, 1),
           {.strides = {stride, 1}, .padding = Padding::same})
        .read();
  };
  run(9, 4, 1);
  context().reset_stats();
  run(12, 8, 2);
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(Convolution, NoElements) {
  EXPECT_EQ(conv2d(context().zeros({0, 4, 4, 3}), context().zeros({3, 3, 3, 2})).shape(), (Shape{0, 2, 2, 2}));
  EXPECT_TRUE(conv2d(context().zeros({1, 4, 4, 3}), context().zeros({3, 3, 3, 0})).read().empty());
  EXPECT_EQ(conv2d(context().zeros({1, 2, 2, 0}), context().zeros({1, 1, 0, 1})).read(),
            (std::vector<float>{0, 0, 0, 0}));
  EXPECT_EQ(conv1d(context().zeros({1, 0, 2}), context().zeros({2, 2, 1}), {.pads = {{1, 2}}}).read(),
            (std::vector<float>{0, 0}));
  EXPECT_EQ(
      conv1d(context().zeros({1, 0, 2}, DType::i8), context().zeros({2, 2, 1}, DType::i8), {.pads = {{1, 1}}}).dtype(),
      DType::i32);
}

TEST_P(Convolution, BadInput) {
  const Tensor image = context().zeros({1, 5, 5, 6}), filter = context().zeros({3, 3, 6, 4});
  EXPECT_TESSERA_ERROR(conv2d(context().zeros({5, 5, 6}), filter), shape_mismatch, "conv2d", "[5,5,6]",
                       "[batch,height,width,channels]");
  EXPECT_TESSERA_ERROR(conv2d(image, context().zeros({3, 3, 6})), shape_mismatch, "conv2d", "[3,3,6]",
                       "[height,width,in,out]");
  EXPECT_TESSERA_ERROR(conv1d(image, filter), shape_mismatch, "conv1d", "[1,5,5,6]", "[batch,width,channels]");
  EXPECT_TESSERA_ERROR(conv3d(image, filter), shape_mismatch, "conv3d", "rank 4",
                       "[batch,depth,height,width,channels]");
  EXPECT_TESSERA_ERROR(conv2d(image, context().zeros({3, 3, 5, 4})), shape_mismatch, "conv2d", "[1,5,5,6] has 6",
                       "[3,3,5,4] takes 5");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.groups = 2}), shape_mismatch, "conv2d", "3 channels in each of 2 groups",
                       "takes 6");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.groups = 4}), shape_mismatch, "conv2d", "4 groups", "6 channels");
  EXPECT_TESSERA_ERROR(conv2d(image, context().zeros({3, 3, 2, 4}), {.groups = 3}), shape_mismatch, "3 groups",
                       "4 channels", "result");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.groups = 0}), invalid_argument, "conv2d", "0 groups");
  constexpr std::int64_t beyond_32_bits = (std::int64_t{1} << 32) + 1;
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.groups = beyond_32_bits}), shape_mismatch, "conv2d",
                       "4294967297 groups");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.strides = {1, beyond_32_bits}}), invalid_argument, "conv2d", "stride",
                       "axis 1 is 4294967297", "at most 2147483647");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.strides = {1, 0}}), invalid_argument, "conv2d", "stride", "axis 1 is 0",
                       "at least 1");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.strides = {-2, 1}}), invalid_argument, "conv2d", "stride", "-2");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.dilations = {0, 1}}), invalid_argument, "conv2d", "dilation", "0");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.pads = {{0, 0, 0, -1}}}), invalid_argument, "conv2d", "padding", "-1");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.pads = {{2147483647, 2147483647, 0, 0}}}), invalid_argument, "conv2d",
                       "4294967299", "1073741824");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.dilations = {2147483647, 1}, .padding = Padding::same}),
                       invalid_argument, "conv2d", "4294967299", "1073741824");
  EXPECT_TESSERA_ERROR(conv2d(image, context().zeros({6, 1, 6, 1})), shape_mismatch, "conv2d", "6 elements",
                       "the 5 of");
  EXPECT_TESSERA_ERROR(conv2d(image, filter, {.dilations = {4, 1}, .pads = {{1, 2, 0, 0}}}), shape_mismatch, "conv2d",
                       "9 elements", "the 8 of");
  EXPECT_TESSERA_ERROR(conv2d(image, context().zeros({0, 1, 6, 1})), shape_mismatch, "conv2d", "0 elements");
  EXPECT_TESSERA_ERROR(conv2d(image, context().zeros({3, 3, 6, 4}, DType::f16)), dtype_mismatch, "conv2d", "f32",
                       "f16");
  EXPECT_TESSERA_ERROR(conv2d(context().zeros({1, 5, 5, 6}, DType::i8), filter), dtype_mismatch, "conv2d", "i8", "f32");
  EXPECT_TESSERA_ERROR(conv2d(context().zeros({1, 5, 5, 6}, DType::boolean), filter), dtype_mismatch, "conv2d",
                       "boolean");
}

TESSERA_ON_ALL_DEVICES(Convolution);

}  // namespace
}  // namespace tessera::test::conv_test

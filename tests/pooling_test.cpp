// Pooling, against plain loops and against published examples.
#include <cmath>
#include <limits>
#include <numeric>

#include "support/compare.h"
#include "support/devices.h"
#include "support/windows.h"

namespace tessera::test::pooling_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

class ImagePooling : public OnDevice {
 protected:
  static Pooling options_of(const WindowCase& it) {
    return {.size = it.used(it.window),
            .strides = it.used(it.strides),
            .dilations = it.used(it.dilations),
            .padding = it.pads == WindowCase::Pads::same ? Padding::same : Padding::valid,
            .pads = it.used_pads()};
  }

  void check(const WindowCase& it) {
    SCOPED_TRACE(it.to_string());
    const std::vector<float> values = random_values(static_cast<std::size_t>(it.image_shape().size()), -3, -1, 5);
    const Shape shape = it.shape(it.result_sizes(), it.channels);
    const auto count = static_cast<std::size_t>(shape.size());
    std::vector<float> largest(count, -infinity), average(count), average_with_padding(count);
    std::vector<std::int32_t> indices(count, -1);
    std::vector<double> totals(count), inside(count);
    it.for_each_tap([&](std::int64_t result_pixel, std::int64_t pixel, int) {
      for (std::int64_t channel = 0; channel < it.channels; ++channel) {
        const auto from = static_cast<std::size_t>(pixel * it.channels + channel),
                   to = static_cast<std::size_t>(result_pixel * it.channels + channel);
        if (values[from] > largest[to]) indices[to] = static_cast<std::int32_t>(from);
        largest[to] = std::max(largest[to], values[from]);
        totals[to] += values[from];
        inside[to] += 1;
      }
    });
    for (std::size_t i = 0; i < count; ++i) {
      average[i] = static_cast<float>(inside[i] > 0 ? totals[i] / inside[i] : 0);
      average_with_padding[i] = static_cast<float>(totals[i] / (it.window[0] * it.window[1] * it.window[2]));
    }
    const Tensor image = context().tensor(it.image_shape(), values);
    Pooling options = options_of(it);
    const MaxPool max = max_pool_with_indices(image, options);
    EXPECT_EQ(max.values.shape(), shape);
    EXPECT_EQ(max.values.read(), largest);
    EXPECT_EQ(max.indices.read<std::int32_t>(), indices);
    EXPECT_TRUE(all_agree(average_pool(image, options).read(), average, 1e-5f));
    options.counts_padding = true;
    EXPECT_TRUE(all_agree(average_pool(image, options).read(), average_with_padding, 1e-5f));
  }

  Tensor counting(const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.size()));
    std::iota(values.begin(), values.end(), 1.0f);
    return context().tensor(shape, values);
  }
};

TEST_P(ImagePooling, RandomCases) {
  std::mt19937 random(3);
  for (int i = 0; i < 40; ++i) check(random_window_case(random));
}

TEST_P(ImagePooling, AWindowLargerThanTheImage) {
  check({.channels = 4,
         .size = {1, 1, 2},
         .window = {1, 3, 5},
         .pads = WindowCase::Pads::given,
         .given = {0, 0, 2, 1, 4, 3}});
  // Windows that straddle the image see nothing but padding.
  check({.channels = 3,
         .size = {1, 1, 1},
         .window = {1, 2, 2},
         .dilations = {1, 2, 2},
         .pads = WindowCase::Pads::given,
         .given = {0, 0, 2, 2, 2, 2}});
}

// The examples of ONNX's MaxPool and AveragePool.
TEST_P(ImagePooling, PublishedExamples) {
  const Tensor image = counting({1, 5, 5, 1});
  const Pooling padded{.size = {5, 5}, .strides = {1, 1}, .pads = {2, 2, 2, 2}};
  EXPECT_EQ(max_pool(image, padded).read(), (std::vector<float>{13, 14, 15, 15, 15, 18, 19, 20, 20, 20, 23, 24, 25,
                                                                25, 25, 23, 24, 25, 25, 25, 23, 24, 25, 25, 25}));
  EXPECT_EQ(max_pool_with_indices(image, padded).indices.read<std::int32_t>(),
            (std::vector<std::int32_t>{12, 13, 14, 14, 14, 17, 18, 19, 19, 19, 22, 23, 24,
                                       24, 24, 22, 23, 24, 24, 24, 22, 23, 24, 24, 24}));
  EXPECT_TRUE(all_agree(average_pool(image, padded).read(),
                        {7,     7.5f, 8,     8.5f, 9,     9.5f, 10,    10.5f, 11,    11.5f, 12,    12.5f, 13,
                         13.5f, 14,   14.5f, 15,   15.5f, 16,   16.5f, 17,    17.5f, 18,    18.5f, 19},
                        1e-6f));
  Pooling counted = padded;
  counted.counts_padding = true;
  EXPECT_TRUE(all_agree(average_pool(image, counted).read(),
                        {2.52f, 3.6f, 4.8f,  4.08f, 3.24f, 4.56f,  6.4f,  8.4f,  7.04f, 5.52f, 7.2f,  10,   13,
                         10.8f, 8.4f, 6.96f, 9.6f,  12.4f, 10.24f, 7.92f, 6.12f, 8.4f,  10.8f, 8.88f, 6.84f},
                        1e-6f));
  EXPECT_EQ(max_pool(image, {.size = {2, 2}}).read(), (std::vector<float>{7, 9, 17, 19}));
  EXPECT_EQ(average_pool(image, {.size = {2, 2}}).read(), (std::vector<float>{4, 6, 14, 16}));
  const Pooling same{.size = {3, 3}, .strides = {2, 2}, .padding = Padding::same};
  EXPECT_EQ(max_pool(image, same).read(), (std::vector<float>{7, 9, 10, 17, 19, 20, 22, 24, 25}));
  EXPECT_TRUE(all_agree(average_pool(image, same).read(), {4, 5.5f, 7, 11.5f, 13, 14.5f, 19, 20.5f, 22}, 1e-6f));
  EXPECT_EQ(max_pool(counting({1, 4, 4, 1}), {.size = {2, 2}, .strides = {1, 1}, .dilations = {2, 2}}).read(),
            (std::vector<float>{11, 12, 15, 16}));
}

TEST_P(ImagePooling, Global) {
  const Tensor image = counting({2, 2, 3, 2});
  EXPECT_EQ(global_max_pool(image).shape(), (Shape{2, 1, 1, 2}));
  EXPECT_EQ(global_max_pool(image).read(), (std::vector<float>{11, 12, 23, 24}));
  EXPECT_TRUE(all_agree(global_average_pool(image).read(), {6, 7, 18, 19}, 1e-6f));
  EXPECT_EQ(global_average_pool(counting({1, 3, 1})).read(), std::vector<float>{2});
  EXPECT_EQ(global_max_pool(counting({1, 2, 2, 2, 1})).shape(), (Shape{1, 1, 1, 1, 1}));
}

TEST_P(ImagePooling, EachType) {
  const Pooling options{.size = {2}, .strides = {1}, .padding = Padding::same};
  EXPECT_EQ(
      max_pool(context().tensor({1, 4, 1}, std::vector<std::int8_t>{-128, -128, 3, -7}), options).read<std::int8_t>(),
      (std::vector<std::int8_t>{-128, 3, 3, -7}));
  EXPECT_EQ(
      max_pool(context().tensor({1, 4, 1}, std::vector<std::uint8_t>{200, 255, 0, 1}), options).read<std::uint8_t>(),
      (std::vector<std::uint8_t>{255, 255, 1, 1}));
  const Tensor wide = context().tensor(
      {1, 2, 4}, std::vector<std::int32_t>{16777217, -5, 0, -2147483647 - 1, 16777216, -6, 1, 2147483647});
  EXPECT_EQ(max_pool(wide, {.size = {2}}).read<std::int32_t>(),
            (std::vector<std::int32_t>{16777217, -5, 1, 2147483647}));
  EXPECT_EQ(max_pool_with_indices(wide, {.size = {2}}).indices.read<std::int32_t>(),
            (std::vector<std::int32_t>{0, 1, 6, 7}));
  const Tensor halves = context().full({1, 4096, 1}, 1, DType::f16);
  EXPECT_EQ(average_pool(halves, {.size = {4096}}).read(),
            std::vector<float>{1});  // in halves the sum would stop at 2048
  EXPECT_EQ(average_pool(halves, {.size = {4096}}).dtype(), DType::f16);
  // Nothing but padding: the lowest number of the type.
  const Pooling straddling{.size = {2}, .strides = {1}, .dilations = {2}, .pads = {2, 2}};
  EXPECT_EQ(max_pool(context().full({1, 1, 1}, 5, DType::u8).cast(DType::u8), straddling).read(),
            (std::vector<float>{5, 0, 5}));
  EXPECT_EQ(max_pool(context().full({1, 1, 1}, 5, DType::i8), straddling).read(), (std::vector<float>{5, -128, 5}));
}

TEST_P(ImagePooling, TheAverageOfEqualNumbersIsThatNumber) {
  for (const float number : {0.1f, -0.7f, 3.0f, 1 / 3.0f}) {
    const std::vector<float> values(std::size_t{9} * 9 * 4, number);
    for (const std::int64_t channels : {1, 4}) {
      const Tensor image = context().tensor({4 / channels, 9, 9, channels}, values);
      for (const int size : {3, 5, 7})
        for (const float got :
             average_pool(image, {.size = {size, size}, .strides = {2, 2}, .padding = Padding::same}).read())
          ASSERT_EQ(got, number) << size;
    }
  }
  // Padding that counts is zeros.
  EXPECT_EQ(average_pool(context().tensor({1, 2, 1}, {3, 3}),
                         {.size = {2}, .strides = {2}, .pads = {1, 1}, .counts_padding = true})
                .read(),
            (std::vector<float>{1.5f, 1.5f}));
}

TEST_P(ImagePooling, SpecialValues) {
  const Pooling options{.size = {2}, .strides = {1}};
  const MaxPool max =
      max_pool_with_indices(context().tensor({1, 6, 1}, {1, nan, nan, -infinity, -infinity, 2}), options);
  EXPECT_TRUE(all_agree(max.values.read(), {nan, nan, nan, -infinity, 2}, 0));
  EXPECT_EQ(max.indices.read<std::int32_t>(), (std::vector<std::int32_t>{1, 1, 2, 3, 5}));
  EXPECT_EQ(max_pool_with_indices(context().full({1, 3, 4}, 7), {.size = {3}}).indices.read<std::int32_t>(),
            (std::vector<std::int32_t>{0, 1, 2, 3}));
  // What lies outside of a window does not spoil its average.
  EXPECT_TRUE(all_agree(average_pool(context().tensor({1, 4, 1}, {nan, 1, 3, infinity}), options).read(),
                        {nan, 2, infinity}, 1e-6f));
}

TEST_P(ImagePooling, NoElements) {
  EXPECT_EQ(max_pool(context().zeros({0, 4, 4, 3}), {.size = {2, 2}}).shape(), (Shape{0, 2, 2, 3}));
  EXPECT_TRUE(average_pool(context().zeros({1, 4, 4, 0}), {.size = {2, 2}}).read().empty());
  const Tensor nothing = context().zeros({1, 0, 1});
  const Pooling options{.size = {2}, .pads = {1, 1}};
  EXPECT_EQ(max_pool(nothing, options).read(), std::vector<float>{-infinity});
  EXPECT_EQ(average_pool(nothing, options).read(), std::vector<float>{0});
  EXPECT_EQ(max_pool_with_indices(nothing, options).indices.read<std::int32_t>(), std::vector<std::int32_t>{-1});
}

TEST_P(ImagePooling, WorkBeforeAndAfterIsPartOfTheKernel) {
  const Tensor image = context().tensor({1, 4, 4, 4}, random_values(64, -1, 1, 2)).compute();
  context().reset_stats();
  const Tensor side_by_side = (max_pool(relu(image), {.size = {2, 2}}) + 1.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  const Tensor expected = relu(max_pool(image, {.size = {2, 2}})) + 1.0f;
  EXPECT_EQ(side_by_side.read(), expected.read());
  // Where windows overlap, work on the image would be done again and again.
  context().reset_stats();
  average_pool(exp(image), {.size = {3, 3}, .strides = {1, 1}}).compute();
  EXPECT_EQ(context().stats().dispatches, 2u);
}

TEST_P(ImagePooling, BadInput) {
  const Tensor image = context().zeros({1, 4, 4, 3});
  EXPECT_TESSERA_ERROR(max_pool(image, {}), invalid_argument, "max_pool", "0 axes");
  EXPECT_TESSERA_ERROR(max_pool(image, {.size = {2}}), shape_mismatch, "max_pool", "rank 4", "[batch,width,channels]");
  EXPECT_TESSERA_ERROR(max_pool(image, {.size = {2, 0}}), invalid_argument, "max_pool", "size", "axis 1 is 0");
  constexpr std::int64_t beyond_32_bits = (std::int64_t{1} << 32) + 2;
  EXPECT_TESSERA_ERROR(max_pool(image, {.size = {2, beyond_32_bits}}), invalid_argument, "max_pool", "size",
                       "axis 1 is 4294967298", "at most 2147483647");
  EXPECT_TESSERA_ERROR(average_pool(image, {.size = {2, 2}, .strides = {beyond_32_bits, 1}}), invalid_argument,
                       "average_pool", "stride", "axis 0 is 4294967298");
  EXPECT_TESSERA_ERROR(average_pool(image, {.size = {2, 2}, .strides = {1}}), invalid_argument, "average_pool",
                       "1 strides", "2 axes");
  EXPECT_TESSERA_ERROR(average_pool(image, {.size = {2, 2}, .strides = {1, 0}}), invalid_argument, "average_pool",
                       "stride", "0");
  EXPECT_TESSERA_ERROR(max_pool(image, {.size = {2, 2}, .dilations = {-1, 1}}), invalid_argument, "max_pool",
                       "dilation", "-1");
  EXPECT_TESSERA_ERROR(max_pool(image, {.size = {2, 2}, .pads = {0, 0}}), invalid_argument, "max_pool", "2 pads",
                       "2 axes");
  EXPECT_TESSERA_ERROR(max_pool(image, {.size = {2, 2}, .pads = {0, 0, -1, 0}}), invalid_argument, "max_pool",
                       "padding", "-1");
  EXPECT_TESSERA_ERROR(max_pool(image, {.size = {2, 2}, .pads = {0, 2, 0, 0}}), invalid_argument, "max_pool", "is 2",
                       "the 2 elements");
  EXPECT_TESSERA_ERROR(max_pool_with_indices(image, {.size = {5, 2}}), shape_mismatch, "max_pool_with_indices",
                       "5 elements", "the 4 of");
  EXPECT_TESSERA_ERROR(max_pool(context().zeros({1, 4, 1}, DType::boolean), {.size = {2}}), dtype_mismatch, "max_pool",
                       "boolean");
  EXPECT_TESSERA_ERROR(average_pool(context().zeros({1, 4, 1}, DType::i32), {.size = {2}}), dtype_mismatch,
                       "average_pool", "i32");
  EXPECT_TESSERA_ERROR(global_average_pool(context().zeros({4, 1})), shape_mismatch, "global_average_pool", "[4,1]",
                       "rank 2");
  EXPECT_TESSERA_ERROR(global_max_pool(context().zeros({1, 2, 2, 1}, DType::boolean)), dtype_mismatch,
                       "global_max_pool", "boolean");
}

TESSERA_ON_EACH_BACKEND(ImagePooling);

}  // namespace
}  // namespace tessera::test::pooling_test

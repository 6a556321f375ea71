// Convolutions. Images have their channels last inside, and filters are turned once.
#include <algorithm>
#include <numeric>

#include "models/integer_products.h"
#include "models/window.h"

namespace tessera::onnx {

namespace {

// [out,in,spatial...] to [spatial...,in,out]; of a transposed convolution [in,out,spatial...] to [spatial...,out,in].
std::vector<int> filter_order(int rank) {
  std::vector<int> permutation;
  for (int axis = 2; axis < rank; ++axis) permutation.push_back(axis);
  permutation.insert(permutation.end(), {1, 0});
  return permutation;
}

Sizes filter_size(const Call& call, int input) {
  call.expect_rank(input, 3, 5);
  const auto dims = call.shape(input).dims();
  return {dims.begin() + 2, dims.end()};
}

Tensor convolved(const Call& call, const Tensor& image, const Tensor& filter, const Window& window) {
  const Sizes pads = window.flat_pads();
  const std::int64_t groups = call.integer("group", 1);
  const auto of = [](const Sizes& sizes, auto& array) { std::copy_n(sizes.begin(), array.size(), array.begin()); };
  if (window.size.size() == 1)
    return conv1d(image, filter,
                  {.stride = window.strides[0],
                   .dilation = window.dilations[0],
                   .pads = std::array{pads[0], pads[1]},
                   .groups = groups});
  if (window.size.size() == 2) {
    Conv2d how{.pads = std::array<std::int64_t, 4>{}, .groups = groups};
    of(window.strides, how.strides), of(window.dilations, how.dilations), of(pads, *how.pads);
    return conv2d(image, filter, how);
  }
  Conv3d how{.pads = std::array<std::int64_t, 6>{}, .groups = groups};
  of(window.strides, how.strides), of(window.dilations, how.dilations), of(pads, *how.pads);
  return conv3d(image, filter, how);
}

Results conv(const Call& call) {
  const Window window = window_of(call, call.shape(0), filter_size(call, 1));
  Tensor result =
      convolved(call, call.tensor(0, Order::channels_last), call.filter(1, filter_order(call.rank(1))), window);
  if (call.has(2)) result = result + call.tensor(2);
  return {call.give(result, Order::channels_last)};
}

// Zero points of a filter are one, or one for each of its result channels, which are the last axis here.
Tensor filter_minus_zero(const Call& call, int filter, int zero) {
  const Tensor values = call.filter(filter, filter_order(call.rank(filter)));
  if (!call.has(zero)) return minus_zero(values, {});
  return minus_zero(values, call.shape(zero).size() == 1 ? call.tensor(zero).reshape({}) : call.tensor(zero));
}

std::optional<Tensor> single(const Call& call, int input) {
  if (!call.has(input)) return {};
  call.expect(call.shape(input).size() == 1, "its input " + std::to_string(input) + " has to be one number.");
  return call.tensor(input).reshape({});
}

// The image with its zero point around it, as far as windows reach: products of differences are 0 there. The window has
// no padding then.
Tensor with_zeros_around(const Call& call, const Tensor& image, int zero, Window& window) {
  const auto is_none = [](const PadWidth& width) { return width.before == 0 && width.after == 0; };
  if (std::ranges::all_of(window.pads, is_none)) return image;
  std::vector<PadWidth> widths(1);
  widths.insert(widths.end(), window.pads.begin(), window.pads.end());
  widths.emplace_back();
  std::ranges::fill(window.pads, PadWidth{});
  if (const std::optional<double> number = call.known_number(zero)) return pad(image, widths, *number);
  Sizes sizes(image.shape().dims().begin(), image.shape().dims().end());
  sizes.front() = sizes.back() = 1;
  const Tensor inside = pad(call.context().full(Shape(sizes), 1), widths).cast(DType::boolean);
  return where(inside, pad(image, widths), call.tensor(zero).reshape({}));
}

std::vector<int> all_axes_but_last(int rank) {
  std::vector<int> axes(static_cast<std::size_t>(rank) - 1);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

// Sums of products of differences from zero points, i32: of 8-bit integers, unless the filter's zero points make it
// more.
Tensor conv_of_differences(const Call& call, const QuantizedOperand& image, const QuantizedOperand& filter) {
  Window window = window_of(call, call.shape(image.values), filter_size(call, filter.values));
  const Tensor values = call.tensor(image.values, Order::channels_last);
  const std::optional<Tensor> zero = single(call, image.zero);
  const std::optional<Tensor> weights =
      weights_without_zeros(call, call.filter(filter.values, filter_order(call.rank(filter.values))), filter.zero);
  if (!weights)
    return convolved(call, minus_zero(values, zero), filter_minus_zero(call, filter.values, filter.zero), window);
  if (are_zeros_all(call, image.zero, 0)) return convolved(call, values, *weights, window);
  const Tensor padded = with_zeros_around(call, values, image.zero, window);
  const Tensor sums = tessera::sum(weights->cast(DType::i32), {.axes = all_axes_but_last(weights->shape().rank())});
  return convolved(call, padded, *weights, window) - sums * zero->cast(DType::i32);
}

Results integer_conv(const Call& call) {
  return {call.give(conv_of_differences(call, {0, 2}, {1, 3}), Type::int32, Order::channels_last)};
}

Results quantized_conv(const Call& call) {
  Tensor sum = conv_of_differences(call, {0, 2}, {3, 5});
  if (call.has(8)) sum = sum + call.tensor(8);
  return {call.give(requantized(sum, *single(call, 1), call.tensor(4), *single(call, 6), call.tensor(7)), call.type(7),
                    Order::channels_last)};
}

// Conv of operands that the file dequantizes.
Results conv_of_bytes(const Call& call) {
  Window window = window_of(call, call.shape(0), filter_size(call, 3));
  Tensor image = call.tensor(0, Order::channels_last);
  if (quantized_zero(call) != 0) image = with_zeros_around(call, image, 2, window);
  const Tensor filter = quantized_weights(call, call.filter(3, filter_order(call.rank(3))));
  return {
      call.give(quantized_result(call, convolved(call, image, filter, window), filter, all_axes_but_last(call.rank(3))),
                Type::float32, Order::channels_last)};
}

// ---- the way back

struct Spread {  // of a transposed convolution
  Window window;
  Sizes size;  // of the result
};

Spread spread_of(const Call& call) {
  const Shape& image = call.shape(0);
  Spread spread{.window = {.size = filter_size(call, 1)}};
  const std::size_t axes = spread.window.size.size();
  call.expect(image.rank() == call.rank(1), "the image " + image.to_string() + " and the filter " +
                                                call.shape(1).to_string() + " have not as many axes.");
  spread.window.strides = spatial_attribute(call, "strides", axes, 1, 1);
  spread.window.dilations = spatial_attribute(call, "dilations", axes, 1, 1);
  const Sizes extra = spatial_attribute(call, "output_padding", axes, 0, 0),
              pads = spatial_attribute(call, "pads", 2 * axes, 0, 0);
  std::optional<Sizes> sizes = call.integers("output_shape");
  if (sizes) sizes = spatial_attribute(call, "output_shape", axes, 1, 1);
  const std::string automatic = call.text("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t extent = image[static_cast<int>(i) + 2], stride = spread.window.strides[i];
    const std::int64_t full = stride * (extent - 1) + extra[i] + spread.window.reach(i);
    PadWidth width{pads[i], pads[i + axes]};
    std::int64_t size = full - width.before - width.after;
    if (automatic == "VALID") width = {}, size = full;
    if (sizes || automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      size = sizes ? (*sizes)[i] : extent * stride;
      const std::int64_t total = std::max<std::int64_t>(0, full - size);
      width = {total / 2, total - total / 2};
      if (automatic == "SAME_LOWER") std::swap(width.before, width.after);
    }
    call.expect(size >= 1, "its result would have a size of " + std::to_string(size) + ".");
    spread.window.pads.push_back(width);
    spread.size.push_back(size);
  }
  return spread;
}

// tessera has the transposed convolution of two axes; one axis is a row of it, and three are a convolution of the image
// with zeros between its elements.
Tensor spread_in_plane(const Call& call, Tensor image, Tensor filter, const Spread& spread) {
  const bool is_row = spread.size.size() == 1;
  const auto with_row = [&](const Shape& shape, int at) {
    Sizes sizes(shape.dims().begin(), shape.dims().end());
    sizes.insert(sizes.begin() + at, 1);
    return Shape(sizes);
  };
  if (is_row) image = image.reshape(with_row(image.shape(), 1)), filter = filter.reshape(with_row(filter.shape(), 0));
  const auto pair = [&](const Sizes& sizes) {
    return is_row ? std::array<std::int64_t, 2>{1, sizes[0]} : std::array<std::int64_t, 2>{sizes[0], sizes[1]};
  };
  Sizes pads = spread.window.flat_pads();
  if (is_row) pads.insert(pads.begin(), {0, 0});
  const Tensor result = conv2d_transpose(image, filter,
                                         {.strides = pair(spread.window.strides),
                                          .dilations = pair(spread.window.dilations),
                                          .pads = std::array{pads[0], pads[1], pads[2], pads[3]},
                                          .size = pair(spread.size),
                                          .groups = call.integer("group", 1)});
  if (!is_row) return result;
  return result.reshape({result.shape()[0], result.shape()[2], result.shape()[3]});
}

Tensor with_zeros_between(Tensor image, const Sizes& strides) {
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (strides[i] == 1) continue;
    const int axis = static_cast<int>(i) + 1;
    Sizes sizes(image.shape().dims().begin(), image.shape().dims().end());
    std::vector<PadWidth> widths(sizes.size() + 1);
    widths[i + 2].after = strides[i] - 1;
    Sizes apart = sizes;
    apart.insert(apart.begin() + axis + 1, 1);
    sizes[i + 1] *= strides[i];
    image = pad(image.reshape(Shape(apart)), widths).reshape(Shape(sizes));
    sizes[i + 1] -= strides[i] - 1;
    image = slice(image, Sizes(sizes.size(), 0), sizes);
  }
  return image;
}

Tensor spread_in_space(const Call& call, const Tensor& image, const Spread& spread) {
  if (call.integer("group", 1) != 1) call.unsupported("groups of a transposed convolution over three axes.");
  const Tensor apart = with_zeros_between(image, spread.window.strides);
  const Tensor filter = reverse(call.filter(1, {2, 3, 4, 0, 1}), {0, 1, 2});
  Conv3d how{.pads = std::array<std::int64_t, 6>{}};
  Sizes cut_before(5, 0), cut_size{image.shape()[0], 0, 0, 0, call.shape(1)[1]};
  for (std::size_t i = 0; i < 3; ++i) {
    how.dilations[i] = spread.window.dilations[i];
    const std::int64_t before = spread.window.reach(i) - 1;
    (*how.pads)[2 * i] = before;
    (*how.pads)[2 * i + 1] = std::max<std::int64_t>(
        0, spread.size[i] + spread.window.pads[i].before - apart.shape()[static_cast<int>(i) + 1]);
    cut_before[i + 1] = spread.window.pads[i].before;
    cut_size[i + 1] = spread.size[i];
  }
  return slice(conv3d(apart, filter, how), cut_before, cut_size);
}

Results transposed_conv(const Call& call) {
  const Spread spread = spread_of(call);
  const Tensor image = call.tensor(0, Order::channels_last);
  Tensor result = spread.size.size() == 3
                      ? spread_in_space(call, image, spread)
                      : spread_in_plane(call, image, call.filter(1, filter_order(call.rank(1))), spread);
  if (call.has(2)) result = result + call.tensor(2);
  return {call.give(result, Order::channels_last)};
}

}  // namespace

const Operators& conv_operators() {
  static const Operators rows{
      {"Conv", 1, conv},
      {"ConvInteger", 1, integer_conv},
      {"QLinearConv", 1, quantized_conv},
      {"tessera.pattern.QuantizedConv", 1, conv_of_bytes},
      {"ConvTranspose", 1, transposed_conv},
  };
  return rows;
}

}  // namespace tessera::onnx

#include "core/window.h"

#include <algorithm>
#include <limits>

namespace tessera {
namespace {

// Shaders add two such sizes in an i32.
constexpr std::int64_t largest_size = std::int64_t{1} << 30;

std::string along(std::size_t axis) { return " along spatial axis " + std::to_string(axis); }

}  // namespace

void check_along_axis(std::string_view op, std::string_view what, std::size_t axis, std::int64_t value,
                      std::int64_t least) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (value < least || value > most)
    fail(ErrorCode::invalid_argument, op,
         "the " + std::string(what) + along(axis) + " is " + std::to_string(value) + "; it must be at " +
             (value < least ? "least " + std::to_string(least) : "most " + std::to_string(most)) + ".");
}

void check_window(std::string_view op, std::size_t axis, std::int64_t taps, const WindowOptions& options) {
  check_along_axis(op, "stride", axis, options.strides[axis], 1);
  check_along_axis(op, "dilation", axis, options.dilations[axis], 1);
  if (!options.pads.empty())
    for (const std::size_t side : {2 * axis, 2 * axis + 1})
      check_along_axis(op, "padding", axis, options.pads[side], 0);
  if (taps < 1)
    fail(ErrorCode::shape_mismatch, op,
         "the window has " + std::to_string(taps) + " elements" + along(axis) + "; it needs at least 1.");
}

WindowAxis window_axis(std::string_view op, std::size_t axis, std::int64_t image, std::int64_t taps,
                       const WindowOptions& options) {
  check_window(op, axis, taps, options);
  const std::int64_t stride = options.strides[axis], dilation = taps == 1 ? 1 : options.dilations[axis],
                     reach = (taps - 1) * dilation + 1;
  const bool is_same = options.pads.empty() && options.padding == Padding::same;
  std::int64_t before = 0, padded = image, result = (image + stride - 1) / stride;
  if (is_same) {
    const std::int64_t missing = std::max<std::int64_t>((result - 1) * stride + reach - image, 0);
    before = missing / 2;
    padded += missing;
  } else if (!options.pads.empty()) {
    before = options.pads[2 * axis];
    padded += before + options.pads[2 * axis + 1];
  }
  if (padded > largest_size)
    fail(ErrorCode::invalid_argument, op,
         "the padded image has " + std::to_string(padded) + " elements" + along(axis) + ", more than the " +
             std::to_string(largest_size) + " there can be.");
  if (!is_same && reach > padded)
    fail(ErrorCode::shape_mismatch, op,
         "the window reaches over " + std::to_string(reach) + " elements" + along(axis) + ", more than the " +
             std::to_string(padded) + " of the padded image.");
  if (!is_same) result = (padded - reach) / stride + 1;
  return {.image = image, .result = result, .taps = taps, .stride = stride, .dilation = dilation, .before = before};
}

std::string image_form(std::size_t spatial_axes) {
  constexpr std::string_view forms[] = {"[batch,width,channels]", "[batch,height,width,channels]",
                                        "[batch,depth,height,width,channels]"};
  return std::string(forms[spatial_axes - 1]);
}

void check_image_rank(std::string_view op, const Tensor& image, std::size_t spatial_axes) {
  if (image.shape().rank() != static_cast<int>(spatial_axes) + 2)
    fail(ErrorCode::shape_mismatch, op,
         "the image " + image.shape().to_string() + " has rank " + std::to_string(image.shape().rank()) +
             "; it should be " + image_form(spatial_axes) + ".");
}

Shape window_result(std::string_view op, std::int64_t batch, std::span<const WindowAxis> axes, std::int64_t channels) {
  std::vector<std::int64_t> dims{batch};
  for (const WindowAxis& axis : axes) dims.push_back(axis.result);
  dims.push_back(channels);
  return result_shape(op, dims);
}

WindowAxes innermost_first(std::span<const WindowAxis> axes) {
  WindowAxes reversed;
  reversed.fill({.image = 1, .result = 1, .taps = 1, .stride = 1, .dilation = 1, .before = 0});
  std::ranges::reverse_copy(axes, reversed.begin());
  return reversed;
}

}  // namespace tessera

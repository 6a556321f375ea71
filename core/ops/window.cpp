#include "core/ops/window.h"

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
  WindowAxis it{.image = image,
                .result = 0,
                .taps = taps,
                .stride = options.strides[axis],
                .dilation = taps == 1 ? 1 : options.dilations[axis],
                .before = 0};
  std::int64_t padded = image;
  if (!options.pads.empty()) {
    it.before = options.pads[2 * axis];
    padded += it.before + options.pads[2 * axis + 1];
  } else if (options.padding == Padding::same) {
    it.result = (image + it.stride - 1) / it.stride;
    const std::int64_t missing = std::max<std::int64_t>((it.result - 1) * it.stride + it.reach() - image, 0);
    it.before = missing / 2;
    padded += missing;
  }
  if (padded > largest_size)
    fail(ErrorCode::invalid_argument, op,
         "the padded image has " + std::to_string(padded) + " elements" + along(axis) + ", more than the " +
             std::to_string(largest_size) + " there can be.");
  if (options.pads.empty() && options.padding == Padding::same) return it;
  if (it.reach() > padded)
    fail(ErrorCode::shape_mismatch, op,
         "the window reaches over " + std::to_string(it.reach()) + " elements" + along(axis) + ", more than the " +
             std::to_string(padded) + " of the padded image.");
  it.result = (padded - it.reach()) / it.stride + 1;
  return it;
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

std::vector<std::uint32_t> window_words(std::int64_t image_channels, std::int64_t result_channels,
                                        std::span<const WindowAxis> axes) {
  std::vector<std::uint32_t> words{word_of(image_channels), word_of(result_channels)};
  for (std::size_t i = 0; i < 3; ++i) {
    const WindowAxis axis = i < axes.size() ? axes[axes.size() - 1 - i] : WindowAxis{1, 1, 1, 1, 1, 0};
    for (const std::int64_t value : {axis.image, axis.result, axis.taps, axis.stride, axis.dilation, axis.before})
      words.push_back(word_of(value));
  }
  return words;
}

}  // namespace tessera

#include <tessera/pooling.h>

#include <algorithm>
#include <numeric>

#include "core/window.h"
#include <tessera/pointwise.h>
#include <tessera/reduce.h>

namespace tessera {
namespace {

using PoolingEntry = KernelEntry<PoolingParameters, PoolingOptions>;
constexpr PoolingEntry pool_max{{.name = "pool_max", .file = "pool"}};
constexpr PoolingEntry pool_average{{.name = "pool_average", .file = "pool"}};
constexpr PoolingEntry pool_argmax{{.name = "pool_argmax", .file = "pool"}};

std::vector<std::int64_t> or_else(std::string_view op, std::string_view what, const std::vector<std::int64_t>& given,
                                  const std::vector<std::int64_t>& otherwise) {
  if (given.empty()) return otherwise;
  if (given.size() != otherwise.size())
    fail(ErrorCode::invalid_argument, op,
         "there are " + std::to_string(given.size()) + " " + std::string(what) + " for a window with " +
             std::to_string(otherwise.size()) + " axes.");
  return given;
}

std::vector<WindowAxis> pool_axes(std::string_view op, const Tensor& image, const Pooling& options) {
  const std::size_t count = options.size.size();
  if (count < 1 || count > 3)
    fail(ErrorCode::invalid_argument, op, "the window has " + std::to_string(count) + " axes; it must have 1 to 3.");
  check_image_rank(op, image, count);
  for (std::size_t i = 0; i < count; ++i) check_along_axis(op, "size of the window", i, options.size[i], 1);
  const std::vector<std::int64_t> strides = or_else(op, "strides", options.strides, options.size);
  const std::vector<std::int64_t> dilations =
      or_else(op, "dilations", options.dilations, std::vector<std::int64_t>(count, 1));
  if (!options.pads.empty() && options.pads.size() != 2 * count)
    fail(ErrorCode::invalid_argument, op,
         "there are " + std::to_string(options.pads.size()) + " pads for a window with " + std::to_string(count) +
             " axes; it takes two for each.");
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < count; ++i) {
    axes.push_back(
        window_axis(op, i, image.shape()[static_cast<int>(i) + 1], options.size[i],
                    {.strides = strides, .dilations = dilations, .padding = options.padding, .pads = options.pads}));
    for (std::size_t side = 2 * i; side < 2 * i + 2 && !options.pads.empty(); ++side)
      if (options.pads[side] >= axes[i].reach())
        fail(ErrorCode::invalid_argument, op,
             "the padding along spatial axis " + std::to_string(i) + " is " + std::to_string(options.pads[side]) +
                 ", not less than the " + std::to_string(axes[i].reach()) + " elements that the window reaches over.");
  }
  return axes;
}

Tensor pool(std::string_view op, const PoolingEntry& entry, const Tensor& image, std::span<const WindowAxis> axes,
            DType dtype, double of_nothing, std::int64_t divisor = 0) {
  const std::int64_t channels = image.shape()[-1];
  const Shape result = window_result(op, image.shape()[0], axes, channels);
  if (image.shape().size() == 0 || result.size() == 0) return number_like(image.cast(dtype), result, of_nothing);
  Family family =
      entry.with({.result_channels = channels,
                  .axes = innermost_first(axes),
                  .of_nothing = static_cast<float>(of_nothing),
                  .divisor = divisor},
                 {.axes = std::ssize(axes), .reads_texels = channels % 4 == 0, .of_floats = is_float(image.dtype())});
  family.reads_once = std::ranges::all_of(axes, [](const WindowAxis& axis) { return axis.stride >= axis.reach(); });
  return family_tensor(result, dtype, std::move(family), {image});
}

Tensor max_values(std::string_view op, const Tensor& image, std::span<const WindowAxis> axes) {
  return pool(op, pool_max, image, axes, image.dtype(), lowest_number(image.dtype()));
}

std::vector<int> spatial_axes(std::string_view op, const Tensor& image) {
  if (image.shape().rank() < 3 || image.shape().rank() > 5)
    fail(ErrorCode::shape_mismatch, op,
         "the image " + image.shape().to_string() + " has rank " + std::to_string(image.shape().rank()) +
             "; it should be " + image_form(1) + " to " + image_form(3) + ".");
  std::vector<int> axes(static_cast<std::size_t>(image.shape().rank() - 2));
  std::iota(axes.begin(), axes.end(), 1);
  return axes;
}

}  // namespace

Tensor max_pool(const Tensor& image, const Pooling& options) {
  check_dtype("max_pool", image, image.dtype() != DType::boolean, "floats and integers");
  return max_values("max_pool", image, pool_axes("max_pool", image, options));
}

Tensor average_pool(const Tensor& image, const Pooling& options) {
  check_dtype("average_pool", image, is_float(image.dtype()), "floats");
  const std::vector<WindowAxis> axes = pool_axes("average_pool", image, options);
  std::vector<std::int64_t> taps;
  for (const WindowAxis& axis : axes) taps.push_back(axis.taps);
  const std::int64_t divisor = options.counts_padding ? size_product("average_pool", taps) : 0;
  return pool("average_pool", pool_average, image, axes, image.dtype(), 0, divisor);
}

MaxPool max_pool_with_indices(const Tensor& image, const Pooling& options) {
  check_dtype("max_pool_with_indices", image, image.dtype() != DType::boolean, "floats and integers");
  constexpr std::string_view op = "max_pool_with_indices";
  const std::vector<WindowAxis> axes = pool_axes(op, image, options);
  return {max_values(op, image, axes), pool(op, pool_argmax, image, axes, DType::i32, -1)};
}

Tensor global_max_pool(const Tensor& image) {
  check_dtype("global_max_pool", image, image.dtype() != DType::boolean, "floats and integers");
  return max(image, {.axes = spatial_axes("global_max_pool", image), .keep_dims = true});
}

Tensor global_average_pool(const Tensor& image) {
  check_dtype("global_average_pool", image, is_float(image.dtype()), "floats");
  return mean(image, {.axes = spatial_axes("global_average_pool", image), .keep_dims = true});
}

}  // namespace tessera

#include <cmath>

#include "core/kernel/image_parameters.h"
#include "core/ops/image.h"
#include <tessera/image.h>

namespace tessera {
namespace {

constexpr KernelEntry<AffineParameters> warp_affine{{.name = "warp_affine", .file = "warp"}};
constexpr KernelEntry<CropParameters> warp_crop{{.name = "warp_crop", .file = "warp"}};

WarpParameters warp_parameters(std::string_view op, Interpolation mode, const ImageSize& size, std::int64_t height,
                               std::int64_t width) {
  if (mode == Interpolation::cubic)
    fail(ErrorCode::invalid_argument, op, "the mode is cubic; it takes nearest and bilinear.");
  return {.channels = size.channels,
          .result = {width, height},
          .image = {size.width, size.height},
          .reads_texels = size.has_whole_texels(),
          .taps = mode == Interpolation::nearest ? 1 : 2};
}

std::array<float, 4> fill_of_channels(std::string_view op, const std::vector<float>& fill, std::int64_t channels) {
  if (fill.size() == 1) return {fill[0], fill[0], fill[0], fill[0]};
  if (fill.size() > 4 || static_cast<std::int64_t>(fill.size()) != channels)
    fail(ErrorCode::invalid_argument, op,
         "the fill has " + std::to_string(fill.size()) + " numbers, the image " + std::to_string(channels) +
             " channels; it takes one number, or one for each of up to four channels.");
  std::array<float, 4> four{};
  std::copy(fill.begin(), fill.end(), four.begin());
  return four;
}

Tensor transformed(std::string_view op, const Tensor& image, const std::array<float, 6>& matrix,
                   const AffineTransform& options) {
  const ImageSize size = checked_image(op, image);
  check_image_dtype(op, image);
  check_has_pixels(op, image);
  const std::int64_t height = options.height == 0 ? size.height : options.height;
  const std::int64_t width = options.width == 0 ? size.width : options.width;
  check_result_size(op, height, width);
  Family family = warp_affine.with({.warp = warp_parameters(op, options.mode, size, height, width),
                                    .x = {matrix[0], matrix[1], matrix[2]},
                                    .y = {matrix[3], matrix[4], matrix[5]},
                                    .fill = fill_of_channels(op, options.fill, size.channels)});
  const Shape result = size.with(op, height, width, size.channels);
  return as_image(family_tensor(result, computing_type(image.dtype()), std::move(family), {image}), image.dtype());
}

// Quarter turns come out exact, so that no device rounds halves of pixels another way.
double without_noise(double value) { return std::abs(value) < 1e-6 ? 0 : value; }

}  // namespace

Tensor affine_transform(const Tensor& image, const std::array<float, 6>& matrix, const AffineTransform& options) {
  return transformed("affine_transform", image, matrix, options);
}

Tensor rotate(const Tensor& image, float radians, const Rotate& options) {
  const ImageSize size = checked_image("rotate", image);
  double sine = without_noise(std::sin(double{radians})), cosine = without_noise(std::cos(double{radians}));
  if (cosine == 0) sine = std::round(sine);
  if (sine == 0) cosine = std::round(cosine);
  const double x = double{options.centre_x} * static_cast<double>(size.width);
  const double y = double{options.centre_y} * static_cast<double>(size.height);
  const std::array<double, 6> matrix{cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y};
  std::array<float, 6> numbers{};
  for (std::size_t i = 0; i < matrix.size(); ++i) numbers[i] = static_cast<float>(matrix[i]);
  return transformed("rotate", image, numbers, {.mode = Interpolation::nearest, .fill = options.fill});
}

Tensor crop_and_resize(const Tensor& image, const Tensor& boxes, const Tensor& box_indices, std::int64_t height,
                       std::int64_t width, const CropAndResize& options) {
  constexpr std::string_view op = "crop_and_resize";
  const ImageSize size = checked_image(op, image);
  check_image_dtype(op, image);
  check_dtype(op, boxes, is_float(boxes.dtype()), "boxes of floats");
  check_dtype(op, box_indices, box_indices.dtype() == DType::i32, "box indices of i32");
  check_result_size(op, height, width);
  check_has_pixels(op, image);
  if (boxes.shape().rank() != 2 || boxes.shape()[1] != 4)
    fail(ErrorCode::shape_mismatch, op, "boxes are [n,4], but these are " + boxes.shape().to_string() + ".");
  const std::int64_t count = boxes.shape()[0];
  if (size.batch == 0 && count != 0)
    fail(ErrorCode::invalid_argument, op,
         "boxes " + boxes.shape().to_string() + " cannot be cut out of a batch " + image.shape().to_string() +
             " without images.");
  if (box_indices.shape() != Shape{count})
    fail(ErrorCode::shape_mismatch, op,
         "boxes " + boxes.shape().to_string() + " need indices [" + std::to_string(count) + "], but these are " +
             box_indices.shape().to_string() + ".");
  Family family = warp_crop.with({.warp = warp_parameters(op, options.mode, size, height, width),
                                  .extrapolation = options.extrapolation,
                                  .images = size.batch});
  const Tensor crops =
      family_tensor(result_shape(op, {count, height, width, size.channels}), computing_type(image.dtype()),
                    std::move(family), {image, boxes.cast(DType::f32), box_indices});
  return as_image(crops, image.dtype());
}

}  // namespace tessera

#include "core/ops/image.h"

#include <limits>

#include <tessera/image.h>
#include <tessera/pointwise.h>

namespace tessera {

Shape ImageSize::with(std::string_view op, std::int64_t new_height, std::int64_t new_width,
                      std::int64_t new_channels) const {
  return has_batch ? result_shape(op, {batch, new_height, new_width, new_channels})
                   : result_shape(op, {new_height, new_width, new_channels});
}

ImageSize checked_image(std::string_view op, const Tensor& image) {
  const Shape& shape = image.shape();
  if (shape.rank() != 3 && shape.rank() != 4)
    fail(ErrorCode::shape_mismatch, op,
         "an image has rank 3 or 4, [height,width,channels] or [batch,height,width,channels], but this one " +
             shape.to_string() + " has rank " + std::to_string(shape.rank()) + ".");
  const bool has_batch = shape.rank() == 4;
  return {has_batch ? shape[0] : 1, shape[-3], shape[-2], shape[-1], has_batch};
}

void check_image_dtype(std::string_view op, const Tensor& image) {
  check_dtype(op, image, is_float(image.dtype()) || image.dtype() == DType::u8, "images of floats and of u8");
}

void check_has_pixels(std::string_view op, const Tensor& image) {
  const ImageSize size = checked_image(op, image);
  if (size.height == 0 || size.width == 0)
    fail(ErrorCode::invalid_argument, op,
         "an image " + image.shape().to_string() + " has no pixels that others could be made of.");
}

void check_result_size(std::string_view op, std::int64_t height, std::int64_t width) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (height < 1 || width < 1 || height > most || width > most)
    fail(ErrorCode::invalid_argument, op,
         "the result's height (" + std::to_string(height) + ") and width (" + std::to_string(width) +
             ") have to be at least 1 and at most " + std::to_string(most) + ".");
}

Tensor as_image(const Tensor& computed, DType dtype) {
  return dtype == DType::u8 ? round(computed).cast(DType::u8) : computed;
}

Tensor to_float(const Tensor& u8) {
  check_dtype("to_float", u8, u8.dtype() == DType::u8, "u8");
  return u8.cast(DType::f32) * (1.0f / 255.0f);
}

Tensor to_u8(const Tensor& zero_to_one) {
  check_dtype("to_u8", zero_to_one, is_float(zero_to_one.dtype()), "floats");
  return as_image(zero_to_one.cast(DType::f32) * 255.0f, DType::u8);
}

}  // namespace tessera

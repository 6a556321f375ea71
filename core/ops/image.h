// Checks and sizes for image operations. Images are [batch,height,width,channels], or [height,width,channels].
#pragma once
#include "core/ops/family.h"

namespace tessera {

struct ImageSize {
  std::int64_t batch, height, width, channels;
  bool has_batch;

  Shape with(std::string_view op, std::int64_t new_height, std::int64_t new_width, std::int64_t new_channels) const;
  // Whether the four elements of each texel lie in one pixel.
  bool has_whole_texels() const { return channels % 4 == 0; }
};

ImageSize checked_image(std::string_view op, const Tensor&);  // of any type
void check_image_dtype(std::string_view op, const Tensor&);   // floats and u8
void check_has_pixels(std::string_view op, const Tensor&);    // throws where the image has none
void check_result_size(std::string_view op, std::int64_t height, std::int64_t width);

inline DType computing_type(DType image) { return image == DType::u8 ? DType::f32 : image; }

// A result that was computed in computing_type(dtype), in `dtype` again.
Tensor as_image(const Tensor& computed, DType dtype);

}  // namespace tessera

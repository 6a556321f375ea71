// Windows that slide over images: the geometry that convolutions and pooling share.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/kernel/window_parameters.h"
#include "core/ops/family.h"
#include <tessera/padding.h>

namespace tessera {

// The user's options, with an entry for each spatial axis. `pads` has two for each, or none where `padding` counts.
struct WindowOptions {
  std::span<const std::int64_t> strides, dilations;
  Padding padding;
  std::span<const std::int64_t> pads;
};

// Throws unless the value is from `least` up to 2^31 - 1, so that products of two such numbers do not overflow. `what`
// names the value in the error.
void check_along_axis(std::string_view op, std::string_view what, std::size_t axis, std::int64_t value,
                      std::int64_t least);

// Throws where the stride, the dilation, the pads or the taps along an axis are out of range.
void check_window(std::string_view op, std::size_t axis, std::int64_t taps, const WindowOptions&);

// The spatial axis number `axis`, for an image of this size. Throws where no window fits.
WindowAxis window_axis(std::string_view op, std::size_t axis, std::int64_t image, std::int64_t taps,
                       const WindowOptions&);

// Throws unless the image is [batch, spatial..., channels].
void check_image_rank(std::string_view op, const Tensor& image, std::size_t spatial_axes);

// "[batch,height,width,channels]"
std::string image_form(std::size_t spatial_axes);

Shape window_result(std::string_view op, std::int64_t batch, std::span<const WindowAxis>, std::int64_t channels);

WindowAxes innermost_first(std::span<const WindowAxis>);

}  // namespace tessera

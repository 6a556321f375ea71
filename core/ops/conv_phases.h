// Transposed convolutions as convolutions. Pixels of the result that are a stride apart are made by the same taps: they
// are a phase. One convolution makes all phases, as channels, and what is left is to bring them into their order. So a
// transposed convolution has the kernels of a convolution, and meets no tap in vain.
#pragma once
#include <span>

#include "core/kernel/window_parameters.h"
#include <tessera/tensor.h>

namespace tessera {

// Whether each phase has as many taps as any other, at one distance from each other: else some would meet the image
// with a weight of zero, and make a NaN of what is infinite there.
bool has_equal_phases(std::span<const WindowAxis>);

// image [batch,height,width,in] with filter [height,width,out,in]. The axes, height and width, have the image's size as
// `image` and the result's as `result`.
Tensor conv_in_phases(const Tensor& image, const Tensor& filter, std::span<const WindowAxis>, std::int64_t groups);

}  // namespace tessera

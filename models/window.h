// The window of convolutions and pools, from a node's attributes.
#pragma once
#include "models/operators.h"

namespace tessera::onnx {

struct Window {
  Sizes size, strides, dilations;  // along each spatial axis
  std::vector<PadWidth> pads;

  Sizes flat_pads() const;  // before and after each axis, as tessera has them
  std::int64_t reach(std::size_t axis) const { return (size[axis] - 1) * dilations[axis] + 1; }
};

// `image` in ONNX's order. With ceil_mode the padding grows until the last window is whole.
Window window_of(const Call&, const Shape& image, const Sizes& size, bool ceil_mode = false);
// An attribute with one number of at least `least` for each spatial axis.
Sizes spatial_attribute(const Call&, std::string_view name, std::size_t axes, std::int64_t otherwise,
                        std::int64_t least);

}  // namespace tessera::onnx

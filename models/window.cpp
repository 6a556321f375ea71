#include "models/window.h"

#include <algorithm>

namespace tessera::onnx {

Sizes Window::flat_pads() const {
  Sizes flat;
  for (const PadWidth& width : pads) flat.insert(flat.end(), {width.before, width.after});
  return flat;
}

Sizes spatial_attribute(const Call& call, std::string_view name, std::size_t axes, std::int64_t otherwise,
                        std::int64_t least) {
  const Sizes numbers = call.integers(name).value_or(Sizes(axes, otherwise));
  const bool fits = numbers.size() == axes && std::ranges::all_of(numbers, [&](std::int64_t number) {
                      return number >= least && number <= Shape::max_size;
                    });
  call.expect(fits, "its attribute '" + std::string(name) + "' does not have a number of at least " +
                        std::to_string(least) + " for each of " + std::to_string(axes) + " axes.");
  return numbers;
}

Window window_of(const Call& call, const Shape& image, const Sizes& size, bool ceil_mode) {
  const std::size_t axes = size.size();
  call.expect(static_cast<std::size_t>(image.rank()) == axes + 2,
              "a window of " + std::to_string(axes) + " axes does not fit " + image.to_string() + ".");
  Window window{.size = size};
  for (const std::int64_t number : size)
    call.expect(number >= 1 && number <= Shape::max_size, "its window has a size of " + std::to_string(number) + ".");
  window.strides = spatial_attribute(call, "strides", axes, 1, 1);
  window.dilations = spatial_attribute(call, "dilations", axes, 1, 1);
  const Sizes pads = spatial_attribute(call, "pads", 2 * axes, 0, 0);
  const std::string automatic = call.text("auto_pad", "NOTSET");
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t extent = image[static_cast<int>(i) + 2], stride = window.strides[i];
    PadWidth width{pads[i], pads[i + axes]};
    if (automatic == "VALID") width = {};
    if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
      const std::int64_t windows = (extent + stride - 1) / stride;
      const std::int64_t total = std::max<std::int64_t>(0, (windows - 1) * stride + window.reach(i) - extent);
      width = {total / 2, total - total / 2};
      if (automatic == "SAME_LOWER") std::swap(width.before, width.after);
    }
    if (ceil_mode) {
      const std::int64_t room = extent + width.before + width.after - window.reach(i);
      call.expect(room >= 0, "its window is larger than the image " + image.to_string() + ".");
      std::int64_t windows = (room + stride - 1) / stride + 1;
      if ((windows - 1) * stride >= extent + width.before) --windows;  // would begin in the padding
      width.after += std::max<std::int64_t>(0, (windows - 1) * stride - room);
    }
    window.pads.push_back(width);
  }
  return window;
}

}  // namespace tessera::onnx

#include "support/windows.h"

#include <algorithm>

namespace tessera::test {

std::int64_t WindowCase::result(std::size_t axis) const {
  if (pads == Pads::same) return (size[axis] + strides[axis] - 1) / strides[axis];
  const std::int64_t padded = size[axis] + (pads == Pads::given ? given[2 * axis] + given[2 * axis + 1] : 0);
  return padded < reach(axis) ? 0 : (padded - reach(axis)) / strides[axis] + 1;
}

// As TensorFlow's documentation has it for "SAME": pad_along = max((out - 1) * stride + filter - in, 0), half of it
// first.
std::int64_t WindowCase::before(std::size_t axis) const {
  if (pads == Pads::valid) return 0;
  if (pads == Pads::given) return given[2 * axis];
  return std::max<std::int64_t>((result(axis) - 1) * strides[axis] + reach(axis) - size[axis], 0) / 2;
}

bool WindowCase::fits() const { return result(0) > 0 && result(1) > 0 && result(2) > 0; }

Shape WindowCase::shape(const std::array<std::int64_t, 3>& sizes, std::int64_t last) const {
  std::vector<std::int64_t> dims{batch};
  dims.insert(dims.end(), sizes.end() - spatial_axes, sizes.end());
  dims.push_back(last);
  return Shape(dims);
}

std::vector<std::int64_t> WindowCase::used(const std::array<std::int64_t, 3>& values) const {
  return {values.end() - spatial_axes, values.end()};
}

std::vector<std::int64_t> WindowCase::used_pads() const {
  if (pads != Pads::given) return {};
  return {given.end() - 2 * spatial_axes, given.end()};
}

std::string WindowCase::to_string() const {
  const auto list = [](const std::vector<std::int64_t>& values) {
    std::string text;
    for (const int value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
    return text;
  };
  return "image " + image_shape().to_string() + ", window " + list(used(window)) + ", strides " + list(used(strides)) +
         ", dilations " + list(used(dilations)) +
         (pads == Pads::given  ? ", pads " + list(used_pads())
          : pads == Pads::same ? ", same"
                               : ", valid");
}

WindowCase random_window_case(std::mt19937& random) {
  const auto number = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  for (;;) {
    WindowCase it;
    it.spatial_axes = number(1, 3);
    it.batch = number(1, 2);
    it.channels = std::array{1, 2, 3, 4, 5, 8, 12}[static_cast<std::size_t>(number(0, 6))];
    it.pads = static_cast<WindowCase::Pads>(number(0, 2));
    for (auto axis = static_cast<std::size_t>(3 - it.spatial_axes); axis < 3; ++axis) {
      it.size[axis] = number(1, it.spatial_axes == 3 ? 6 : 9);
      it.window[axis] = number(1, 4);
      it.strides[axis] = number(1, 5);
      it.dilations[axis] = number(1, 3);
      for (const std::size_t side : {2 * axis, 2 * axis + 1})
        it.given[side] = number(0, static_cast<int>(it.reach(axis)) - 1);
    }
    if (it.fits()) return it;
  }
}

}  // namespace tessera::test

// Other orders and other shapes of the same elements: transpose, slices, stretching.
#include <algorithm>
#include <numeric>

#include "core/base/host_memory.h"
#include "core/ops/axis_view.h"
#include "core/ops/pointwise.h"
#include <tessera/gather.h>

namespace tessera {
namespace {

std::size_t nth(int axis) { return static_cast<std::size_t>(axis); }

Shape shape_of(std::span<const Digit> digits) {
  std::vector<std::int64_t> dims;
  for (const Digit& digit : digits) dims.push_back(digit.size);
  return Shape(dims);
}

std::string joined(const std::vector<int>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i ? "," : "") + std::to_string(values[i]);
  return text + "]";
}

// The start and the number of elements of Python's slice of an axis.
struct Stretch {
  std::int64_t begin, size;
};
Stretch stretch_of(std::int64_t axis_size, std::int64_t begin, std::int64_t end, std::int64_t step) {
  const auto from_front = [&](std::int64_t value) {
    // A slice that goes down may end at the place before element 0.
    const std::int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? axis_size : axis_size - 1;
    if (value < -axis_size) return lowest;
    return std::clamp(value < 0 ? value + axis_size : value, lowest, highest);
  };
  const std::int64_t first = from_front(begin), stop = from_front(end);
  const std::int64_t distance = step > 0 ? stop - first : first - stop, length = step > 0 ? step : -step;
  return {first, distance <= 0 ? 0 : 1 + (distance - 1) / length};
}

}  // namespace

Tensor flatten(const Tensor& x) { return x.reshape({x.shape().size()}); }

Tensor expand_dims(const Tensor& x, int axis) {
  const int checked = checked_axis("expand_dims", axis, x.shape().rank() + 1);
  std::vector<std::int64_t> dims(x.shape().dims().begin(), x.shape().dims().end());
  dims.insert(dims.begin() + checked, 1);
  return x.reshape(Shape(dims));
}

Tensor squeeze(const Tensor& x, const std::vector<int>& axes) {
  const Shape& shape = x.shape();
  const std::vector<int> checked = checked_axes("squeeze", axes, shape.rank());
  std::vector<std::int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool is_named = !axes.empty() && std::find(checked.begin(), checked.end(), axis) != checked.end();
    if (is_named && shape[axis] != 1)
      fail(ErrorCode::invalid_argument, "squeeze",
           axis_of(axis, shape) + " has a size of " + std::to_string(shape[axis]) + ", not 1.");
    if (!is_named && !(axes.empty() && shape[axis] == 1)) dims.push_back(shape[axis]);
  }
  return x.reshape(Shape(dims));
}

Tensor transpose(const Tensor& x, const std::vector<int>& permutation) {
  const int rank = x.shape().rank();
  std::vector<int> order(nth(rank));
  std::iota(order.rbegin(), order.rend(), 0);
  if (!permutation.empty()) {
    check_one_per_axis("transpose", "entries of the permutation", permutation.size(), x.shape());
    for (int axis = 0; axis < rank; ++axis) order[nth(axis)] = checked_axis("transpose", permutation[nth(axis)], rank);
    std::vector<int> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
      fail(ErrorCode::invalid_argument, "transpose",
           joined(permutation) + " is no permutation of the axes of " + x.shape().to_string() + ": axis " +
               std::to_string(*twice) + " is in it twice.");
  }
  const std::vector<Digit> digits = digits_of(x.shape());
  std::vector<Digit> permuted;
  for (const int axis : order) permuted.push_back(digits[nth(axis)]);
  return axis_view(x, shape_of(permuted), 0, permuted);
}

Tensor reverse(const Tensor& x, const std::vector<int>& axes) {
  std::vector<Digit> digits = digits_of(x.shape());
  std::int64_t offset = 0;
  for (const int axis : checked_axes("reverse", axes, x.shape().rank())) {
    Digit& digit = digits[nth(axis)];
    offset += (digit.size - 1) * digit.stride;
    digit.stride = -digit.stride;
  }
  return axis_view(x, x.shape(), offset, digits);
}

Tensor slice(const Tensor& x, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& size) {
  const Shape& shape = x.shape();
  check_one_per_axis("slice", "begins", begin.size(), shape);
  check_one_per_axis("slice", "sizes", size.size(), shape);
  std::vector<Digit> digits = digits_of(shape);
  std::int64_t offset = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t first = begin[nth(axis)];
    if (first < 0 || first > shape[axis])
      fail(ErrorCode::invalid_argument, "slice",
           "begin " + std::to_string(first) + " is outside of " + axis_of(axis, shape) + ".");
    const std::int64_t count = size[nth(axis)] == -1 ? shape[axis] - first : size[nth(axis)];
    if (count < 0)
      fail(ErrorCode::invalid_argument, "slice",
           "the size " + std::to_string(count) + " along " + axis_of(axis, shape) + " is below 0.");
    if (count > shape[axis] - first)
      fail(ErrorCode::invalid_argument, "slice",
           "begin " + std::to_string(first) + " and size " + std::to_string(count) + " go past the end of " +
               axis_of(axis, shape) + ".");
    offset += first * digits[nth(axis)].stride;
    digits[nth(axis)].size = count;
  }
  return axis_view(x, shape_of(digits), offset, digits);
}

Tensor strided_slice(const Tensor& x, const std::vector<std::int64_t>& begin, const std::vector<std::int64_t>& end,
                     const std::vector<std::int64_t>& steps) {
  const Shape& shape = x.shape();
  check_one_per_axis("strided_slice", "begins", begin.size(), shape);
  check_one_per_axis("strided_slice", "ends", end.size(), shape);
  if (!steps.empty()) check_one_per_axis("strided_slice", "steps", steps.size(), shape);
  std::vector<Digit> digits = digits_of(shape);
  std::int64_t offset = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t step = steps.empty() ? 1 : steps[nth(axis)];
    if (step == 0 || step == INT64_MIN)
      fail(ErrorCode::invalid_argument, "strided_slice",
           "the step along " + axis_of(axis, shape) + " is " + std::to_string(step) + ".");
    const Stretch stretch = stretch_of(shape[axis], begin[nth(axis)], end[nth(axis)], step);
    Digit& digit = digits[nth(axis)];
    offset += stretch.begin * digit.stride;
    digit = {stretch.size, stretch.size > 1 ? digit.stride * step : 0};
  }
  return axis_view(x, shape_of(digits), offset, digits);
}

std::vector<Tensor> split(const Tensor& x, std::int64_t parts, int axis) {
  const int checked = checked_axis("split", axis, x.shape().rank());
  const std::int64_t size = x.shape()[checked];
  if (parts <= 0 || size % parts != 0)
    fail(ErrorCode::invalid_argument, "split",
         axis_of(checked, x.shape()) + " with a size of " + std::to_string(size) + " cannot be cut into " +
             std::to_string(parts) + " equal parts.");
  // An axis without elements can be cut into any number of parts.
  return with_host_memory("split", [&] {
    return split_sizes(x, std::vector<std::int64_t>(static_cast<std::size_t>(parts), size / parts), checked);
  });
}

std::vector<Tensor> split_sizes(const Tensor& x, const std::vector<std::int64_t>& sizes, int axis) {
  const Shape& shape = x.shape();
  const int checked = checked_axis("split", axis, shape.rank());
  std::int64_t total = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0)
      fail(ErrorCode::invalid_argument, "split", "the size " + std::to_string(size) + " of a part is below 0.");
    if (size > shape[checked] - total)
      fail(ErrorCode::invalid_argument, "split",
           "the parts' sizes add up to more than " + std::to_string(shape[checked]) + ", the size of " +
               axis_of(checked, shape) + ": part " + std::to_string(size) + " starts at " + std::to_string(total) +
               ".");
    total += size;
  }
  if (total != shape[checked])
    fail(ErrorCode::invalid_argument, "split",
         "the parts' sizes add up to " + std::to_string(total) + ", but " + axis_of(checked, shape) +
             " has a size of " + std::to_string(shape[checked]) + ".");
  std::vector<Tensor> parts;
  std::vector<std::int64_t> begin(nth(shape.rank()), 0), size(shape.dims().begin(), shape.dims().end());
  for (const std::int64_t part : sizes) {
    size[nth(checked)] = part;
    parts.push_back(slice(x, begin, size));
    begin[nth(checked)] += part;
  }
  return parts;
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  const Shape& from = x.shape();
  if (from.rank() > shape.rank() || broadcast("broadcast_to", from, shape) != shape)
    fail(ErrorCode::shape_mismatch, "broadcast_to",
         from.to_string() + " does not stretch to " + shape.to_string() + ".");
  std::vector<Digit> digits(nth(shape.rank() - from.rank()), Digit{1, 0});
  for (const Digit& digit : digits_of(from)) digits.push_back({digit.size, digit.size == 1 ? 0 : digit.stride});
  for (int axis = 0; axis < shape.rank(); ++axis) digits[nth(axis)].size = shape[axis];
  return axis_view(x, shape, 0, digits);
}

Tensor expand(const Tensor& x, const Shape& shape) { return broadcast_to(x, broadcast("expand", x.shape(), shape)); }

Tensor tile(const Tensor& x, const std::vector<std::int64_t>& repeats) {
  const Shape& shape = x.shape();
  check_one_per_axis("tile", "repeats", repeats.size(), shape);
  std::vector<std::int64_t> dims;
  std::vector<Digit> digits;
  for (const Digit& digit : digits_of(shape)) {
    const std::int64_t times = repeats[dims.size()];
    if (times < 0)
      fail(ErrorCode::invalid_argument, "tile",
           axis_of(static_cast<int>(dims.size()), shape) + " is to be repeated " + std::to_string(times) + " times.");
    dims.push_back(size_product("tile", {times, digit.size}));
    digits.insert(digits.end(), {{times, 0}, digit});
  }
  return axis_view(x, result_shape("tile", dims), 0, digits);
}

}  // namespace tessera

// Moves elements between the space and the depth of images, and takes the diagonals of matrices.
#include <algorithm>

#include "core/ops/axis_view.h"
#include <tessera/gather.h>

namespace tessera {
namespace {

void check_image(std::string_view op, const Tensor& x, std::int64_t block_size) {
  if (x.shape().rank() != 4)
    fail(ErrorCode::invalid_argument, op,
         x.shape().to_string() + " has a rank of " + std::to_string(x.shape().rank()) + "; it takes images [n,h,w,c].");
  if (block_size < 1)
    fail(ErrorCode::invalid_argument, op, "the block size is " + std::to_string(block_size) + ", below 1.");
}

void check_divides(std::string_view op, const Shape& shape, int axis, std::int64_t divisor, std::string_view what) {
  if (shape[axis] % divisor == 0) return;
  fail(ErrorCode::invalid_argument, op,
       axis_of(axis, shape) + " has a size of " + std::to_string(shape[axis]) + ", which " + std::string(what) + " (" +
           std::to_string(divisor) + ") does not divide.");
}

}  // namespace

Tensor depth_to_space(const Tensor& x, std::int64_t block_size) {
  check_image("depth_to_space", x, block_size);
  const Shape& shape = x.shape();
  const std::int64_t n = shape[0], h = shape[1], w = shape[2], b = block_size;
  if (b > shape[3]) check_divides("depth_to_space", shape, 3, b, "the block size");
  const std::int64_t in_block = size_product("depth_to_space", {b, b});
  check_divides("depth_to_space", shape, 3, in_block, "the square of the block size");
  const std::int64_t depth = shape[3] / in_block;
  const Shape result = result_shape(
      "depth_to_space", {n, size_product("depth_to_space", {h, b}), size_product("depth_to_space", {w, b}), depth});
  return transpose(x.reshape({n, h, w, b, b, depth}), {0, 1, 3, 2, 4, 5}).reshape(result);
}

Tensor space_to_depth(const Tensor& x, std::int64_t block_size) {
  check_image("space_to_depth", x, block_size);
  const Shape& shape = x.shape();
  check_divides("space_to_depth", shape, 1, block_size, "the block size");
  check_divides("space_to_depth", shape, 2, block_size, "the block size");
  const std::int64_t n = shape[0], b = block_size, h = shape[1] / b, w = shape[2] / b, c = shape[3];
  const Shape result = result_shape("space_to_depth", {n, h, w, size_product("space_to_depth", {c, b, b})});
  return transpose(x.reshape({n, h, b, w, b, c}), {0, 1, 3, 2, 4, 5}).reshape(result);
}

Tensor diag_part(const Tensor& x, std::int64_t k) {
  const Shape& shape = x.shape();
  check_matrices("diag_part", shape);
  const std::int64_t rows = shape[-2], columns = shape[-1];
  if (k != 0 && (k <= -rows || k >= columns))
    fail(ErrorCode::invalid_argument, "diag_part",
         "diagonal " + std::to_string(k) + " is outside of the matrices of " + shape.to_string() + ".");
  const std::int64_t first_row = std::max<std::int64_t>(-k, 0), first_column = std::max<std::int64_t>(k, 0);
  std::vector<Digit> digits = digits_of(shape);
  digits.resize(digits.size() - 1);
  digits.back() = {std::min(rows - first_row, columns - first_column), columns + 1};
  std::vector<std::int64_t> dims;
  for (const Digit& digit : digits) dims.push_back(digit.size);
  return axis_view(x, Shape(dims), first_row * columns + first_column, digits);
}

}  // namespace tessera

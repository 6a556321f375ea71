#include "core/ops/axis_view.h"

namespace tessera {
namespace {

std::vector<Term> terms_of(std::span<const Digit> digits) {
  std::vector<Term> terms;
  std::int64_t block = 1;
  for (auto digit = digits.rbegin(); digit != digits.rend(); block *= digit->size, ++digit) {
    if (digit->size == 1 || digit->stride == 0) continue;
    const bool continues = !terms.empty() && terms.back().block * terms.back().size == block &&
                           terms.back().stride * terms.back().size == digit->stride;
    if (continues) terms.back().size *= digit->size;
    else terms.push_back({block, digit->size, digit->stride});
  }
  return terms;
}

}  // namespace

std::vector<Digit> digits_of(const Shape& shape) {
  std::vector<Digit> digits(static_cast<std::size_t>(shape.rank()));
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; stride *= shape[axis], --axis)
    digits[static_cast<std::size_t>(axis)] = {shape[axis], stride};
  return digits;
}

Tensor axis_view(const Tensor& x, const Shape& result, std::int64_t offset, std::span<const Digit> digits) {
  if (result.size() == 0) return number_like(x, result, 0);
  std::vector<Term> terms = terms_of(digits);
  return strided_tensor(x, result, offset, std::move(terms));
}

void check_one_per_axis(std::string_view op, std::string_view values, std::size_t count, const Shape& shape) {
  if (count == static_cast<std::size_t>(shape.rank())) return;
  fail(ErrorCode::invalid_argument, op,
       std::to_string(count) + " " + std::string(values) + " are given for the " + std::to_string(shape.rank()) +
           " axes of " + shape.to_string() + ".");
}

void check_matrices(std::string_view op, const Shape& shape) {
  if (shape.rank() >= 2) return;
  fail(
      ErrorCode::invalid_argument, op,
      shape.to_string() + " has a rank of " + std::to_string(shape.rank()) + "; it takes matrices [...,rows,columns].");
}

std::string axis_of(int axis, const Shape& shape) {
  return "axis " + std::to_string(axis) + " of " + shape.to_string();
}

}  // namespace tessera

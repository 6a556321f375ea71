#include "models/integer_products.h"

#include <algorithm>

namespace tessera::onnx {

namespace {

Tensor wide(const Call& call, int input) { return call.tensor(input).cast(DType::i32); }

// Zero points as they broadcast to a product's rows, or to its columns.
Tensor zeros_of_rows(const Call& call, int zero) {
  const Tensor zeros = wide(call, zero);
  if (zeros.shape().size() == 1) return zeros.reshape({});
  return zeros.shape().rank() == 1 ? zeros.reshape({zeros.shape()[0], 1}) : zeros;
}

Tensor zeros_of_columns(const Call& call, int zero) {
  const Tensor zeros = wide(call, zero);
  return zeros.shape().size() == 1 ? zeros.reshape({}) : zeros;
}

Tensor less_128(const Tensor& bytes) { return (bytes.cast(DType::i32) - 128.0).cast(DType::i8); }

}  // namespace

Tensor minus_zero(const Tensor& x, const std::optional<Tensor>& zero) {
  const Tensor differences = x.cast(DType::i32);
  return zero ? differences - zero->cast(DType::i32) : differences;
}

bool are_zeros_all(const Call& call, int zero, std::int64_t wanted) {
  if (!call.has(zero)) return wanted == 0;
  if (!call.value(zero).is_known()) return false;
  return std::ranges::all_of(call.integers_of(zero), [&](std::int64_t each) { return each == wanted; });
}

std::optional<Tensor> weights_without_zeros(const Call& call, const Tensor& weights, int zero) {
  if (are_zeros_all(call, zero, 0)) return weights;
  if (weights.dtype() == DType::u8 && are_zeros_all(call, zero, 128)) return less_128(weights);
  return {};
}

Tensor product_of_differences(const Call& call, const QuantizedOperand& a, const QuantizedOperand& b) {
  const Tensor rows = call.tensor(a.values);
  Tensor columns = call.tensor(b.values);
  const bool has_zeros_a = !are_zeros_all(call, a.zero, 0);
  bool has_zeros_b = !are_zeros_all(call, b.zero, 0);
  if (rows.shape().rank() < 2 || columns.shape().rank() < 2)
    return matmul(has_zeros_a ? minus_zero(rows, zeros_of_rows(call, a.zero)) : rows.cast(DType::i32),
                  has_zeros_b ? minus_zero(columns, zeros_of_columns(call, b.zero)) : columns.cast(DType::i32));
  if (const std::optional<Tensor> without = weights_without_zeros(call, columns, b.zero))
    columns = *without, has_zeros_b = false;
  const auto sum_along = [](const Tensor& x, int axis) {
    return tessera::sum(x.cast(DType::i32), {.axes = {axis}, .keep_dims = true});
  };
  Tensor result = matmul(rows, columns);
  if (has_zeros_b) result = result - sum_along(rows, -1) * zeros_of_columns(call, b.zero);
  if (!has_zeros_a) return result;
  // The same in every run where the weights and their zero points are, and so computed once.
  Tensor sums = sum_along(columns, -2);
  if (has_zeros_b) sums = sums - zeros_of_columns(call, b.zero) * static_cast<double>(rows.shape()[-1]);
  return result - zeros_of_rows(call, a.zero) * sums;
}

Tensor requantized(const Tensor& sum, const Tensor& scale_a, const Tensor& scale_b, const Tensor& scale_y,
                   const Tensor& zero_y) {
  const Tensor factor = scale_a * scale_b / scale_y;
  const Tensor scaled = sum.cast(DType::f32) * (factor.shape().size() == 1 ? factor.reshape({}) : factor);
  const Tensor zero = zero_y.reshape({});
  const double low = zero_y.dtype() == DType::i8 ? -128 : 0;
  return clip(round(scaled) + zero.cast(DType::f32), low, low + 255).cast(zero_y.dtype());
}

std::int64_t quantized_zero(const Call& call) {
  if (!call.has(2)) return 0;
  if (call.type(0) != call.type(2))
    call.fail(ErrorCode::dtype_mismatch,
              "its input is " + to_string(call.type(0)) + ", but the zero point is " + to_string(call.type(2)) + ".");
  return call.integer_of(2);
}

Tensor quantized_weights(const Call& call, const Tensor& weights) {
  return weights_without_zeros(call, weights, 5).value_or(weights);  // models/patterns.h leaves no others
}

Tensor quantized_result(const Call& call, const Tensor& sum, const Tensor& weights, const std::vector<int>& axes) {
  const std::int64_t zero = quantized_zero(call);
  // The zero point's part is the same in every run, and so computed once.
  const Tensor steps =
      zero == 0 ? sum : sum - tessera::sum(weights.cast(DType::i32), {.axes = axes}) * static_cast<double>(zero);
  const Tensor scales = call.shape(4).size() == 1 ? call.tensor(4).reshape({}) : call.tensor(4);
  const Tensor result = steps.cast(DType::f32) * (call.tensor(1).reshape({}) * scales);
  return call.has(6) ? result + call.tensor(6) : result;
}

}  // namespace tessera::onnx

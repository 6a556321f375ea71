// Products of quantised integers, which are sums of products of differences from zero points.
#pragma once
#include <optional>

#include "models/operators.h"

namespace tessera::onnx {

Tensor minus_zero(const Tensor& x, const std::optional<Tensor>& zero);  // i32; the zero point broadcasts
// Whether all zero points are known to be this one; where none are given, they are 0.
bool are_zeros_all(const Call&, int zero, std::int64_t wanted);
// 8-bit integers that are the weights less their zero points, where these are known to leave such.
std::optional<Tensor> weights_without_zeros(const Call&, const Tensor& weights, int zero);

// An operand of a product: the inputs that have its elements and its zero points.
struct QuantizedOperand {
  int values, zero;
};
// The product of a and b less their zero points, as one of their 8-bit integers and what the zero points make of it:
// one zero point, or one for each row of a, or for each column of b.
Tensor product_of_differences(const Call&, const QuantizedOperand& a, const QuantizedOperand& b);

// The i32 sums as 8-bit integers of the zero point's type: round(sum * scale_a * scale_b / scale_y) + zero_y.
Tensor requantized(const Tensor& sum, const Tensor& scale_a, const Tensor& scale_b, const Tensor& scale_y,
                   const Tensor& zero_y);

// Of QuantizedMatMul and its like (models/patterns.h):
std::int64_t quantized_zero(const Call&);                      // that of x
Tensor quantized_weights(const Call&, const Tensor& weights);  // of 8 bits, with a zero point of 0
// The i32 sums of products of x and such weights as floats. The axes of the weights are those that are summed over.
Tensor quantized_result(const Call&, const Tensor& sum, const Tensor& weights, const std::vector<int>& axes);

}  // namespace tessera::onnx

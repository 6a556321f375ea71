// Products of quantised integers, which are sums of products of differences from zero points.
#pragma once
#include <optional>

#include "models/operators.h"

namespace tessera::onnx {

Tensor minus_zero(const Tensor& x, const std::optional<Tensor>& zero);       // i32; the zero point broadcasts
Tensor rows_minus_zero(const Tensor& x, const std::optional<Tensor>& zero);  // one zero point, or one for each row
// The i32 sums as 8-bit integers of the zero point's type: round(sum * scale_a * scale_b / scale_y) + zero_y.
Tensor requantized(const Tensor& sum, const Tensor& scale_a, const Tensor& scale_b, const Tensor& scale_y,
                   const Tensor& zero_y);

// Of QuantizedMatMul and its like (models/patterns.h):
std::int64_t quantized_zero(const Call&);                      // that of x
Tensor quantized_weights(const Call&, const Tensor& weights);  // of 8 bits, with a zero point of 0
// The i32 sums of products of x and such weights as floats. The axes of the weights are those that are summed over.
Tensor quantized_result(const Call&, const Tensor& sum, const Tensor& weights, const std::vector<int>& axes);

}  // namespace tessera::onnx

// Products of quantised integers, which are sums of products of differences from zero points.
#pragma once
#include <optional>

#include <tessera/tessera.h>

namespace tessera::onnx {

Tensor minus_zero(const Tensor& x, const std::optional<Tensor>& zero);       // i32; the zero point broadcasts
Tensor rows_minus_zero(const Tensor& x, const std::optional<Tensor>& zero);  // one zero point, or one for each row
// The i32 sums as 8-bit integers of the zero point's type: round(sum * scale_a * scale_b / scale_y) + zero_y.
Tensor requantized(const Tensor& sum, const Tensor& scale_a, const Tensor& scale_b, const Tensor& scale_y,
                   const Tensor& zero_y);

}  // namespace tessera::onnx

// The row family's kernel, as softmax and the normalisations use it.
#pragma once
#include <span>
#include <string_view>

#include <tessera/tensor.h>

namespace tessera {

// What becomes of an element x; the shaders know these by their numbers.
enum class RowKind : std::int32_t {
  softmax,      // exp(x - max) / sum(exp(x - max))
  log_softmax,  // x - max - log(sum(exp(x - max)))
  layer_norm,   // (x - mean) / sqrt(variance + epsilon)
  rms_norm,     // x / sqrt(mean of squares + epsilon)
};

// x, of floats, with each element set in relation to those along the axes, which are in ascending order. Computes in
// f32 and gives `result`.
Tensor normalized_rows(RowKind, const Tensor& x, std::span<const int> axes, float epsilon, DType result);

}  // namespace tessera

// The row family's kernel, as softmax and the normalisations use it.
#pragma once
#include <span>
#include <string_view>

#include "core/kernel/row_parameters.h"
#include <tessera/tensor.h>

namespace tessera {

// Sets each element of x, of floats, in relation to those along the axes, which are in ascending order. Computes in f32
// and gives `result`.
Tensor normalized_rows(RowKind, const Tensor& x, std::span<const int> axes, float epsilon, DType result);

}  // namespace tessera

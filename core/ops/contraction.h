// Sums of products of the elements of two tensors: what matmul and einsum come down to.
#pragma once
#include <vector>

#include "core/ops/family.h"

namespace tessera {

// An axis that two operands are walked along together.
struct PairedAxis {
  std::int64_t size;
  std::int64_t a, b;  // how far apart its elements are in the operands; 0 where an operand does not have it
};

struct Contraction {
  std::vector<PairedAxis> kept, summed;  // the result's axes, and those that are summed over; innermost first
};

// What products of such elements add up to, or dtype_mismatch.
DType product_dtype(std::string_view op, const Tensor& a, const Tensor& b);

// The kept axes have the sizes of `result`, and the type is that of the products. `op` is what the user called.
Tensor contract(std::string_view op, const Tensor& a, const Tensor& b, const Shape& result, DType, Contraction);

}  // namespace tessera

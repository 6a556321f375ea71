// Sums of products of the elements of two tensors, of which matmul and einsum are made.
#pragma once
#include <vector>

#include "core/ops/family.h"

namespace tessera {

// An axis that two operands are walked along together.
struct PairedAxis {
  std::int64_t size;
  std::int64_t a, b;  // the distance of its elements in each operand; 0 where an operand lacks it
};

struct Contraction {
  std::vector<PairedAxis> kept, summed;  // the result's axes, and those that are summed over; innermost first
};

// The type of a sum of products of such elements. Throws dtype_mismatch where there is none.
DType product_dtype(std::string_view op, const Tensor& a, const Tensor& b);

// The kept axes have the sizes of `result`, and the type is that of the products. The user called `op`.
Tensor contract(std::string_view op, const Tensor& a, const Tensor& b, const Shape& result, DType, Contraction);

// The families that make a contraction of f32 on a device, of operands whose matrices are dense and have whole texels
// in all rows: those that suit large matrices, if they can have them.
std::vector<Family> contraction_families(Contraction, const FamilyUse&);

}  // namespace tessera

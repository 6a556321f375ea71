// Sorting along an axis.
#pragma once
#include <tessera/tensor.h>

namespace tessera {

// x [...] has numbers, and the result has its shape. Equal elements keep their order, descending as well as ascending.
// A NaN counts as larger than every number: it comes last in ascending order and first in descending.
TESSERA_API Tensor sort(const Tensor& x, int axis = -1, bool descending = false);
TESSERA_API Tensor argsort(const Tensor& x, int axis = -1, bool descending = false);  // indices along the axis, i32

struct TopK {
  Tensor values;   // of x's type
  Tensor indices;  // along the axis, i32
};

// The k largest (or smallest) elements along an axis, the largest (or smallest) first, of equal ones that of the lower
// index. The result has x's shape with a size of k at the axis. k is at most the size of the axis.
TESSERA_API TopK top_k(const Tensor& x, std::int64_t k, int axis = -1, bool largest = true);

}  // namespace tessera

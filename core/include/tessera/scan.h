// Running sums and products along an axis.
#pragma once
#include <tessera/tensor.h>

namespace tessera {

struct Scan {
  bool exclusive = false;  // an element's own value is left out: the first result is 0, or 1 for products
  bool reverse = false;    // from the last element to the first
};

// x [...] has numbers, and the result has its shape. f16 computes in f32 and rounds once, integers wrap. Long axes are
// scanned in blocks, so that sums stay accurate and the work is in proportion to the number of elements.
TESSERA_API Tensor cumsum(const Tensor& x, int axis = -1, const Scan& = {});
TESSERA_API Tensor cumprod(const Tensor& x, int axis = -1, const Scan& = {});

}  // namespace tessera

// The order of a tensor's elements, for operations that need more than the sorted elements.
#pragma once
#include <string_view>

#include <tessera/tensor.h>

namespace tessera {

// x [count], i32, has elements. Gives their pairs of an element and its index, i32, in ascending order, equal elements
// in theirs: [1,1,n,2], where n is count, rounded up to whole texels.
Tensor pairs_in_order(std::string_view op, const Tensor& x);

}  // namespace tessera

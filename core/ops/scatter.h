// The kernels behind scatter_nd and scatter_update, once their arguments are checked.
#pragma once
#include <tessera/tensor.h>

namespace tessera {

// The updates are rows of `trailing` elements each, and so is the result; `rows` [updates], i32, says which row of the
// result each update goes to, or -1 where there is none. Neither has no elements.
Tensor sum_of_updates(const Shape& result, const Tensor& rows, const Tensor& updates, std::int64_t trailing);
Tensor with_last_updates(const Tensor& x, const Tensor& rows, const Tensor& updates, std::int64_t trailing);

}  // namespace tessera

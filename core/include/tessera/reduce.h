// Reductions over any axes.
#pragma once
#include <vector>

#include <tessera/tensor.h>

// <windows.h> makes macros of these names, unless NOMINMAX is defined.
#pragma push_macro("max")
#pragma push_macro("min")
#undef max
#undef min

namespace tessera {

struct Reduce {
  std::vector<int> axes = {};  // none: all of them; negative ones count from the end
  bool keep_dims = false;      // reduced axes stay, with a size of 1
};

// x [...] to the axes that are left, with keep_dims to all axes, the reduced ones of size 1. f16 reduces in f32, i8 and
// u8 in i32, and the result has x's type again; integers that do not fit it wrap. The same device gives the same bits
// each time. Over no elements: sum 0, prod 1, max and min the lowest and highest number, mean NaN.
TESSERA_API Tensor sum(const Tensor& x, const Reduce& = {});  // numbers
// Floats. Never below the smallest nor above the largest element, unless the sum overflows or is NaN: the mean of equal
// numbers is that number.
TESSERA_API Tensor mean(const Tensor& x, const Reduce& = {});
TESSERA_API Tensor prod(const Tensor& x, const Reduce& = {});  // numbers
TESSERA_API Tensor max(const Tensor& x, const Reduce& = {});   // numbers; NaN wins
TESSERA_API Tensor min(const Tensor& x, const Reduce& = {});
TESSERA_API Tensor any(const Tensor& x, const Reduce& = {});  // booleans
TESSERA_API Tensor all(const Tensor& x, const Reduce& = {});
TESSERA_API Tensor l1_norm(const Tensor& x, const Reduce& = {});    // the sum of magnitudes; floats
TESSERA_API Tensor l2_norm(const Tensor& x, const Reduce& = {});    // the root of the sum of squares; floats
TESSERA_API Tensor logsumexp(const Tensor& x, const Reduce& = {});  // log(sum(exp(x))) without overflow; floats

// x [a...,size,b...] to [a...,b...], with keep_dims to [a...,1,b...], i32: the index along the axis of the largest or
// smallest element; of equal ones the first; a NaN counts as the largest and as the smallest.
TESSERA_API Tensor argmax(const Tensor& x, int axis = -1, bool keep_dims = false);
TESSERA_API Tensor argmin(const Tensor& x, int axis = -1, bool keep_dims = false);

}  // namespace tessera

#pragma pop_macro("max")
#pragma pop_macro("min")

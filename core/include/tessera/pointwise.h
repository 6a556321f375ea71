// Operations on each element. Shapes broadcast as in NumPy: aligned at the last axis, a size of 1 stretches.
//
// Tensors of one operation have one element type: cast() says where it changes. A number beside a tensor takes the
// tensor's type and is a parameter: another value compiles nothing. Floats round it; an integer type has it exactly,
// and one that the type lacks (0.5, or 300 for u8) is a dtype_mismatch. Integers compute as 32-bit integers and wrap;
// i8 and u8 wrap to their own width after each operation. f16 computes in f32 and rounds after each operation.
// docs/ops.md lists the element types, the accuracy and the special values of each operation.
#pragma once
#include <tessera/tensor.h>

namespace tessera {

// ---- arithmetic: floats and integers ----------------------------------------------------------------------
#define TESSERA_OPERATOR(symbol)                                    \
  TESSERA_API Tensor operator symbol(const Tensor&, const Tensor&); \
  TESSERA_API Tensor operator symbol(const Tensor&, double);        \
  TESSERA_API Tensor operator symbol(double, const Tensor&);
TESSERA_OPERATOR(+)
TESSERA_OPERATOR(-)
TESSERA_OPERATOR(*)
TESSERA_OPERATOR(/)   // integers truncate towards zero; x / 0 is 0 for integers
TESSERA_OPERATOR(==)  // comparisons give booleans; a NaN is unequal to everything
TESSERA_OPERATOR(!=)
TESSERA_OPERATOR(<)
TESSERA_OPERATOR(<=)
TESSERA_OPERATOR(>)
TESSERA_OPERATOR(>=)
#undef TESSERA_OPERATOR
TESSERA_API Tensor operator-(const Tensor&);

#define TESSERA_BINARY(name)                             \
  TESSERA_API Tensor name(const Tensor&, const Tensor&); \
  TESSERA_API Tensor name(const Tensor&, double);        \
  TESSERA_API Tensor name(double, const Tensor&);
TESSERA_BINARY(pow)
TESSERA_BINARY(floor_mod)  // the sign of the divisor, as in Python
TESSERA_BINARY(trunc_mod)  // the sign of the dividend, as in C
TESSERA_BINARY(minimum)    // a NaN on either side gives NaN
TESSERA_BINARY(maximum)
TESSERA_BINARY(atan2)
TESSERA_BINARY(squared_difference)
TESSERA_BINARY(prelu)        // x < 0 ? slope * x : x, the slope being a tensor or a number
TESSERA_BINARY(bitwise_and)  // bitwise operations and shifts: i32
TESSERA_BINARY(bitwise_or)
TESSERA_BINARY(bitwise_xor)
TESSERA_BINARY(shift_left)   // by the low five bits of the second operand
TESSERA_BINARY(shift_right)  // keeps the sign
#undef TESSERA_BINARY
TESSERA_API Tensor bitwise_not(const Tensor&);

TESSERA_API Tensor logical_and(const Tensor&, const Tensor&);  // booleans
TESSERA_API Tensor logical_or(const Tensor&, const Tensor&);
TESSERA_API Tensor logical_xor(const Tensor&, const Tensor&);
TESSERA_API Tensor logical_not(const Tensor&);

TESSERA_API Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no);  // the condition: boolean
TESSERA_API Tensor where(const Tensor& condition, const Tensor& yes, double no);
TESSERA_API Tensor where(const Tensor& condition, double yes, const Tensor& no);
// NaN stays NaN. Numbers of which low is above high are an invalid_argument; of tensors, which only the device knows,
// high wins there.
TESSERA_API Tensor clip(const Tensor&, double low, double high);
TESSERA_API Tensor clip(const Tensor&, const Tensor& low, const Tensor& high);

// ---- one operand ------------------------------------------------------------------------------------------
TESSERA_API Tensor neg(const Tensor&);
TESSERA_API Tensor abs(const Tensor&);
TESSERA_API Tensor sign(const Tensor&);
TESSERA_API Tensor square(const Tensor&);
TESSERA_API Tensor relu(const Tensor&);
TESSERA_API Tensor relu6(const Tensor&);

// Floats only, from here on.
TESSERA_API Tensor reciprocal(const Tensor&);
TESSERA_API Tensor sqrt(const Tensor&);
TESSERA_API Tensor rsqrt(const Tensor&);
TESSERA_API Tensor exp(const Tensor&);
TESSERA_API Tensor expm1(const Tensor&);
TESSERA_API Tensor log(const Tensor&);
TESSERA_API Tensor log1p(const Tensor&);
TESSERA_API Tensor floor(const Tensor&);
TESSERA_API Tensor ceil(const Tensor&);
TESSERA_API Tensor round(const Tensor&);  // half to even
TESSERA_API Tensor trunc(const Tensor&);
TESSERA_API Tensor sin(const Tensor&);
TESSERA_API Tensor cos(const Tensor&);
TESSERA_API Tensor tan(const Tensor&);
TESSERA_API Tensor asin(const Tensor&);
TESSERA_API Tensor acos(const Tensor&);
TESSERA_API Tensor atan(const Tensor&);
TESSERA_API Tensor sinh(const Tensor&);
TESSERA_API Tensor cosh(const Tensor&);
TESSERA_API Tensor tanh(const Tensor&);
TESSERA_API Tensor asinh(const Tensor&);
TESSERA_API Tensor acosh(const Tensor&);
TESSERA_API Tensor atanh(const Tensor&);
TESSERA_API Tensor erf(const Tensor&);
TESSERA_API Tensor sigmoid(const Tensor&);
TESSERA_API Tensor leaky_relu(const Tensor&, float slope = 0.2f);
TESSERA_API Tensor elu(const Tensor&, float alpha = 1.0f);
TESSERA_API Tensor celu(const Tensor&, float alpha = 1.0f);
TESSERA_API Tensor selu(const Tensor&);
TESSERA_API Tensor gelu(const Tensor&);       // exact, by erf
TESSERA_API Tensor gelu_tanh(const Tensor&);  // the tanh approximation
TESSERA_API Tensor silu(const Tensor&);       // x * sigmoid(x)
TESSERA_API Tensor softplus(const Tensor&);
TESSERA_API Tensor softsign(const Tensor&);
TESSERA_API Tensor mish(const Tensor&);
TESSERA_API Tensor hard_sigmoid(const Tensor&);                    // clip(x / 6 + 1 / 2, 0, 1)
TESSERA_API Tensor hard_swish(const Tensor&);                      // x * hard_sigmoid(x)
TESSERA_API Tensor step(const Tensor&, float at_negative = 0.0f);  // 1 above zero, else at_negative; NaN stays NaN
TESSERA_API Tensor is_nan(const Tensor&);                          // these three give booleans
TESSERA_API Tensor is_inf(const Tensor&);
TESSERA_API Tensor is_finite(const Tensor&);

}  // namespace tessera

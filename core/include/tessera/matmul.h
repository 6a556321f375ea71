// Products of matrices, and sums of products in general.
//
//   Tensor y = relu(matmul(x, weights) + bias);              // one kernel
//   Tensor scores = einsum("bhqd,bhkd->bhqk", {queries, keys});
//
// Floats give their own type and sum in f32. i8 and u8, in any pairing, give i32, as in ONNX's MatMulInteger with zero
// points of 0; i32 gives i32. Integers wrap. A sum over no elements is 0.
#pragma once
#include <initializer_list>
#include <span>
#include <string_view>

#include <tessera/tensor.h>

namespace tessera {

struct MatMul {
  bool transpose_a = false;  // a is [..., K, M]
  bool transpose_b = false;  // b is [..., N, K]
};

// a [..., M, K] times b [..., K, N]: [..., M, N], the dimensions before the last two broadcasting as in NumPy. A vector
// a [K] stands for a row and a vector b [K] for a column, transposed or not; the result lacks that dimension.
TESSERA_API Tensor matmul(const Tensor& a, const Tensor& b, MatMul = {});

// As in NumPy: a letter for each axis of each operand, "ij,jk->ik"; letters that the result does not have are summed
// over. Without "->" the result has the letters that occur once, in alphabetical order. A letter twice in one operand
// takes its diagonal, and an axis of size 1 stretches. "..." stands for all axes without a letter, which broadcast and
// come first in a result without "->". More than two operands are multiplied from left to right. Of a single operand
// the result has its type, as in sum().
TESSERA_API Tensor einsum(std::string_view equation, std::span<const Tensor> operands);
inline Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands) {
  return einsum(equation, std::span(operands.begin(), operands.size()));
}

}  // namespace tessera

#include <tessera/matmul.h>

#include <algorithm>

#include "core/ops/contraction.h"
#include "core/ops/pointwise.h"

namespace tessera {
namespace {

// The last two axes of an operand, named by their part in the product.
struct Matrix {
  std::int64_t outer, inner;                    // sizes: rows of a or columns of b, and the axis that is summed over
  std::int64_t outer_distance, inner_distance;  // between neighbours
};

Matrix matrix_of(const Shape& shape, bool inner_first) {
  if (shape.rank() == 1) return {1, shape[0], 0, 1};
  if (inner_first) return {shape[-1], shape[-2], 1, shape[-1]};
  return {shape[-2], shape[-1], shape[-1], 1};
}

Shape batch_of(const Shape& shape) {
  return Shape(shape.dims().first(static_cast<std::size_t>(std::max(0, shape.rank() - 2))));
}

// The distance of neighbours along an axis of the broadcast batch, counted from the end.
std::int64_t batch_distance(const Shape& shape, int axis) {
  const int from_end = axis + 2;
  if (from_end > shape.rank() || shape[-from_end] == 1) return 0;
  std::int64_t distance = 1;
  for (int inner = 1; inner < from_end; ++inner) distance *= shape[-inner];
  return distance;
}

void check_rank(const Tensor& x, std::string_view name) {
  if (x.shape().rank() == 0)
    fail(ErrorCode::invalid_argument, "matmul",
         std::string(name) + " " + x.shape().to_string() + " is of rank 0; it takes ranks from 1 on.");
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b, MatMul options) {
  check_rank(a, "a");
  check_rank(b, "b");
  check_same_context("matmul", TensorAccess::info(a), TensorAccess::info(b));
  const DType dtype = product_dtype("matmul", a, b);
  const Matrix rows = matrix_of(a.shape(), options.transpose_a), columns = matrix_of(b.shape(), !options.transpose_b);
  if (rows.inner != columns.inner)
    fail(ErrorCode::shape_mismatch, "matmul",
         "the inner dimension (" + std::to_string(rows.inner) + ") of a " + a.shape().to_string() +
             " differs from the inner dimension (" + std::to_string(columns.inner) + ") of b " + b.shape().to_string() +
             ".");
  const Shape batch = broadcast("matmul", batch_of(a.shape()), batch_of(b.shape()));
  std::vector<std::int64_t> dims(batch.dims().begin(), batch.dims().end());
  if (a.shape().rank() > 1) dims.push_back(rows.outer);
  if (b.shape().rank() > 1) dims.push_back(columns.outer);

  Contraction contraction{.kept = {{columns.outer, 0, columns.outer_distance}, {rows.outer, rows.outer_distance, 0}},
                          .summed = {{rows.inner, rows.inner_distance, columns.inner_distance}}};
  for (int axis = 1; axis <= batch.rank(); ++axis)
    contraction.kept.push_back({batch[-axis], batch_distance(a.shape(), axis), batch_distance(b.shape(), axis)});
  return contract("matmul", a, b, result_shape("matmul", dims), dtype, std::move(contraction));
}

}  // namespace tessera

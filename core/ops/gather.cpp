// Gathers elements by the indices of a tensor, and scatters them to such places.
#include <tessera/gather.h>

#include "core/kernel/gather_parameters.h"
#include "core/ops/family.h"
#include "core/ops/scatter.h"

namespace tessera {
namespace {

// Operands: x, indices.
constexpr KernelEntry<GatherAxisParameters> gather_axis{{.name = "gather_axis", .file = "gather"}};
constexpr KernelEntry<GatherNdParameters, IndexedAxesOptions> gather_by_rows{{.name = "gather_nd", .file = "gather"}};

// Gives the row of the result that each row of the indices, its operand, names, or -1 where it is outside.
constexpr KernelEntry<ScatterRowsParameters, IndexedAxesOptions> scatter_rows{
    {.name = "scatter_rows", .file = "gather", .reads_once = true}};

Shape joined(std::string_view op, std::initializer_list<std::span<const std::int64_t>> parts) {
  std::vector<std::int64_t> dims;
  for (const auto part : parts) dims.insert(dims.end(), part.begin(), part.end());
  return result_shape(op, dims);
}

// The number of leading axes of `shape` that a row of the indices names.
int depth_of(std::string_view op, const Shape& indices, const Shape& shape) {
  if (indices.rank() == 0)
    fail(ErrorCode::invalid_argument, op, "the indices have a rank of 0; they need rows, [...,depth].");
  const std::int64_t depth = indices[-1];
  if (depth < 1 || depth > shape.rank())
    fail(ErrorCode::invalid_argument, op,
         "a row of the indices " + indices.to_string() + " names " + std::to_string(depth) + " axes; " +
             shape.to_string() + " has " + std::to_string(shape.rank()) + ".");
  return static_cast<int>(depth);
}

std::int64_t product(std::span<const std::int64_t> dims) {
  std::int64_t size = 1;
  for (const std::int64_t dim : dims) size *= dim;
  return size;
}

// The size of each of the leading axes, and the distance between two of its elements where the last one's is `unit`.
std::vector<IndexedAxis> indexed_axes(std::span<const std::int64_t> leading, std::int64_t unit) {
  std::vector<IndexedAxis> axes;
  for (std::size_t axis = 0; axis < leading.size(); ++axis)
    axes.push_back({leading[axis], unit * product(leading.subspan(axis + 1))});
  return axes;
}

// A look-up in x; `op` is the function that the user called.
Tensor look_up(std::string_view op, Family family, const Tensor& x, const Tensor& indices, const Shape& result) {
  check_same_context(op, TensorAccess::info(x), TensorAccess::info(indices));
  if (result.size() == 0) return number_like(x, result, 0);
  if (x.shape().size() == 0)
    fail(ErrorCode::invalid_argument, op,
         "x " + x.shape().to_string() + " has no elements to fill " + result.to_string() + " with.");
  family.reads_once = result.size() <= x.shape().size();
  return family_tensor(result, x.dtype(), std::move(family), {x, indices});
}

// The rows, of `trailing` elements each, that the indices name in `shape`.
Tensor rows_of(const Tensor& indices, const Shape& shape, int depth) {
  const std::vector<IndexedAxis> axes = indexed_axes(shape.dims().first(static_cast<std::size_t>(depth)), 1);
  return family_tensor({indices.shape().size() / depth}, DType::i32, scatter_rows.with({axes}, {.axes = depth}),
                       {indices});
}

struct Scatter {
  int depth;
  std::int64_t trailing;
};
Scatter checked_scatter(std::string_view op, const Tensor& indices, const Tensor& updates, const Shape& shape) {
  check_dtype(op, indices, indices.dtype() == DType::i32, "i32 indices");
  check_same_context(op, TensorAccess::info(indices), TensorAccess::info(updates));
  const int depth = depth_of(op, indices.shape(), shape);
  const auto rows = indices.shape().dims().first(static_cast<std::size_t>(indices.shape().rank() - 1));
  const auto slice = shape.dims().subspan(static_cast<std::size_t>(depth));
  if (const Shape expected = joined(op, {rows, slice}); updates.shape() != expected)
    fail(ErrorCode::shape_mismatch, op,
         "the updates have the shape " + updates.shape().to_string() + "; indices " + indices.shape().to_string() +
             " into " + shape.to_string() + " take " + expected.to_string() + ".");
  return {depth, product(slice)};
}

}  // namespace

Tensor gather(const Tensor& x, const Tensor& indices, int axis) {
  check_dtype("gather", indices, indices.dtype() == DType::i32, "i32 indices");
  const std::span<const std::int64_t> dims = x.shape().dims();
  const auto checked = static_cast<std::size_t>(checked_axis("gather", axis, x.shape().rank()));
  const Shape result = joined("gather", {dims.first(checked), indices.shape().dims(), dims.subspan(checked + 1)});
  Family family = gather_axis.with(
      {.trailing = product(dims.subspan(checked + 1)), .count = indices.shape().size(), .size = dims[checked]});
  return look_up("gather", std::move(family), x, indices, result);
}

Tensor gather_nd(const Tensor& x, const Tensor& indices) {
  check_dtype("gather_nd", indices, indices.dtype() == DType::i32, "i32 indices");
  const int depth = depth_of("gather_nd", indices.shape(), x.shape());
  const std::span<const std::int64_t> dims = x.shape().dims(), rows = indices.shape().dims();
  const auto slice = dims.subspan(static_cast<std::size_t>(depth));
  const std::int64_t trailing = product(slice);
  Family family = gather_by_rows.with(
      {.trailing = trailing, .axes = indexed_axes(dims.first(static_cast<std::size_t>(depth)), trailing)},
      {.axes = depth});
  return look_up("gather_nd", std::move(family), x, indices, joined("gather_nd", {rows.first(rows.size() - 1), slice}));
}

Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape) {
  const Scatter scatter = checked_scatter("scatter_nd", indices, updates, shape);
  if (shape.size() == 0 || updates.shape().size() == 0) return number_like(updates, shape, 0);
  // A sum of booleans is 1 where at least one is.
  const bool is_boolean = updates.dtype() == DType::boolean;
  const Tensor values = is_boolean ? updates.cast(DType::i32) : updates;
  return sum_of_updates(shape, rows_of(indices, shape, scatter.depth), values, scatter.trailing).cast(updates.dtype());
}

Tensor scatter_update(const Tensor& x, const Tensor& indices, const Tensor& updates) {
  const Shape& shape = x.shape();
  if (updates.dtype() != x.dtype())
    fail(ErrorCode::dtype_mismatch, "scatter_update",
         "x is " + std::string(to_string(x.dtype())) + ", the updates are " + std::string(to_string(updates.dtype())) +
             "; cast one of them.");
  check_same_context("scatter_update", TensorAccess::info(x), TensorAccess::info(updates));
  const Scatter scatter = checked_scatter("scatter_update", indices, updates, shape);
  if (shape.size() == 0 || updates.shape().size() == 0) return x;
  return with_last_updates(x, rows_of(indices, shape, scatter.depth), updates, scatter.trailing);
}

}  // namespace tessera

// Elements by indices that a tensor gives, and back to such places.
#include <tessera/gather.h>

#include "core/family.h"

namespace tessera {
namespace {

// Operands: x, indices.
// gather_axis: words: the elements of a slice, the number of indices, the size of the axis.
// gather_nd: words: the elements of a slice; then, for each axis that is indexed, its size and the distance between two
// of its elements. Options: the number of these axes. Work on x moves into the kernel only where that does not repeat
// it: hence two entries for each function.
struct Entry {
  FamilyEntry reads_once, reads_again;
};
constexpr Entry entry_of(std::string_view name) {
  return {{.name = name, .file = "gather", .reads_once = true}, {.name = name, .file = "gather"}};
}
constexpr Entry gather_axis = entry_of("gather_axis"), gather_by_rows = entry_of("gather_nd");

// scatter_rows gives the row of the result that each row of the indices names, or -1 where it is outside. Operand: the
// indices; words: for each axis that is indexed, its size and how many rows its elements lie apart. Options: their
// number. The others take these rows, the updates and, to replace elements, x. Words: the number of updates, the
// elements of each.
constexpr FamilyEntry scatter_rows{.name = "scatter_rows", .file = "gather", .reads_once = true};
constexpr FamilyEntry scatter_sum{.name = "scatter_sum", .file = "gather", .reads_once = true};
constexpr FamilyEntry scatter_last{.name = "scatter_last", .file = "gather", .reads_once = true};

Shape joined(std::string_view op, std::initializer_list<std::span<const std::int64_t>> parts) {
  std::vector<std::int64_t> dims;
  for (const auto part : parts) dims.insert(dims.end(), part.begin(), part.end());
  return result_shape(op, dims);
}

// How many of the leading axes of `shape` a row of the indices names.
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
void append_axes(std::vector<std::uint32_t>& words, std::span<const std::int64_t> leading, std::int64_t unit) {
  for (std::size_t axis = 0; axis < leading.size(); ++axis)
    words.insert(words.end(), {word_of(leading[axis]), word_of(unit * product(leading.subspan(axis + 1)))});
}

// A look-up in x; `op` is what the user called.
Tensor look_up(std::string_view op, const Entry& entry, const Tensor& x, const Tensor& indices, const Shape& result,
               std::vector<std::int32_t> options, std::vector<std::uint32_t> words) {
  check_same_context(op, TensorAccess::info(x), TensorAccess::info(indices));
  if (result.size() == 0) return number_like(x, result, 0);
  if (x.shape().size() == 0)
    fail(ErrorCode::invalid_argument, op,
         "x " + x.shape().to_string() + " has no elements to fill " + result.to_string() + " with.");
  return family_tensor(result, x.dtype(),
                       {.entry = result.size() <= x.shape().size() ? &entry.reads_once : &entry.reads_again,
                        .options = std::move(options),
                        .words = std::move(words)},
                       {x, indices});
}

// The rows, of `trailing` elements each, that the indices name in `shape`.
Tensor rows_of(const Tensor& indices, const Shape& shape, int depth) {
  Family family{.entry = &scatter_rows, .options = {depth}, .words = {}};
  append_axes(family.words, shape.dims().first(static_cast<std::size_t>(depth)), 1);
  return family_tensor({indices.shape().size() / depth}, DType::i32, std::move(family), {indices});
}

struct Scatter {
  int depth;
  std::int64_t updates, trailing;
};
Scatter checked_scatter(std::string_view op, const Tensor& indices, const Tensor& updates, const Shape& shape) {
  check_dtype(op, indices, indices.dtype() == DType::i32, "i32 indices");
  check_same_context(op, TensorAccess::info(indices), TensorAccess::info(updates));
  const int depth = depth_of(op, indices.shape(), shape);
  const auto rows = indices.shape().dims().first(static_cast<std::size_t>(indices.shape().rank() - 1));
  const auto slice = shape.dims().subspan(static_cast<std::size_t>(depth));
  if (const Shape wanted = joined(op, {rows, slice}); updates.shape() != wanted)
    fail(ErrorCode::shape_mismatch, op,
         "the updates have the shape " + updates.shape().to_string() + "; indices " + indices.shape().to_string() +
             " into " + shape.to_string() + " take " + wanted.to_string() + ".");
  return {depth, product(rows), product(slice)};
}

}  // namespace

Tensor gather(const Tensor& x, const Tensor& indices, int axis) {
  check_dtype("gather", indices, indices.dtype() == DType::i32, "i32 indices");
  const std::span<const std::int64_t> dims = x.shape().dims();
  const auto checked = static_cast<std::size_t>(checked_axis("gather", axis, x.shape().rank()));
  const Shape result = joined("gather", {dims.first(checked), indices.shape().dims(), dims.subspan(checked + 1)});
  return look_up(
      "gather", gather_axis, x, indices, result, {},
      {word_of(product(dims.subspan(checked + 1))), word_of(indices.shape().size()), word_of(dims[checked])});
}

Tensor gather_nd(const Tensor& x, const Tensor& indices) {
  check_dtype("gather_nd", indices, indices.dtype() == DType::i32, "i32 indices");
  const int depth = depth_of("gather_nd", indices.shape(), x.shape());
  const std::span<const std::int64_t> dims = x.shape().dims(), rows = indices.shape().dims();
  const auto slice = dims.subspan(static_cast<std::size_t>(depth));
  std::vector<std::uint32_t> words{word_of(product(slice))};
  append_axes(words, dims.first(static_cast<std::size_t>(depth)), product(slice));
  return look_up("gather_nd", gather_by_rows, x, indices, joined("gather_nd", {rows.first(rows.size() - 1), slice}),
                 {depth}, std::move(words));
}

Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Shape& shape) {
  const Scatter scatter = checked_scatter("scatter_nd", indices, updates, shape);
  if (shape.size() == 0 || updates.shape().size() == 0) return number_like(updates, shape, 0);
  // Either of several booleans: that at least one is 1.
  const bool is_boolean = updates.dtype() == DType::boolean;
  const Tensor values = is_boolean ? updates.cast(DType::i32) : updates;
  return family_tensor(
             shape, values.dtype(),
             {.entry = &scatter_sum, .options = {}, .words = {word_of(scatter.updates), word_of(scatter.trailing)}},
             {rows_of(indices, shape, scatter.depth), values})
      .cast(updates.dtype());
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
  return family_tensor(
      shape, x.dtype(),
      {.entry = &scatter_last, .options = {}, .words = {word_of(scatter.updates), word_of(scatter.trailing)}},
      {rows_of(indices, shape, scatter.depth), updates, x});
}

}  // namespace tessera

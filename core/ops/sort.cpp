#include "core/ops/sort.h"

#include <algorithm>

#include "core/kernel/sort_parameters.h"
#include "core/ops/axis_extent.h"
#include "core/ops/family.h"
#include <tessera/sort.h>

namespace tessera {
namespace {

// x is [outer, count, inner], a row being what lies along its second axis. A row becomes one of integer keys, padded to
// whole texels with keys that sort last; blocks of it are sorted by counting, and neighbouring blocks are merged until
// one is left. The kernels sort pairs of a key and its index in the row, and keep of each block no more pairs than are
// wanted in the end.

// Keys [rows, stride] in the order wanted.
constexpr KernelEntry<SortKeysParameters, SortKeysOptions> sort_keys{{.name = "sort_keys", .file = "sort"}};
// How many keys of its block come before each key.
constexpr KernelEntry<SortRanksParameters> sort_ranks{{.name = "sort_ranks", .file = "sort"}};
// [rows, blocks, kept, 2]: from the ranks and the keys, the first pairs of each block in order.
constexpr KernelEntry<SortBlocksParameters> sort_blocks{{.name = "sort_blocks", .file = "sort"}};
// The first pairs of blocks of twice the length, from such pairs. An invocation finds the first pair of a run by a
// binary search, and goes on from there.
Held in_texels_from_splits(const Node&);
constexpr KernelEntry<SortMergeParameters> sort_merge_runs{
    {.name = "sort_merge_runs", .file = "sort", .is_cooperative = true, .lower = in_texels_from_splits}};
// The same in two kernels: [rows, blocks, runs], which say where runs begin, and pairs that are searched for within
// their run.
constexpr KernelEntry<SortMergeParameters> sort_splits{{.name = "sort_splits", .file = "sort"}};
constexpr KernelEntry<SortMergeParameters> sort_merge{{.name = "sort_merge", .file = "sort"}};
// [outer, wanted, inner]: elements of x by the pairs [rows, kept, 2].
constexpr KernelEntry<SortTakeParameters> sort_take{{.name = "sort_take", .file = "sort"}};

constexpr std::int64_t counted_block = 64;
constexpr std::int64_t pairs_of_invocation = 64, invocations = 64;  // of a workgroup, as in the shaders

void cut_into_runs(SortMergeParameters& parameters, std::int64_t blocks, std::int64_t pairs) {
  parameters.run = pairs;
  parameters.runs = (parameters.kept_after + pairs - 1) / pairs;
  parameters.all_runs = blocks * parameters.runs;
}

Held in_texels_from_splits(const Node& node) {
  constexpr std::int64_t pairs_between_splits = 16;
  constexpr std::int64_t most_searched = 256;  // pairs of a block, which cost less than one more kernel
  auto parameters = from_words<SortMergeParameters>(std::get<Family>(node.operation).words);
  const bool is_one_run = parameters.kept <= most_searched;
  const std::int64_t run = is_one_run ? std::int64_t{parameters.kept_after} : pairs_between_splits;
  cut_into_runs(parameters, node.shape[0] * node.shape[1], run);
  const Tensor pairs = TensorAccess::tensor(node.inputs[0]);
  const Shape all_runs{parameters.all_runs};
  const Tensor splits = is_one_run ? number_like(pairs, all_runs, 0)
                                   : family_tensor(all_runs, DType::i32, sort_splits.with(parameters), {pairs});
  return TensorAccess::held(family_tensor(node.shape, DType::i32, sort_merge.with(parameters), {pairs, splits}));
}

std::int64_t whole_texels(std::int64_t count) { return (count + 3) / 4 * 4; }

// The pairs of the first `wanted` elements of each row in order: [rows, 1, whole_texels(wanted), 2].
Tensor first_in_order(std::string_view op, const Tensor& x, const AxisExtent& rows, std::int64_t wanted,
                      bool descending) {
  const std::int64_t row_count = rows.outer * rows.inner, stride = whole_texels(rows.count);
  const Shape padded = result_shape(op, {row_count, stride});
  const Tensor keys = family_tensor(
      padded, DType::i32,
      sort_keys.with({.count = rows.count, .stride = stride, .inner = rows.inner, .turned_bits = descending ? -1 : 0},
                     {.is_float = is_float(x.dtype())}),
      {x});
  std::int64_t length = counted_block;
  const Tensor ranks = family_tensor(padded, DType::i32, sort_ranks.with({.stride = stride, .length = length}), {keys});
  const std::int64_t wanted_texels = whole_texels(wanted);
  std::int64_t blocks = (stride + length - 1) / length, kept = std::min(length, wanted_texels);
  Tensor pairs = family_tensor(result_shape(op, {row_count, blocks, kept, 2}), DType::i32,
                               sort_blocks.with({.stride = stride, .length = length, .blocks = blocks, .kept = kept}),
                               {ranks, keys});
  while (blocks > 1) {
    const std::int64_t blocks_after = (blocks + 1) / 2, kept_after = std::min(2 * length, wanted_texels);
    SortMergeParameters parameters{.stride = stride,
                                   .length = length,
                                   .blocks = blocks,
                                   .kept = kept,
                                   .blocks_after = blocks_after,
                                   .kept_after = kept_after};
    cut_into_runs(parameters, row_count * blocks_after, pairs_of_invocation);
    Family merge = sort_merge_runs.with(parameters);
    merge.workgroups = (parameters.all_runs + invocations - 1) / invocations;
    pairs = family_tensor(result_shape(op, {row_count, blocks_after, kept_after, 2}), DType::i32, std::move(merge),
                          {pairs});
    length *= 2;
    blocks = blocks_after;
    kept = kept_after;
  }
  return pairs;
}

Tensor taken(const Tensor& x, const AxisExtent& rows, const Tensor& pairs, const Shape& result, std::int64_t wanted) {
  return family_tensor(
      result, x.dtype(),
      sort_take.with({.count = rows.count, .wanted = wanted, .inner = rows.inner, .kept = whole_texels(wanted)}),
      {x, pairs});
}

Tensor indices_in(const Tensor& pairs, const AxisExtent& rows, const Shape& result, std::int64_t wanted) {
  const std::int64_t row = 2 * whole_texels(wanted);
  return strided_tensor(
      pairs, result, 1,
      {{1, rows.inner, row}, {rows.inner, wanted, 2}, {rows.inner * wanted, rows.outer, rows.inner * row}});
}

int checked(std::string_view name, const Tensor& x, int axis) {
  check_dtype(name, x, x.dtype() != DType::boolean, "floats and integers");
  return checked_axis(name, axis, x.shape().rank());
}

Tensor no_indices(const Tensor& x, const Shape& shape) { return number_like(x, shape, 0).cast(DType::i32); }

}  // namespace

Tensor pairs_in_order(std::string_view op, const Tensor& x) {
  const AxisExtent row(x.shape(), 0);
  return first_in_order(op, x, row, row.count, false);
}

Tensor sort(const Tensor& x, int axis, bool descending) {
  const int along = checked("sort", x, axis);
  if (x.shape().size() == 0) return x;
  const AxisExtent rows(x.shape(), along);
  return taken(x, rows, first_in_order("sort", x, rows, rows.count, descending), x.shape(), rows.count);
}

Tensor argsort(const Tensor& x, int axis, bool descending) {
  const int along = checked("argsort", x, axis);
  if (x.shape().size() == 0) return no_indices(x, x.shape());
  const AxisExtent rows(x.shape(), along);
  return indices_in(first_in_order("argsort", x, rows, rows.count, descending), rows, x.shape(), rows.count);
}

TopK top_k(const Tensor& x, std::int64_t k, int axis, bool largest) {
  const int along = checked("top_k", x, axis);
  const AxisExtent rows(x.shape(), along);
  if (k < 0 || k > rows.count)
    fail(ErrorCode::invalid_argument, "top_k",
         "k (" + std::to_string(k) + ") is outside of 0 to " + std::to_string(rows.count) + ", the size of axis " +
             std::to_string(axis) + " of " + x.shape().to_string() + ".");
  const Shape result = with_size(x.shape(), along, k);
  if (result.size() == 0) return {number_like(x, result, 0), no_indices(x, result)};
  const Tensor pairs = first_in_order("top_k", x, rows, k, largest);
  return {taken(x, rows, pairs, result, k), indices_in(pairs, rows, result, k)};
}

}  // namespace tessera

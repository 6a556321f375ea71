#include "core/ops/row.h"

#include <algorithm>

#include "core/ops/family.h"
#include <tessera/pointwise.h>
#include <tessera/reduce.h>

namespace tessera {
namespace {

Held lowered_rows(const Node&);

using RowEntry = KernelEntry<RowParameters, RowOptions>;

// The kernel reads rows two or three times, which costs pointwise work that joins it little.
constexpr RowEntry by_workgroups{
    {.name = "row_normalize", .file = "row", .reads_once = true, .is_cooperative = true, .lower = lowered_rows}};

// The same parameters and options, for rows that lie one after the other.
Held in_teams(const Node&);
constexpr RowEntry by_octets{{.name = "row_octets",
                              .file = "row",
                              .reads_once = true,
                              .is_cooperative = true,
                              .in_octets = true,
                              .lower = in_teams}};

// Kernels without workgroups, with the same parameters and options. In the first, each texel of the result reads the
// whole rows that it has elements of. The others find the statistics of each row first, and apply them to x after that.
// The statistics of a row are a texel of a result [rows, 4]; those of columns lie apart, [row_parts(), rows].
constexpr RowEntry row_by_texels{{.name = "row_by_texels", .file = "row"}};
constexpr RowEntry find_statistics{{.name = "row_statistics", .file = "row"}};
constexpr RowEntry apply_statistics{{.name = "row_apply", .file = "row"}};

constexpr std::int64_t row_workgroup = 64;
// As many keep a large device busy. Beyond, invocations that read more by themselves cost less than larger teams.
constexpr std::int64_t enough_invocations = 8192;
// Of longer rows, many invocations share one by reductions.
constexpr std::int64_t longest_row = 32768, longest_row_of_an_invocation = 2048;
// Reading rows again for each texel costs less than a pass for statistics if rows are short, or if there is little to
// read.
constexpr std::int64_t short_row = 8, longest_row_by_texels = 64, most_reads_by_texels = 1 << 18;

struct Rows {
  std::int64_t outer, count, inner;

  bool in_columns() const { return inner > 1; }
  std::int64_t teams() const { return in_columns() ? outer * inner / 4 : outer; }
};

// The rows of a workgroup have to end with a texel.
std::int64_t team_size_for(const Rows& rows) {
  const std::int64_t texels = rows.in_columns() ? rows.count : (rows.count + 3) / 4;
  // Eight columns of texels are as much as memory gives at once: a workgroup has fewer only where there are few of all.
  constexpr std::int64_t enough_beside_columns = 512;
  const auto enough = [&](std::int64_t size) {
    return rows.in_columns() && size >= row_workgroup / 8 ? enough_beside_columns : enough_invocations;
  };
  std::int64_t size = 1;
  while (size < row_workgroup && size * rows.teams() < enough(size) && 4 * size <= texels) size *= 2;
  if (rows.in_columns()) return size;
  const auto ends_with_texel = [&] {
    const std::int64_t together = row_workgroup / size;
    return together >= rows.outer || together * rows.count % 4 == 0;
  };
  while (!ends_with_texel()) size /= 2;
  return size;
}

std::int64_t workgroups_for(const RowParameters& parameters) {
  return (parameters.teams + parameters.teams_together - 1) / parameters.teams_together;
}

Held in_teams(const Node& node) {
  Family family = std::get<Family>(node.operation);
  family.entry = &by_workgroups;
  family.workgroups = workgroups_for(from_words<RowParameters>(family.words));
  family.row = 0;
  return lowered(node, std::move(family));
}

// Whether there are enough rows, each with a texel at least for each invocation of an octet.
bool suit_octets(const Rows& rows) {
  constexpr std::int64_t enough_rows = 128, shortest_row = 32;
  return !rows.in_columns() && rows.count % 4 == 0 && rows.count >= shortest_row && rows.outer >= enough_rows;
}

// For each element the first one of its row: reductions of differences from it stay accurate far from zero.
Tensor first_of_row(const Tensor& x, std::span<const int> axes) {
  std::vector<Term> terms;
  std::int64_t stride = 1;
  for (int axis = x.shape().rank() - 1; axis >= 0; --axis) {
    const std::int64_t size = x.shape()[axis];
    if (size > 1 && std::find(axes.begin(), axes.end(), axis) == axes.end()) {
      const bool continues = !terms.empty() && terms.back().stride * terms.back().size == stride;
      if (continues) terms.back().size *= size;
      else terms.push_back({stride, size, stride});
    }
    stride *= size;
  }
  return strided_tensor(x, x.shape(), 0, std::move(terms));
}

// Composes the kind of reductions and pointwise work. Cheap work that several of them read is written again for each,
// so that it becomes part of each kernel rather than a stored result.
Tensor composed_rows(RowKind kind, const Tensor& x, std::span<const int> axes, float epsilon) {
  const Reduce along{.axes = {axes.begin(), axes.end()}, .keep_dims = true};
  const auto wide = [&] { return x.cast(DType::f32); };
  switch (kind) {
    case RowKind::softmax:
    case RowKind::log_softmax: {
      const Tensor largest = max(wide(), along);
      const Tensor total = sum(exp(wide() - largest), along);
      return kind == RowKind::softmax ? exp(wide() - largest) / total : wide() - largest - log(total);
    }
    case RowKind::layer_norm: {
      // Stored, since finding the first element again in each of the three kernels that read this costs more.
      const Tensor from_first = wide() - first_of_row(x, axes).cast(DType::f32);
      const Tensor middle = mean(from_first, along);
      const Tensor variance = mean(square(from_first - middle), along);
      return (from_first - middle) * rsqrt(variance + epsilon);
    }
    case RowKind::rms_norm: break;
  }
  return wide() * rsqrt(mean(square(wide()), along) + epsilon);
}

// The numbers that turn an element into its result.
std::int64_t row_parts(RowKind kind) {
  switch (kind) {
    case RowKind::softmax:
    case RowKind::log_softmax: return 2;  // the largest element; the sum or its logarithm
    case RowKind::layer_norm: return 3;   // the first element, the mean from there, the deviation
    case RowKind::rms_norm: break;
  }
  return 1;
}

Held lowered_rows(const Node& node) {
  const auto& family = std::get<Family>(node.operation);
  const auto parameters = from_words<RowParameters>(family.words);
  const auto options = from_options<RowOptions>(family.options);
  const auto kind = static_cast<RowKind>(options.kind.bits);
  const Tensor x = TensorAccess::tensor(node.inputs[0]);
  const std::int64_t size = x.shape().size(), count = parameters.count, inner = parameters.inner;
  if (count <= short_row || (count <= longest_row_by_texels && size * count <= most_reads_by_texels))
    return lowered(node, row_by_texels.with(parameters, options));
  if (count <= longest_row_of_an_invocation) {
    const std::int64_t rows = size / count;
    const Shape shape = options.in_columns == 1 ? Shape{row_parts(kind), rows} : Shape{rows, 4};
    const Tensor statistics = family_tensor(shape, DType::f32, find_statistics.with(parameters, options), {x});
    return TensorAccess::held(
        family_tensor(node.shape, node.dtype, apply_statistics.with(parameters, options), {x, statistics}));
  }
  constexpr int axis = 1;
  const Tensor result =
      composed_rows(kind, x.reshape({size / (count * inner), count, inner}), std::span(&axis, 1), parameters.epsilon);
  return TensorAccess::held(result.cast(node.dtype).reshape(node.shape));
}

}  // namespace

Tensor normalized_rows(RowKind kind, const Tensor& x, std::span<const int> axes, float epsilon, DType result) {
  const Shape& shape = x.shape();
  if (shape.size() == 0) return x.cast(result);
  Rows rows{1, 1, 1};
  for (int axis = 0; axis < shape.rank(); ++axis)
    (axis < axes.front() ? rows.outer : axis > axes.back() ? rows.inner : rows.count) *= shape[axis];
  const bool are_adjacent = axes.back() - axes.front() + 1 == static_cast<int>(axes.size());
  if (!are_adjacent || (rows.in_columns() && rows.inner % 4 != 0) || rows.count > longest_row)
    return composed_rows(kind, x, axes, epsilon).cast(result);
  const std::int64_t team_size = team_size_for(rows), together = row_workgroup / team_size;
  const RowParameters parameters{.count = rows.count,
                                 .inner = rows.inner,
                                 .teams = rows.teams(),
                                 .team_size = team_size,
                                 .teams_together = together,
                                 .epsilon = epsilon};
  const bool in_octets = suit_octets(rows);
  Family family = (in_octets ? by_octets : by_workgroups)
                      .with(parameters, {.kind = static_cast<std::int64_t>(kind), .in_columns = rows.in_columns()});
  constexpr std::int64_t octets = row_workgroup / 8;
  family.workgroups = in_octets ? (rows.outer + octets - 1) / octets : workgroups_for(parameters);
  if (in_octets) family.row = rows.count;
  return family_tensor(shape, result, std::move(family), {x});
}

}  // namespace tessera

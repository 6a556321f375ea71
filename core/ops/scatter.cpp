#include "core/ops/scatter.h"

#include <bit>

#include "core/kernel/gather_parameters.h"
#include "core/ops/family.h"
#include "core/ops/sort.h"

namespace tessera {
namespace {

Held sum_of_runs(const Node&);
Held last_of_runs(const Node&);

using ScatterEntry = KernelEntry<ScatterParameters>;

// Operands: the row of each update, the updates and, to replace elements, x. Each element of the result looks at every
// update.
constexpr ScatterEntry scatter_sum{{.name = "scatter_sum", .file = "scatter", .reads_once = true}};
constexpr ScatterEntry scatter_last{{.name = "scatter_last", .file = "scatter", .reads_once = true}};

// The same for many updates, which are stored one after the other. Devices that cannot do that sort the updates by
// their rows: those of one row become a run, in their order.
constexpr ScatterEntry scatter_sum_in_turn{
    {.name = "scatter_sum_in_turn", .file = "scatter", .reads_once = true, .lower = sum_of_runs}};
constexpr ScatterEntry scatter_last_in_turn{
    {.name = "scatter_last_in_turn", .file = "scatter", .reads_once = true, .lower = last_of_runs}};

// [rows + 1]: the start of each row's run in the pairs of a row and an update, in order; the last one is where all end.
constexpr KernelEntry<ScatterStartsParameters> scatter_starts{{.name = "scatter_starts", .file = "scatter"}};
// Operands: the starts, the pairs, the updates and, to replace elements, x.
using RunEntry = KernelEntry<ScatterRunParameters>;
constexpr RunEntry scatter_run_sum{{.name = "scatter_run_sum", .file = "scatter", .reads_once = true}};
constexpr RunEntry scatter_run_last{{.name = "scatter_run_last", .file = "scatter", .reads_once = true}};

// Sorting costs as much as so many looks of an element at an update, as measured on WebGPU and OpenGL ES: these for its
// dispatches, and more for each update and each element of the result.
constexpr std::int64_t looks_for_dispatches = 1 << 22, looks_for_an_update = 1 << 11, looks_for_an_element = 1 << 7;
// With so few rows, reading the updates costs more than the looks do, and sorting does not make that less.
constexpr std::int64_t few_rows = 16;
// Of the pairs and of the starts: not every device has a tensor of more than 128 MiB.
constexpr std::int64_t most_numbers = 1 << 25;

bool are_many(std::int64_t updates, std::int64_t rows, std::int64_t elements) {
  return rows > few_rows && 2 * updates <= most_numbers && rows + 1 <= most_numbers &&
         updates * elements > looks_for_dispatches + looks_for_an_update * updates + looks_for_an_element * elements;
}

Family scatter_family(const ScatterEntry& few, const ScatterEntry& many, const Shape& result, const Tensor& rows,
                      std::int64_t trailing) {
  const std::int64_t updates = rows.shape().size(), elements = result.size();
  return (are_many(updates, elements / trailing, elements) ? many : few)
      .with({.updates = updates, .trailing = trailing});
}

Held by_runs(std::string_view op, const RunEntry& entry, const Node& node) {
  const auto parameters = from_words<ScatterParameters>(std::get<Family>(node.operation).words);
  const std::int64_t rows = node.shape.size() / parameters.trailing;
  const Tensor pairs = pairs_in_order(op, TensorAccess::tensor(node.inputs[0]));
  const auto search_steps = std::bit_width(static_cast<std::uint64_t>(parameters.updates.bits));
  const Tensor starts =
      family_tensor(result_shape(op, {rows + 1}), DType::i32,
                    scatter_starts.with({.updates = parameters.updates, .search_steps = search_steps}), {pairs});
  std::vector<Tensor> operands{starts, pairs};
  for (std::size_t i = 1; i < node.inputs.size(); ++i) operands.push_back(TensorAccess::tensor(node.inputs[i]));
  return TensorAccess::held(
      family_tensor(node.shape, node.dtype, entry.with({.rows = rows, .trailing = parameters.trailing}), operands));
}

Held sum_of_runs(const Node& node) { return by_runs("scatter_nd", scatter_run_sum, node); }
Held last_of_runs(const Node& node) { return by_runs("scatter_update", scatter_run_last, node); }

}  // namespace

Tensor sum_of_updates(const Shape& result, const Tensor& rows, const Tensor& updates, std::int64_t trailing) {
  return family_tensor(result, updates.dtype(),
                       scatter_family(scatter_sum, scatter_sum_in_turn, result, rows, trailing), {rows, updates});
}

Tensor with_last_updates(const Tensor& x, const Tensor& rows, const Tensor& updates, std::int64_t trailing) {
  return family_tensor(x.shape(), x.dtype(),
                       scatter_family(scatter_last, scatter_last_in_turn, x.shape(), rows, trailing),
                       {rows, updates, x});
}

}  // namespace tessera

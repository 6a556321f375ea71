#include <algorithm>
#include <numeric>

#include "core/run/batch_parts.h"
#include "core/run/program.h"
#include "core/run/run_variant.h"

namespace tessera {

void Batch::give_results(const Node& ran, const Buffers& buffers) {
  const ProgramImpl& program = *std::get<ProgramResult>(ran.operation).run->program;
  std::vector<std::size_t> outputs(program.outputs.size());
  std::iota(outputs.begin(), outputs.end(), std::size_t{0});
  give_results(ran, program.graph, *program.plan, outputs, buffers);
}

void Batch::give_results(const Node& ran, const Graph& graph, const Plan& plan, std::span<const std::size_t> outputs,
                         const Buffers& buffers) {
  const ProgramRun& call = *std::get<ProgramResult>(ran.operation).run;
  const int lineage = lineage_of_run(ran);
  for (std::size_t i = 0; i < graph.wanted.size(); ++i) {
    const Graph::Place& place = graph.wanted[i];
    const NodePtr result = call.results[outputs[i]].lock();
    if (place.item < 0 || graph.is_shown(i) || !result || result->has_elements() || !result->is<ProgramResult>())
      continue;
    give_item(*result, plan, place.item,
              {buffers[item_index(place.item)], place.offset + graph.at(place.item).start, lineage});
  }
}

// The item gets the storage into which its elements are wanted, unless they are there already, or are only a part of
// it.
void Batch::give_storage(const Graph& graph, const Graph::Place& place, const Wanted& wanted) {
  if (place.item < 0 || place.offset != 0 || location_of(wanted.node.get()).offset != 0) return;
  const GraphItem& item = graph.at(place.item);
  if (item.is_stored || item.shape().size() != wanted.node->shape.size()) return;
  if (item.is<Custom>() && wanted.into->is_borrowed()) return;  // is cleared before, which a host's may not be made for
  context_.pool->keep_for_batch(*wanted.into);
  given_.push_back({place.item, wanted.into});
}

void Batch::forget(const Buffer& buffer) {
  std::erase_if(results_, [&](const Result& result) {
    if (result.node->value.buffer.get() != &buffer) return false;
    result.take_back();
    return true;
  });
}

void Batch::give(Node& node, Value value) {
  // First: a node whose storage is not written must not keep it.
  results_.push_back({node.shared_from_this(), node.value.in_texels});
  node.value = std::move(value);
}

void Batch::give_item(Node& node, const Plan& plan, int item, Value value) {
  if (std::ranges::find(plan.in_texels, item) == plan.in_texels.end()) return give(node, std::move(value));
  auto texels = make_node(node.context, shape_in_texels(node.shape), node.dtype, Computed{});
  texels->label = node.label;
  texels->value = {std::move(value.buffer), 0, unknown_lineage};
  texels->value.buffer->add_user(texels);
  give(node, {.lineage = unknown_lineage, .in_texels = make_hold(std::move(texels))});
}

}  // namespace tessera

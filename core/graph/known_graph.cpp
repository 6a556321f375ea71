#include "core/graph/known_graph.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tessera {
namespace {

std::size_t known_index(int index) { return static_cast<std::size_t>(index); }

bool is_plain(const GraphItem& item) {
  if (item.source || item.is_overwritten || item.layout != 0 || item.number != GraphItem::none) return false;
  if (item.is_stored) return !item.node->is<Placeholder>() && !item.node->is<ProgramResult>();
  return has_comparable_work(*item.operation);
}

bool is_replaced_by(const Node& node, const Node& other) {
  return has_comparable_work(node.operation) && node.shape == other.shape && node.dtype == other.dtype &&
         std::ranges::equal(node.inputs, other.inputs);
}

bool is_plain(const Wanted& wanted) {
  return !wanted.target && !wanted.is_for_kernels && !wanted.is_whole && wanted.layout == 0;
}

// Where elements lie, if make_graph() would find them there without making nodes; else no node.
Location plain_base_of(Node* node) {
  const Location base = location_of(node);
  const bool needs_nodes = !base.node->has_elements() &&
                           ((base.node->value.in_texels && base.node->in_texels()) || base.node->is<Computed>());
  return needs_nodes ? Location{nullptr, 0} : base;
}

// The constant behind a node and any views of it; null where there is none.
const Node* number_behind(const Node* node) {
  while (!node->has_elements() && (node->is<View>() || node->is<Strided>())) node = node->inputs[0].get();
  return node->is<Constant>() && !node->has_elements() ? node : nullptr;
}

}  // namespace

KnownGraph::KnownGraph(Graph graph, std::vector<Work> work)
    : graph_(std::move(graph)), work_(std::move(work)), number_nodes_(graph_.numbers.size()) {}

std::shared_ptr<KnownGraph> KnownGraph::of(Graph graph) {
  if (!graph.shown.empty() || !graph.kept.empty() || !graph.runs.empty() || graph.is_half) return nullptr;
  const auto has_elements = [](const Graph::Place& place) { return place.item >= 0 && !place.is_for_kernels; };
  if (!std::ranges::all_of(graph.wanted, has_elements)) return nullptr;
  std::vector<Work> work;
  work.reserve(graph.items.size());
  std::size_t replaced = 0;
  for (int i = 0; i < static_cast<int>(graph.items.size()); ++i) {
    GraphItem& item = graph.items[known_index(i)];
    if (!is_plain(item)) return nullptr;
    work.push_back({item.shape(), item.dtype(), item.is_stored ? Operation(Computed{}) : *item.operation});
    if (!item.is_own) continue;
    const auto node =
        std::ranges::find_if(graph.equals, [&](const Graph::Equal& equal) { return equal.place.item == i; });
    if (node == graph.equals.end() || !is_replaced_by(*node->node, *item.node)) return nullptr;
    work.back().replaced = std::exchange(work.back().operation, node->node->operation);
    item.is_own = false;
    ++replaced;
  }
  if (replaced != graph.equals.size() || replaced != graph.own_nodes.size()) return nullptr;
  graph.equals.clear();
  graph.own_nodes.clear();
  return std::shared_ptr<KnownGraph>(new KnownGraph(std::move(graph), std::move(work)));
}

// Readers come after what they read: from the last item to the first, each one's node is known when it is looked at.
bool KnownGraph::is_of(std::span<const Wanted> wanted) {
  for (GraphItem& item : graph_.items) item.node = nullptr;
  std::ranges::fill(number_nodes_, nullptr);
  if (!bind_wanted(wanted)) return false;
  for (std::size_t i = graph_.items.size(); i-- > 0;) {
    GraphItem& item = graph_.items[i];
    Work& work = work_[i];
    if (!item.node || item.node->dtype != work.dtype || item.node->shape != work.shape) return false;
    item.operation = work.replaced ? &*work.replaced : &item.node->operation;
    if (item.is_stored ? !bind_stored(item) : !bind_operands(item, work)) return false;
  }
  for (GraphItem& item : graph_.items)
    if (!item.is_stored) item.lineage = lineage_after(graph_, item.operands);
  return true;
}

bool KnownGraph::bind_wanted(std::span<const Wanted> wanted) {
  if (wanted.size() != graph_.wanted.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (!is_plain(wanted[i]) || wanted[i].node->shape.size() == 0) return false;
    const Location base = plain_base_of(wanted[i].node.get());
    const Graph::Place& place = graph_.wanted[i];
    if (!base.node || base.offset != place.offset || !bind_item(place.item, *base.node)) return false;
  }
  return true;
}

bool KnownGraph::bind_stored(GraphItem& item) {
  const bool has_elements = item.node->has_elements();
  if (!has_elements && !item.node->is<HostValues>()) return false;
  item.lineage = item.node->value.lineage;
  return item.start == (has_elements ? item.node->value.offset : 0) && bind_few_numbers(item);
}

bool KnownGraph::bind_operands(const GraphItem& item, const Work& work) {
  const Node& node = *item.node;
  if (node.has_elements() || node.inputs.size() != item.operands.size() ||
      !is_same_work(node.operation, work.operation))
    return false;
  for (std::size_t i = 0; i < item.operands.size(); ++i) {
    const GraphItem::Operand& operand = item.operands[i];
    Node* input = node.inputs[i].get();
    if (input->shape != operand.shape) return false;
    if (operand.is_number()) {
      const Node* number = number_behind(input);
      if (!number || !bind_number(operand.number, *number)) return false;
      continue;
    }
    const Location base = plain_base_of(input);  // a number has other work than any item
    if (!base.node || base.offset != operand.offset || !bind_item(operand.item, *base.node)) return false;
  }
  return true;
}

bool KnownGraph::bind_item(int index, Node& node) {
  Node*& bound = graph_.items[known_index(index)].node;
  if (!bound) bound = &node;
  return bound == &node;
}

bool KnownGraph::bind_number(int index, const Node& node) {
  Graph::Constant& number = graph_.numbers[known_index(index)];
  const Node*& bound = number_nodes_[known_index(index)];
  if (!bound) number.value = std::get<Constant>(node.operation).value;
  bound = bound ? bound : &node;
  return bound == &node && number.dtype == node.dtype;
}

bool KnownGraph::bind_few_numbers(const GraphItem& item) {
  const std::span<const Number> numbers = few_numbers_of(item, few_numbers_);
  if (numbers.empty()) return item.first_number == GraphItem::none;
  if (item.first_number == GraphItem::none) return false;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    graph_.numbers[known_index(item.first_number) + i].value = numbers[i];
  return true;
}

std::uint64_t sketch_of(std::span<const Wanted> wanted) {
  constexpr int depth = 8;
  std::uint64_t sketch = wanted.size();
  const auto add = [&](std::uint64_t value) { sketch = (sketch ^ value) * 0x9e3779b97f4a7c15u; };
  for (const Wanted& one : wanted) {
    const Node* node = one.node.get();
    for (int i = 0; i < depth; ++i) {
      add(node->has_elements() ? ~std::uint64_t{0} : node->operation.index());
      add(static_cast<std::uint64_t>(node->shape.size()));
      if (node->has_elements() || node->inputs.empty()) break;
      if (const auto* pointwise = std::get_if<Pointwise>(&node->operation))
        add(std::hash<const void*>()(pointwise->op));
      if (const auto* family = std::get_if<Family>(&node->operation)) add(std::hash<const void*>()(family->entry));
      node = node->inputs[0].get();
    }
  }
  return sketch;
}

}  // namespace tessera

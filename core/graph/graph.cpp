#include "core/graph/graph.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace tessera {
namespace {

// Writes items as text. With `values`, operations on equal values have equal texts; without, operands are told apart by
// their places.
class ItemWriter {
 public:
  explicit ItemWriter(const Graph& graph, const std::vector<int>* values = nullptr) : graph_(graph), values_(values) {
    text_.reserve(values ? 64 : graph.items.size() * 16);
  }

  void write(const GraphItem& item) {
    text_.number(static_cast<std::int64_t>(item.dtype()));
    text_.list(item.shape().dims());
    if (item.is_stored) {
      text_.number(-1);
      text_.number(item.first_number);
      return text_.number(item.start);
    }
    tessera::write(*item.operation, text_);
    text_.number(item.number);
    text_.list(item.custom_outputs);
    for (const GraphItem::Operand& operand : item.operands) {
      text_.list(operand.shape.dims());
      text_.number(operand.offset);
      if (!operand.is_number()) {
        text_.number(values_ ? (*values_)[static_cast<std::size_t>(operand.item)] : operand.item);
      } else if (values_) {
        const auto& [value, dtype] = graph_.numbers[static_cast<std::size_t>(operand.number)];
        text_.number(-1 - std::int64_t{value.bits});
        text_.number(static_cast<std::int64_t>(dtype));
      } else {
        text_.number(-1 - operand.number);
      }
    }
  }
  void number(std::int64_t value) { text_.number(value); }
  template <class Range>
  void list(const Range& values) {
    text_.list(values);
  }
  std::string_view text() const { return text_.text(); }

 private:
  const Graph& graph_;
  const std::vector<int>* values_;
  WorkText text_;
};

bool is_number(const Node& node) { return node.is<Constant>() && !node.has_elements(); }

// The node has its elements, or gets them from the host or from each run of a program.
bool is_stored(const Node& node) {
  return node.has_elements() || node.is<HostValues>() || node.is<Placeholder>() || node.is<ProgramResult>();
}

void require_rebuildable(const Node& node) {
  if (!node.is<Computed>() || node.has_elements()) return;
  throw Error(ErrorCode::device_lost,
              "compute: the elements of a tensor of " + node.shape.to_string() + " " +
                  std::string(to_string(node.dtype)) +
                  " were lost with the device. They cannot be made again: they came from a texture or a buffer that "
                  "the host lent, or the context was made with survive_device_loss = false.");
}

class GraphBuilder {
 public:
  GraphBuilder(const ContextState& context, const Limits& limits) : context_(context), limits_(limits) {}

  Graph build(std::span<const Wanted> wanted) {
    for (const Wanted& one : wanted) {
      if (one.target) graph_.shown.push_back({graph_.wanted.size(), one.node->shape, one.target});
      const bool is_there = one.node->shape.size() == 0 || one.is_in_texels();
      graph_.wanted.push_back(is_there ? Graph::Place{} : add(one));
    }
    for (GraphItem& item : graph_.items) {
      const Buffer* buffer = item.is_stored ? item.node->value.buffer.get() : nullptr;
      graph_.note_overwritten(item, buffer && buffer->is_resident() ? &buffer->storage() : nullptr);
    }
    for (GraphItem& item : graph_.items)
      if (const auto* custom = item.as<Custom>()) note_outputs(item, *custom->call);
    for (const auto& [node, replacement] : replacements_)
      if (const Location base = base_of(replacement.get()); index_of_.contains(base.node))
        graph_.equals.push_back({node, {index_of_.at(base.node), base.offset}});
    return std::move(graph_);
  }

 private:
  // Follows views, folds constants, and replaces operations that this device cannot run.
  Location base_of(Node* node) {
    for (std::int64_t offset = 0;;) {
      if (node->has_elements()) return {node, offset};
      if (node->in_texels()) {
        node = three_channels(*node);
        continue;
      }
      require_rebuildable(*node);
      if (const auto* view = std::get_if<View>(&node->operation)) {
        offset += view->offset;
        node = node->inputs[0].get();
        continue;
      }
      const auto* family = std::get_if<Family>(&node->operation);
      if (family && !can_run(*family->entry)) {
        node = replacement(*node, *family->entry);
        continue;
      }
      if (node->is<Strided>())
        if (const Location behind = base_of_strided(node); is_number(*behind.node)) return behind;
      return {node, offset};
    }
  }

  bool can_run(const FamilyEntry& entry) const {
    if (!entry.lower) return true;
    if (entry.in_octets) return limits_.octets;
    return entry.is_cooperative ? limits_.workgroups : limits_.stores_in_turn;
  }

  // Follows strided views too: in whatever order they take elements, a number stays that number.
  Location base_of_strided(Node* node) {
    while (!node->has_elements() && (node->is<Strided>() || node->is<View>())) node = node->inputs[0].get();
    return {node, 0};
  }

  Node* replacement(Node& node, const FamilyEntry& entry) {
    NodePtr& lowered = replacements_[&node];
    if (!lowered) lowered = own(entry.lower(node));
    return lowered.get();
  }

  Node* three_channels(Node& node) {
    NodePtr& channels = replacements_[&node];
    if (!channels) channels = own(make_hold(three_channels_of(node.value.in_texels->node(context_))));
    return channels.get();
  }

  const NodePtr& own(Held held) {
    graph_.own_nodes.push_back(std::move(held));
    return graph_.own_nodes.back()->node(context_);
  }
  bool is_own(const Node* node) const {
    return std::ranges::any_of(graph_.own_nodes, [&](const Held& held) { return held->node(context_).get() == node; });
  }

  Graph::Place add(const Wanted& wanted) {
    Graph::Place place = add_elements(wanted.node.get());
    if (wanted.is_whole) place = whole(wanted.node, place);
    GraphItem& item = graph_.items[static_cast<std::size_t>(place.item)];
    if (item.shape().size() == wanted.node->shape.size()) item.layout = wanted.layout;
    is_wanted_.resize(graph_.items.size(), false);
    is_wanted_[static_cast<std::size_t>(place.item)] = true;
    place.is_for_kernels = wanted.is_for_kernels && place.offset == 0 && item.shape() == wanted.node->shape;
    return place;
  }

  // Adds a node's elements, which are stored even where they are all the same number.
  Graph::Place add_elements(Node* node) {
    const Location base = base_of(node);
    if (!is_number(*base.node)) {
      add_base(base.node);
      return {index_of_.at(base.node), base.offset};
    }
    Node* filled = node->shape.size() == base.node->shape.size() ? base.node : node;
    if (!index_of_.contains(filled))
      add_item({.node = filled,
                .operation = &base.node->operation,
                .is_stored = false,
                .number = number_of_constant(*base.node)});
    return {index_of_.at(filled), 0};
  }

  // Adds a node that is no view, after its inputs. Without recursion: graphs may be long.
  void add_base(Node* root) {
    struct Visit {
      Node* node;
      std::size_t next_input;
    };
    std::vector<Visit> path{{root, 0}};
    while (!path.empty()) {
      auto& [node, next_input] = path.back();
      if (index_of_.contains(node)) {
        path.pop_back();
      } else if (!is_stored(*node) && next_input < node->inputs.size()) {
        Node* input = base_of(node->inputs[next_input++].get()).node;
        if (!is_number(*input) && !index_of_.contains(input)) path.push_back({input, 0});
      } else {
        add_operation(node);
        path.pop_back();
      }
    }
  }

  void add_operation(Node* node) {
    GraphItem item{.node = node, .operation = &node->operation, .is_stored = is_stored(*node), .is_own = is_own(node)};
    if (item.is_stored) {
      item.lineage = node->is<Placeholder>() ? unknown_lineage : node->value.lineage;
      add_few_numbers(item);
      if (node->has_elements()) item.start = node->value.offset;
      else if (node->is<ProgramResult>()) graph_.runs.push_back(node);
      return add_item(std::move(item));
    }
    item.operands.reserve(node->inputs.size());
    for (const NodePtr& input : node->inputs)
      item.operands.push_back(item.is<Custom>() ? whole_operand(input) : operand(input.get()));
    item.lineage = item.is<Import>() ? unknown_lineage : lineage_after(graph_, item.operands);
    if (const auto* import = item.as<Import>()) item.source = import->pass->as_source();
    if (share(item)) return;
    const bool is_kept = item.part() == Part::step;
    const auto* custom = item.as<Custom>();
    add_item(std::move(item));
    if (is_kept) graph_.kept.push_back(index_of_.at(node));
    if (!custom) return;
    for (const std::weak_ptr<Node>& weak : custom->call->results)
      if (const NodePtr output = weak.lock(); output && output->is<Custom>() && !output->has_elements())
        if (!index_of_.contains(output.get())) add_operation(output.get());
  }

  // Kernels can take them as parameters.
  void add_few_numbers(GraphItem& item) {
    std::vector<Number> room;
    const std::span<const Number> numbers = few_numbers_of(item, room);
    if (numbers.empty()) return;
    item.first_number = static_cast<int>(graph_.numbers.size());
    for (const Number& number : numbers) graph_.numbers.push_back({number, item.dtype()});
  }

  void add_item(GraphItem item) {
    index_of_[item.node] = static_cast<int>(graph_.items.size());
    graph_.items.push_back(std::move(item));
  }

  GraphItem::Operand operand(Node* input) {
    const Location base = base_of(input);
    if (is_number(*base.node)) return {.shape = input->shape, .number = number_of_constant(*base.node)};
    return {.shape = input->shape, .item = index_of_.at(base.node), .offset = base.offset};
  }

  GraphItem::Operand whole_operand(const NodePtr& input) {
    return {.shape = input->shape, .item = whole(input, add_elements(input.get())).item};
  }

  // Adds a copy, with a storage of its own, where the elements lie within a storage.
  Graph::Place whole(const NodePtr& node, const Graph::Place& place) {
    if (place.offset + graph_.at(place.item).start == 0) return place;
    NodePtr& copy = copies_[node.get()];
    if (!copy) {
      copy = own(make_hold(copy_of(node)));
      add_operation(copy.get());
    }
    return {index_of_.at(copy.get()), 0};
  }

  int number_of_constant(const Node& node) {
    const auto [entry, is_new] = number_of_.try_emplace(&node, static_cast<int>(graph_.numbers.size()));
    if (is_new) graph_.numbers.push_back({std::get<Constant>(node.operation).value, node.dtype});
    return entry->second;
  }

  void note_outputs(GraphItem& item, const CustomCall& call) {
    for (const std::weak_ptr<Node>& weak : call.results) {
      const NodePtr result = weak.lock();
      const auto known = index_of_.find(result.get());
      const bool is_made = known != index_of_.end() && !graph_.at(known->second).is_stored;
      item.custom_outputs.push_back(is_made ? known->second : GraphItem::none);
    }
  }

  // ---- equal operations on equal values give equal values, which are numbered by the first item that has one

  // Lets an earlier item stand for this one if it has the same value, and computing that again would cost.
  bool share(const GraphItem& item) {
    if (!has_numbered_value(item)) return false;
    if (item.part() != Part::core && is_wanted_.empty()) return false;  // see is_worth_sharing
    number_values();
    ItemWriter writer(graph_, &values_);
    writer.write(item);
    const auto known =
        value_of_operation_.try_emplace(std::string(writer.text()), static_cast<int>(graph_.items.size()));
    const int value = known.first->second;
    if (known.second || !is_worth_sharing(value)) {
      values_.push_back(value);  // of the item, which is added next
      return false;
    }
    index_of_[item.node] = value;
    graph_.equals.push_back({item.node, {value, 0}});
    return true;
  }

  // Other values count as different from all else.
  static bool has_numbered_value(const GraphItem& item) { return !item.operands.empty() && item.part() != Part::step; }

  // Called late, since most graphs have nothing to share.
  void number_values() {
    for (std::size_t i = values_.size(); i < graph_.items.size(); ++i) {
      const auto own = static_cast<int>(i);
      if (!has_numbered_value(graph_.items[i])) {
        values_.push_back(own);
        continue;
      }
      ItemWriter writer(graph_, &values_);
      writer.write(graph_.items[i]);
      values_.push_back(value_of_operation_.try_emplace(std::string(writer.text()), own).first->second);
    }
  }

  // Pointwise work is done again rather than stored, unless it is stored anyway.
  bool is_worth_sharing(int index) const {
    const auto item = static_cast<std::size_t>(index);
    return graph_.at(index).part() == Part::core || (item < is_wanted_.size() && is_wanted_[item]);
  }

  const ContextState& context_;
  Limits limits_;
  Graph graph_;
  std::unordered_map<const Node*, int> index_of_, number_of_;
  std::unordered_map<Node*, NodePtr> replacements_, copies_;
  std::vector<bool> is_wanted_;  // by item, as far as there are wanted ones
  std::unordered_map<std::string, int> value_of_operation_;
  std::vector<int> values_;  // by item, as far as they are numbered
};

}  // namespace

Graph make_graph(const ContextState& context, std::span<const Wanted> wanted, const Limits& limits) {
  return GraphBuilder(context, limits).build(wanted);
}

int lineage_after(const Graph& graph, std::span<const GraphItem::Operand> operands) {
  int most = -1;
  for (const GraphItem::Operand& operand : operands) {
    const int lineage = operand.is_number() ? 0 : graph.at(operand.item).lineage;
    if (lineage == unknown_lineage) return unknown_lineage;
    most = std::max(most, lineage);
  }
  return most + 1;
}

std::span<const Number> few_numbers_of(const GraphItem& item, std::vector<Number>& room) {
  if (const auto* values = std::get_if<HostValues>(item.operation)) return room = values->few_numbers(item.dtype());
  const auto* computed = std::get_if<Computed>(item.operation);
  if (computed && !item.node->value.buffer->was_lent()) return computed->few_numbers;
  return {};
}

std::string signature_of(const Graph& graph) {
  ItemWriter writer(graph);
  for (const GraphItem& item : graph.items) writer.write(item);
  for (const Graph::Constant& constant : graph.numbers) writer.number(static_cast<std::int64_t>(constant.dtype));
  for (const Graph::Place& place : graph.wanted) {
    writer.number(place.item);
    writer.number(place.is_for_kernels);
  }
  std::string types = graph.is_half ? "half" : "";
  for (const Graph::Shown& shown : graph.shown) {
    writer.number(static_cast<std::int64_t>(shown.wanted));
    writer.list(shown.shape.dims());
    writer.number(graph.wanted[shown.wanted].offset);
    types += " " + shown.target->type() + (shown.target->takes_more_outputs() ? "+" : "");
  }
  for (const GraphItem& item : graph.items) {
    if (item.is_overwritten) types += "!";
    if (item.source) types += " " + item.source->type() + (item.source->is_filterable() ? "~" : "");
  }
  return std::string(writer.text()) + types;
}

void Graph::note_overwritten(GraphItem& item, const Storage* storage) const {
  item.is_overwritten = std::ranges::any_of(shown, [&](const Shown& each) {
    return (item.source && each.target->reads(*item.source)) || (storage && each.target->reads(*storage));
  });
}

NodePtr copy_of(const NodePtr& node) {
  Strided all{0, {{1, node->shape.size(), 1}}};
  return make_node(node->context, node->shape, node->dtype, std::move(all), std::vector{node});
}

Shape shape_in_texels(const Shape& of_three_channels) {
  std::vector<std::int64_t> dims(of_three_channels.dims().begin(), of_three_channels.dims().end());
  dims.back() = 4;
  return Shape(dims);
}

NodePtr three_channels_of(const NodePtr& in_texels) {
  std::vector<std::int64_t> dims(in_texels->shape.dims().begin(), in_texels->shape.dims().end());
  dims.back() = 3;
  Strided first_three{0, {{1, 3, 1}, {3, in_texels->shape.size() / 4, 4}}};
  return make_node(in_texels->context, Shape(dims), in_texels->dtype, std::move(first_three), std::vector{in_texels});
}

}  // namespace tessera

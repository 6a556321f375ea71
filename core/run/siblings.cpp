#include "core/run/siblings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace tessera {
namespace {

std::size_t number_of(int index) { return static_cast<std::size_t>(index); }

class Siblings {
 public:
  Siblings(const Graph& graph, const Limits& limits) : graph_(graph), limits_(limits) {
    readers_.resize(graph.items.size());
    may_join_.resize(graph.items.size());
    for (std::size_t i = 0; i < graph.items.size(); ++i) {
      for (const GraphItem::Operand& operand : graph.items[i].operands)
        if (!operand.is_number()) readers_[number_of(operand.item)].insert(static_cast<int>(i));
      const auto* family = graph.items[i].as<Family>();
      may_join_[i] = family && family->entry->joined && !graph.items[i].operands[0].is_number();
    }
    for (const Graph::Place& place : graph.wanted)
      if (place.item >= 0) may_join_[number_of(place.item)] = false;
    for (const int item : graph.kept) may_join_[number_of(item)] = false;
  }

  JoinedSiblings join() {
    if (std::ranges::count(may_join_, true) < 2) return {};
    find_levels();
    const int levels = 1 + *std::ranges::max_element(levels_);
    places_.resize(graph_.items.size());
    for (int level = 0; level < levels; ++level) add_level(level);
    if (!has_groups_) return {};
    add_rest();
    return std::move(joined_);
  }

 private:
  using Group = std::vector<int>;

  // Items of one level do not depend on each other: an item that may join has a higher one than all that it depends on.
  void find_levels() {
    for (std::size_t i = 0; i < graph_.items.size(); ++i) {
      int level = 0;
      for (const GraphItem::Operand& operand : graph_.items[i].operands)
        if (!operand.is_number()) level = std::max(level, levels_[number_of(operand.item)]);
      levels_.push_back(level + (may_join_[i] ? 1 : 0));
    }
  }

  // Those that may join come first, since they depend on lower levels alone.
  void add_level(int level) {
    std::map<std::string, Group, std::less<>> equals;
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (levels_[i] == level && may_join_[i]) equals[work_of(static_cast<int>(i))].push_back(static_cast<int>(i));
    for (const auto& [work, members] : equals) add_equals(members);
    for (std::size_t i = 0; i < graph_.items.size(); ++i)
      if (levels_[i] == level && !may_join_[i]) add_item(static_cast<int>(i));
  }

  // Equal for what one kernel can do.
  std::string work_of(int index) const {
    const GraphItem& item = graph_.at(index);
    WorkText text;
    write(*item.operation, text);
    text.list(item.shape().dims());
    text.list(item.operands[0].shape.dims());
    for (const DType dtype : {item.dtype(), graph_.at(item.operands[0].item).dtype()})
      text.number(static_cast<std::int64_t>(dtype));
    return std::string(text.text());
  }

  // The item that the only work on the result ends in, where that work could be part of the same kernel; else none.
  int end_of_work_on(int index) const {
    const std::int64_t elements = graph_.at(index).shape().size();
    int end = GraphItem::none;
    for (int next = index; readers_[number_of(next)].size() == 1;) {
      next = *readers_[number_of(next)].begin();
      if (graph_.at(next).part() != Part::line || graph_.at(next).shape().size() != elements) break;
      end = next;
    }
    return end;
  }

  // Joined siblings take one kernel, and one for each work on results that would have been part of theirs.
  bool saves_kernels(const Group& members) const {
    std::set<int> ends;
    for (const int index : members)
      if (const int end = end_of_work_on(index); end != GraphItem::none) ends.insert(end);
    return 1 + ends.size() < members.size();
  }

  // Whether they are part of the kernel of the work on all results.
  bool are_values_of_one(const Group& members) const {
    const int end = end_of_work_on(members[0]);
    return end != GraphItem::none && may_be_values(graph_.at(members[0]), members.size(), limits_) &&
           std::ranges::all_of(members, [&](int index) { return end_of_work_on(index) == end; });
  }

  // Tensors that a kernel of this item reads, where all pointwise work on its operand is part of it.
  int inputs_of(int index) const {
    std::set<int> seen{graph_.at(index).operands[0].item};
    std::vector<int> path(seen.begin(), seen.end());
    int inputs = 0;
    while (!path.empty()) {
      const GraphItem& item = graph_.at(path.back());
      path.pop_back();
      if (item.part() != Part::line && item.part() != Part::reordered) ++inputs;
      else
        for (const GraphItem::Operand& operand : item.operands)
          if (!operand.is_number() && seen.insert(operand.item).second) path.push_back(operand.item);
    }
    return inputs;
  }

  void add_equals(const Group& members) {
    if (members.size() == 1 || are_values_of_one(members) || !saves_kernels(members)) {
      for (const int index : members) add_item(index);
      return;
    }
    std::map<int, Group> by_operand;
    for (const int index : members) by_operand[moved(graph_.at(index).operands[0]).item].push_back(index);
    Group others;
    for (const auto& [operand, parts] : by_operand)
      if (parts.size() == 1 || !add_parts_of_one(parts)) others.insert(others.end(), parts.begin(), parts.end());
    // Neighbours of a fragment are in two rows, and often of two siblings, each of which takes its time for all of
    // them.
    const bool may_have_own_operands = limits_.workgroups && graph_.at(members[0]).shape().size() % 4 == 0;
    if (may_have_own_operands && !others.empty()) return add_with_own_operands(others);
    for (const int index : others) add_item(index);
  }

  // Where all operands are parts of one stored tensor, equally far apart.
  bool add_parts_of_one(Group members) {
    const auto operand_of = [&](int index) { return moved(graph_.at(index).operands[0]); };
    std::ranges::sort(members, {}, [&](int index) { return operand_of(index).offset; });
    const GraphItem::Operand first = operand_of(members[0]), second = operand_of(members[1]);
    if (joined_.graph.at(first.item).part() == Part::line) return false;
    const std::int64_t apart = second.offset - first.offset;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const GraphItem::Operand operand = operand_of(members[i]);
      if (operand.item != first.item || operand.offset != first.offset + static_cast<std::int64_t>(i) * apart)
        return false;
    }
    const auto count = static_cast<std::int64_t>(members.size());
    if (apart < first.shape.size()) return false;
    GraphItem::Operand all = first;
    all.shape = {apart * (count - 1) + first.shape.size()};
    return add_group(members, apart, {all});
  }

  // In as few kernels as can read from all operands, of which each has about as many.
  void add_with_own_operands(const Group& members) {
    Group group;
    int inputs = 0, all = 0;
    for (const int index : members) all += inputs_of(index);
    const int kernels = (all + limits_.max_inputs - 1) / limits_.max_inputs, fair = (all + kernels - 1) / kernels;
    const auto end_group = [&] {
      std::vector<GraphItem::Operand> operands;
      for (const int index : group) operands.push_back(moved(graph_.at(index).operands[0]));
      if (group.size() == 1 || !add_group(group, 0, std::move(operands)))
        for (const int index : group) add_item(index);
      group.clear();
      inputs = 0;
    };
    for (const int index : members) {
      const int more = inputs_of(index);
      if (inputs + more > limits_.max_inputs || inputs >= fair) end_group();
      group.push_back(index);
      inputs += more;
    }
    end_group();
  }

  bool add_group(const Group& members, std::int64_t apart, std::vector<GraphItem::Operand> operands) {
    const GraphItem& first = graph_.at(members[0]);
    const auto count = static_cast<std::int64_t>(members.size());
    const std::int64_t elements = first.shape().size();
    const Family& own = *first.as<Family>();
    std::optional<Family> family = own.entry->joined(own, {.count = count, .elements = elements, .apart = apart});
    if (!family) return false;
    family->siblings = static_cast<int>(count);
    joined_.nodes.push_back(
        std::make_shared<Node>(first.node->context, Shape{count, elements}, first.dtype(), std::move(*family)));
    GraphItem item = first;
    item.node = joined_.nodes.back().get();
    item.operation = &item.node->operation;
    item.operands = std::move(operands);
    for (const int index : members) item.lineage = std::max(item.lineage, graph_.at(index).lineage);
    for (std::size_t i = 0; i < members.size(); ++i)
      places_[number_of(members[i])] = {next_index(), static_cast<std::int64_t>(i) * elements};
    joined_.graph.items.push_back(std::move(item));
    joined_.items.push_back(members[0]);
    return has_groups_ = true;
  }

  void add_item(int index) {
    GraphItem item = graph_.at(index);
    for (GraphItem::Operand& operand : item.operands) operand = moved(operand);
    places_[number_of(index)] = {next_index(), 0};
    joined_.graph.items.push_back(std::move(item));
    joined_.items.push_back(index);
  }

  // All of the graph besides its items.
  void add_rest() {
    Graph& graph = joined_.graph;
    for (GraphItem& item : graph.items)
      for (int& output : item.custom_outputs)
        if (output >= 0) output = places_[number_of(output)].item;
    graph.numbers = graph_.numbers;
    graph.is_half = graph_.is_half;
    graph.shown = graph_.shown;
    graph.wanted = graph_.wanted;
    for (Graph::Place& place : graph.wanted)
      if (place.item >= 0) place.item = places_[number_of(place.item)].item;
    for (const int item : graph_.kept) graph.kept.push_back(places_[number_of(item)].item);
  }

  GraphItem::Operand moved(GraphItem::Operand operand) const {
    if (operand.is_number()) return operand;
    operand.offset += places_[number_of(operand.item)].offset;
    operand.item = places_[number_of(operand.item)].item;
    return operand;
  }

  int next_index() const { return static_cast<int>(joined_.graph.items.size()); }

  const Graph& graph_;
  const Limits& limits_;
  std::vector<std::set<int>> readers_;
  std::vector<bool> may_join_;
  std::vector<int> levels_;
  std::vector<Graph::Place> places_;  // of items, in the joined graph
  JoinedSiblings joined_;
  bool has_groups_ = false;
};

}  // namespace

void JoinedSiblings::name_items_as_before(Plan& plan, const Graph& before) const {
  const auto rename = [&](int& item) {
    if (item < 0) return;
    const auto own = item - static_cast<int>(items.size());  // a storage of the plan's own
    item = own < 0 ? items[number_of(item)] : static_cast<int>(before.items.size()) + own;
  };
  const auto rename_items_of = [&](Step& step) {
    rename(step.output);
    for (std::vector<int>* list : {&step.inputs, &step.last_uses, &step.custom_outputs})
      std::ranges::for_each(*list, rename);
    for (PixelResult& result : step.pixel_results) rename(result.item);
  };
  const auto is_group = [&](int item) {
    const auto* family = item < static_cast<int>(items.size()) ? graph.at(item).as<Family>() : nullptr;
    return family && family->siblings > 1;
  };
  // Nothing is tried on the storage of a group, which is larger than that of its first member.
  std::erase_if(plan.choices,
                [&](const StepChoice& choice) { return std::ranges::any_of(choice.step.inputs, is_group); });
  std::ranges::for_each(plan.steps, rename_items_of);
  for (StepChoice& choice : plan.choices) {
    rename_items_of(choice.step);
    rename(choice.storage);
  }
  std::ranges::for_each(plan.in_texels, rename);
  std::ranges::for_each(plan.stored, rename);
}

bool may_be_values(const GraphItem& item, std::size_t count, const Limits& limits) {
  // Of software, a dispatch takes as long as some thousand elements.
  const std::int64_t most = limits.cores > 0 ? 16384 : 1024;
  const auto* family = item.as<Family>();
  return family && family->entry->joined && family->siblings == 1 && !item.operands[0].is_number() &&
         static_cast<std::int64_t>(count) * item.operands[0].shape.size() <= most * item.shape().size();
}

JoinedSiblings join_siblings(const Graph& graph, const Limits& limits) { return Siblings(graph, limits).join(); }

}  // namespace tessera

#include "core/run/fuse.h"

#include <algorithm>

#include "core/run/block_plan.h"
#include "core/run/pixel_plan.h"
#include "core/run/siblings.h"
#include "core/run/step_order.h"
#include "core/run/step_variants.h"
#include "core/run/step_writer.h"

namespace tessera {
namespace {

// Drivers compile straight-line code in more than linear time.
constexpr int max_lines = 512;
constexpr int max_terms = Shape::max_rank, max_core_words = 64;

constexpr int none = -1, several = -2;

// An item is computed in the kernel that the item `kernel` heads, for the operand `operand` of its core or its result.
struct Place {
  int kernel = none, operand = KernelInput::none;
  bool operator==(const Place&) const = default;
};

// An operand that a kernel reads, unless it becomes part of the kernel itself.
struct Edge {
  const GraphItem::Operand* read;
  const GraphItem* reader;
  int operand;
};

// An item of the graph on its way into a kernel.
struct Member {
  Member(const GraphItem& graph_item, bool elsewhere, bool wanted = false)
      : item(&graph_item), is_elsewhere(elsewhere), is_wanted(wanted) {}

  const GraphItem* item;
  bool is_elsewhere;  // stored already, or computed by pixel kernels
  bool is_wanted;
  Place place{};   // the item itself is the kernel where it gets a storage
  Place reader{};  // the only place that reads it; its kernel may be none, so far, or several
  // These are the kernel's, where the member heads one:
  int lines = 0;
  std::vector<int> cores{};   // several: see KernelCore::values
  std::vector<Edge> edges{};  // reads of the kernel so far
};

class Fuser {
 public:
  // Items that are taken are computed elsewhere.
  Fuser(const Graph& graph, const Limits& limits, const PixelPlan& pixels) : graph_(graph), limits_(limits) {
    for (std::size_t i = 0; i < graph.items.size(); ++i)
      members_.emplace_back(graph.items[i], graph.items[i].is_stored || pixels.is_taken[i]);
    for (const int index : graph.kept) member(index).is_wanted = true;
    for (std::size_t i = 0; i < graph.wanted.size(); ++i)
      if (graph.wanted[i].item != none && !graph.is_shown(i)) member(graph.wanted[i].item).is_wanted = true;
    for (const Step& step : pixels.steps)
      for (const int input : step.inputs)
        if (input < static_cast<int>(members_.size())) member(input).is_wanted = true;
  }

  Plan plan() {
    constexpr int most_attempts = 4;
    for (int attempt = 1;; ++attempt) {
      is_cautious_.resize(members_.size(), false);
      if (attempt == most_attempts) is_cautious_.assign(members_.size(), true);
      for (Member& each : members_) each = Member(*each.item, each.is_elsewhere, each.is_wanted);
      for (int i = static_cast<int>(members_.size()) - 1; i >= 0; --i) choose_place(i);
      if (!has_overgrown()) return build_steps();
    }
  }

 private:
  Member& member(int index) { return members_[static_cast<std::size_t>(index)]; }

  // Goes from readers to what they read: an item joins the only place that reads it if both go over the same elements
  // and the kernel stays within the device's limits.
  void choose_place(int index) {
    Member& each = member(index);
    const bool is_needed = each.is_wanted || each.reader.kernel != none;  // else an equal item took its reader's place
    if (each.is_elsewhere || !is_needed) return;
    each.place = !each.is_wanted && each.reader.kernel >= 0 && may_join(index, each.reader)
                     ? each.reader
                     : Place{index, KernelInput::none};
    Member& head = member(each.place.kernel);
    head.edges = edges_with(head, index, each.place.operand);
    head.lines += lines_of(*each.item);
    note_readers(each);
    if (each.item->part() == Part::core) head.cores.push_back(index);
  }

  void note_readers(const Member& each) {
    const auto* family = each.item->as<Family>();
    for (std::size_t i = 0; i < each.item->operands.size(); ++i) {
      const GraphItem::Operand& read = each.item->operands[i];
      if (read.is_number()) continue;
      Place reader = each.place;
      if (family) reader.operand = first_operand_of_next_core(member(each.place.kernel)) + static_cast<int>(i);
      // An operand stays in a storage if it is read out of order, in part, or again and again.
      const bool reads_once = !family || family->entry->reads_once || family->reads_once;
      if (each.item->part() == Part::reordered || each.item->part() == Part::step || !reads_once ||
          read.shape.size() != graph_.at(read.item).shape().size())
        reader.kernel = several;
      Place& known = member(read.item).reader;
      if (known.kernel == none) known = reader;
      else if (known != reader) known.kernel = several;
    }
  }

  bool may_join(int index, const Place& place) {
    const GraphItem& item = graph_.at(index);
    const Member& head = member(place.kernel);
    const bool is_result = place.operand == KernelInput::none;
    const bool is_core = item.part() == Part::core;
    if (item.part() == Part::step || (is_core && (!is_result || !may_be_core(item, head)))) return false;
    const std::int64_t elements = is_result ? head.item->shape().size() : elements_of_operand(head, place.operand);
    const bool same_elements = item.shape().size() == elements || (item.shape().size() == 1 && !is_core);
    return same_elements && head.lines + lines_of(item) <= lines_limit() &&
           inputs_of(edges_with(head, index, place.operand), place.kernel, index) <= limits_.max_inputs;
  }

  // The first core of the kernel, or one more value of it.
  bool may_be_core(const GraphItem& item, const Member& head) {
    if (head.cores.empty()) return true;
    const GraphItem& first = graph_.at(head.cores[0]);
    const auto dtype_read = [&](const GraphItem& core) { return graph_.at(core.operands[0].item).dtype(); };
    return may_be_values(first, head.cores.size() + 1, limits_) && may_be_values(item, 1, limits_) &&
           is_same_work(*first.operation, *item.operation) && first.dtype() == item.dtype() &&
           dtype_read(first) == dtype_read(item);
  }

  // Cores of a kernel have an operand each, if there are several.
  static int first_operand_of_next_core(const Member& head) { return static_cast<int>(head.cores.size()); }
  std::int64_t elements_of_operand(const Member& head, int operand) {
    const auto number = static_cast<std::size_t>(operand);
    return head.cores.size() > 1 ? graph_.at(head.cores[number]).operands[0].shape.size()
                                 : graph_.at(head.cores[0]).operands[number].shape.size();
  }

  // The least number of inputs of the kernel. Items whose turn is still to come may yet become part of it: a wide graph
  // on few tensors has many such edges on the way. A cautious kernel counts them as inputs.
  int inputs_of(const std::vector<Edge>& edges, int kernel, int index) {
    if (is_cautious_[static_cast<std::size_t>(kernel)]) return static_cast<int>(edges.size());
    return static_cast<int>(std::count_if(edges.begin(), edges.end(), [&](const Edge& edge) {
      const Member& read = member(edge.read->item);
      return edge.read->item > index || read.is_elsewhere || read.is_wanted || read.reader.kernel == several;
    }));
  }

  // Kernels that got more inputs than they may have are cautious in the next attempt.
  bool has_overgrown() {
    bool has_new = false;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (static_cast<int>(members_[i].edges.size()) <= limits_.max_inputs || is_cautious_[i]) continue;
      is_cautious_[i] = has_new = true;
    }
    return has_new;
  }

  // An item takes a line, and one for each number among its operands.
  static int lines_of(const GraphItem& item) {
    return 1 + static_cast<int>(std::ranges::count_if(item.operands, &GraphItem::Operand::is_number));
  }
  int lines_limit() const {
    return std::min(max_lines, limits_.max_words - 1 - max_core_words - limits_.max_inputs * (1 + 3 * max_terms));
  }

  std::vector<Edge> edges_with(const Member& head, int index, int operand) {
    const GraphItem& item = graph_.at(index);
    std::vector<Edge> edges = head.edges;
    std::erase_if(edges, [&](const Edge& edge) { return edge.read->item == index; });
    for (std::size_t i = 0; i < item.operands.size(); ++i) {
      const Edge edge{&item.operands[i], &item,
                      item.part() == Part::core ? first_operand_of_next_core(head) + static_cast<int>(i) : operand};
      if (edge.read->is_number()) continue;
      const bool is_known = std::any_of(edges.begin(), edges.end(), [&](const Edge& before) {
        return *before.read == *edge.read && before.operand == edge.operand && before.reader->shape() == item.shape() &&
               item.part() != Part::reordered;
      });
      if (!is_known) edges.push_back(edge);
    }
    return edges;
  }

  Plan build_steps();

  const Graph& graph_;
  Limits limits_;
  std::vector<Member> members_;
  std::vector<bool> is_cautious_;  // by the item that heads the kernel
};

Step own_step(const GraphItem& item, int index) {
  Step step{.output = index, .custom_outputs = item.custom_outputs};
  for (const GraphItem::Operand& operand : item.operands) {
    step.inputs.push_back(operand.item);
    step.operand_elements.push_back(operand.shape.size());
  }
  return step;
}

Plan Fuser::build_steps() {
  Plan plan;
  std::vector<int> line_of_item(members_.size(), none);
  std::vector<std::vector<int>> kernels(members_.size());  // by their heads: the items in them
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (const int kernel = members_[i].place.kernel; kernel != none)
      kernels[static_cast<std::size_t>(kernel)].push_back(static_cast<int>(i));
  for (std::size_t head = 0; head < kernels.size(); ++head) {
    if (kernels[head].empty()) continue;
    const auto output = static_cast<int>(head);
    const GraphItem& item = graph_.at(output);
    if (item.part() == Part::step) {
      const bool is_first = std::ranges::none_of(plan.steps, [&](const Step& step) {
        return std::ranges::find(step.custom_outputs, output) != step.custom_outputs.end();
      });
      if (is_first) plan.steps.push_back(own_step(item, output));
      continue;
    }
    StepWriter writer(graph_, line_of_item);
    const std::vector<int>& cores = members_[head].cores;
    for (const int part : kernels[head]) {
      const auto core = std::ranges::find(cores, part);
      if (core != cores.end()) writer.write_core(part, static_cast<int>(core - cores.begin()));
      else writer.write(part, member(part).place.operand);
    }
    plan.steps.push_back(writer.finish(output));
    for (const int part : kernels[head]) line_of_item[static_cast<std::size_t>(part)] = none;
    plan.ops_fused += kernels[head].size() - 1;
  }
  return plan;
}

// Puts steps after those whose results they read.
void sort_steps(Plan& plan, std::size_t storages) {
  std::vector<int> writer(storages, none);
  for (std::size_t i = 0; i < plan.steps.size(); ++i)
    for (const int output : Plan::outputs_of(plan.steps[i]))
      writer[static_cast<std::size_t>(output)] = static_cast<int>(i);
  std::vector<Step> sorted;
  std::vector<bool> is_visited(plan.steps.size(), false);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    std::vector<int> path{static_cast<int>(i)};
    while (!path.empty()) {
      const auto index = static_cast<std::size_t>(path.back());
      Step& step = plan.steps[index];
      const auto missing = std::ranges::find_if(step.inputs, [&](int input) {
        const int from = writer[static_cast<std::size_t>(input)];  // itself where it imports a host's texture
        return from != none && from != path.back() && !is_visited[static_cast<std::size_t>(from)];
      });
      if (!is_visited[index] && missing != step.inputs.end()) {
        path.push_back(writer[static_cast<std::size_t>(*missing)]);
        continue;
      }
      path.pop_back();
      if (is_visited[index]) continue;
      is_visited[index] = true;
      sorted.push_back(std::move(step));
    }
  }
  plan.steps = std::move(sorted);
}

// Notes which items each step is the last to read. Runs do nothing for items that are neither read nor stored, so that
// a kernel of many operations costs no more than one of few.
void note_uses(Plan& plan, const Graph& graph) {
  for (std::size_t i = 0; i < graph.items.size(); ++i)
    if (graph.items[i].is_stored) plan.stored.push_back(static_cast<int>(i));
  std::vector<bool> is_needed_later = outlives_plan(graph, plan);
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step)
    for (const int input : step->inputs) {
      if (is_needed_later[static_cast<std::size_t>(input)]) continue;
      is_needed_later[static_cast<std::size_t>(input)] = true;
      step->last_uses.push_back(input);
    }
}

}  // namespace

std::vector<int> Plan::outputs_of(const Step& step) {
  std::vector<int> outputs;
  for (const PixelResult& result : step.pixel_results) outputs.push_back(result.item);
  if (!step.pixel_kernel) outputs = step.custom_outputs.empty() ? std::vector{step.output} : step.custom_outputs;
  std::erase_if(outputs, [](int output) { return output < 0; });
  return outputs;
}

namespace {

Plan plan_of(const Graph& graph, const Limits& limits, const ChooseVariant& choose) {
  PixelPlan pixels = plan_pixels(graph, limits);
  Plan plan = Fuser(graph, limits, pixels).plan();
  if (!pixels.steps.empty()) {
    std::ranges::move(pixels.steps, std::back_inserter(plan.steps));
    sort_steps(plan, graph.items.size() + pixels.own_storages.size());
  }
  plan.own_storages = std::move(pixels.own_storages);
  plan_blocks(plan, graph, limits, choose);
  share_out_among_cores(plan, limits);
  take_variants(plan, graph, limits, choose);
  run_late(plan, graph);
  plan.ops_fused += pixels.ops_fused;
  for (const Step& step : plan.steps)
    for (const PixelResult& result : step.pixel_results)
      if (result.in_texels) plan.in_texels.push_back(result.item);
  note_uses(plan, graph);
  return plan;
}

}  // namespace

std::vector<bool> outlives_plan(const Graph& graph, const Plan& plan) {
  std::vector<bool> outlives(graph.items.size() + plan.own_storages.size(), false);
  for (std::size_t i = 0; i < graph.items.size(); ++i) outlives[i] = graph.items[i].is_stored;
  for (const int item : graph.kept) outlives[static_cast<std::size_t>(item)] = true;
  for (std::size_t i = 0; i < graph.wanted.size(); ++i)
    if (const int item = graph.wanted[i].item; item >= 0 && !graph.is_shown(i))
      outlives[static_cast<std::size_t>(item)] = true;
  return outlives;
}

void write_words(std::vector<std::uint32_t>& words, const Step& step, const Graph& graph) {
  words = step.words;
  const std::size_t first_number = step.words.size() - step.numbers.size();
  for (std::size_t i = 0; i < step.numbers.size(); ++i)
    words[first_number + i] = graph.numbers[static_cast<std::size_t>(step.numbers[i])].value.bits;
}

Plan make_plan(const Graph& graph, const Limits& limits, const ChooseVariant& choose) {
  const JoinedSiblings joined = join_siblings(graph, limits);
  if (joined.graph.items.empty()) return plan_of(graph, limits, choose);
  Plan plan = plan_of(joined.graph, limits, choose);
  joined.name_items_as_before(plan, graph);
  return plan;
}

}  // namespace tessera

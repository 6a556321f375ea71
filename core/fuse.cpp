#include "core/fuse.h"

#include <algorithm>

#include "core/step_writer.h"

namespace tessera {
namespace {

// Drivers compile straight-line code in more than linear time.
constexpr int max_lines = 512;
constexpr int max_terms = Shape::max_rank, max_core_words = 64;

constexpr int none = -1, several = -2;

// Where a node is computed: in the kernel of the item `kernel`, for the operand `operand` of its core or for its
// result.
struct Place {
  int kernel = none, operand = KernelInput::none;
  bool operator==(const Place&) const = default;
};

// Something that a kernel reads, unless it becomes part of the kernel itself.
struct Edge {
  Node* read;
  const Node* reader;
  int operand;
};

struct Item {
  explicit Item(Node* its_node, bool is_wanted = false) : node(its_node), wanted(is_wanted) {}

  Node* node;
  bool wanted;
  Place place;   // its kernel is the item itself where it gets a storage
  Place reader;  // the one place that reads it; kernel: none, where nothing does yet, or several
  // Of an item that heads a kernel:
  int lines = 0, core = none;
  std::vector<Edge> edges;  // what the kernel reads, as far as it has grown
};

bool has_work(const Node& node) { return !is_stored(node); }
bool is_pointwise(const Node& node) { return !node.buffer && (node.is<Pointwise>() || node.is<Cast>()); }

class Fuser {
 public:
  Fuser(const Graph& graph, const Limits& limits) : limits_(limits) {
    for (Node* node : graph.items().items) items_.emplace_back(node);
    for (const auto* kept : {&graph.items().wanted, &graph.items().kept})
      for (const int index : *kept) item(index).wanted = true;
  }

  Plan plan() {
    constexpr int most_attempts = 4;
    for (int attempt = 1;; ++attempt) {
      is_cautious_.resize(items_.size(), false);
      if (attempt == most_attempts) is_cautious_.assign(items_.size(), true);
      for (Item& it : items_) it = Item(it.node, it.wanted);
      for (int i = static_cast<int>(items_.size()) - 1; i >= 0; --i) choose_place(i);
      if (!has_overgrown()) return build_steps();
    }
  }

 private:
  Item& item(int index) { return items_[static_cast<std::size_t>(index)]; }

  // Readers come before what they read here: an item joins the place that reads it if there is just that one, if both
  // go over the same elements, and if the kernel stays within the device's limits.
  void choose_place(int index) {
    Item& it = item(index);
    const bool is_needed = it.wanted || it.reader.kernel != none;  // else its reader turned out to be another's equal
    if (!has_work(*it.node) || !is_needed) return;
    it.place =
        !it.wanted && it.reader.kernel >= 0 && may_join(index, it.reader) ? it.reader : Place{index, KernelInput::none};
    Item& head = item(it.place.kernel);
    head.edges = edges_with(head, index, it.place.operand);
    head.lines += lines_of(*it.node);
    if (it.node->is<Family>()) head.core = index;
    note_readers(it);
  }

  void note_readers(const Item& it) {
    const auto* family = std::get_if<Family>(&it.node->operation);
    for (std::size_t i = 0; i < it.node->inputs.size(); ++i) {
      const Node& read = *it.node->inputs[i];
      const Node* base = stored(it.node->inputs[i].get()).node;
      if (is_number(*base) && !it.node->is<Custom>()) continue;
      Place reader = it.place;
      if (family) reader.operand = static_cast<int>(i);
      // Elements out of order, a part of them, or elements that are read again and again, are read from a storage.
      const bool reads_once = !family || family->entry->reads_once || family->reads_once;
      if (it.node->is<Strided>() || it.node->is<Custom>() || !reads_once || read.shape.size() != base->shape.size())
        reader.kernel = several;
      Place& known = item(base->plan_index).reader;
      if (known.kernel == none) known = reader;
      else if (known != reader) known.kernel = several;
    }
  }

  bool may_join(int index, const Place& place) {
    const Node& node = *item(index).node;
    const Item& head = item(place.kernel);
    const bool is_result = place.operand == KernelInput::none;
    if (node.is<Family>() ? !is_result || head.core != none : !is_pointwise(node) && !node.is<Strided>()) return false;
    const std::int64_t elements =
        is_result ? head.node->shape.size()
                  : item(head.core).node->inputs[static_cast<std::size_t>(place.operand)]->shape.size();
    const bool same_elements = node.shape.size() == elements || (node.shape.size() == 1 && !node.is<Family>());
    return same_elements && head.lines + lines_of(node) <= lines_limit() &&
           inputs_of(edges_with(head, index, place.operand), place.kernel, index) <= limits_.max_inputs;
  }

  // How many inputs the kernel has for sure. What is read may yet become part of it, if its turn is still to come: a
  // wide graph on few tensors has many such edges on the way. A cautious kernel counts on nothing.
  int inputs_of(const std::vector<Edge>& edges, int kernel, int index) {
    if (is_cautious_[static_cast<std::size_t>(kernel)]) return static_cast<int>(edges.size());
    return static_cast<int>(std::count_if(edges.begin(), edges.end(), [&](const Edge& edge) {
      const Node& base = *stored(edge.read).node;
      const Item& it = item(base.plan_index);
      return base.plan_index > index || !has_work(base) || it.wanted || it.reader.kernel == several;
    }));
  }

  // Whether kernels hoped in vain, and are to be cautious.
  bool has_overgrown() {
    bool found = false;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (static_cast<int>(items_[i].edges.size()) <= limits_.max_inputs || is_cautious_[i]) continue;
      is_cautious_[i] = found = true;
    }
    return found;
  }

  // Its own line, and one for each number among its operands.
  static int lines_of(const Node& node) {
    return 1 + static_cast<int>(std::count_if(node.inputs.begin(), node.inputs.end(), [](const NodePtr& input) {
             return is_number(*stored(input.get()).node);
           }));
  }
  int lines_limit() const {
    return std::min(max_lines, limits_.max_words - 1 - max_core_words - limits_.max_inputs * (1 + 3 * max_terms));
  }

  std::vector<Edge> edges_with(const Item& head, int index, int operand) {
    Node& node = *item(index).node;
    std::vector<Edge> edges = head.edges;
    std::erase_if(edges, [&](const Edge& edge) { return stored(edge.read).node == &node; });
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Edge edge{node.inputs[i].get(), &node, node.is<Family>() ? static_cast<int>(i) : operand};
      if (is_number(*stored(edge.read).node)) continue;
      const bool known = std::any_of(edges.begin(), edges.end(), [&](const Edge& other) {
        return other.read == edge.read && other.operand == edge.operand && other.reader->shape == node.shape &&
               !node.is<Strided>();
      });
      if (!known) edges.push_back(edge);
    }
    return edges;
  }

  Plan build_steps();

  Limits limits_;
  std::vector<Item> items_;
  std::vector<bool> is_cautious_;  // by the item that heads the kernel
};

Step custom_step(const Node& output, const CustomCall& call) {
  Step step{.output = output.plan_index};
  for (const NodePtr& input : output.inputs) {
    step.inputs.push_back(stored(input.get()).node->plan_index);
    step.operand_elements.push_back(input->shape.size());
  }
  for (const std::weak_ptr<Node>& weak : call.results) {
    const NodePtr result = weak.lock();
    step.custom_outputs.push_back(result && has_work(*result) ? result->plan_index : none);
  }
  return step;
}

Plan Fuser::build_steps() {
  Plan plan;
  std::vector<int> line_of_item(items_.size(), none);
  std::vector<std::vector<Item*>> members(items_.size());
  for (Item& it : items_)
    if (it.place.kernel != none) members[static_cast<std::size_t>(it.place.kernel)].push_back(&it);
  for (std::size_t head = 0; head < items_.size(); ++head) {
    if (members[head].empty()) continue;
    Node& output = *items_[head].node;
    if (output.is<HostValues>()) {
      plan.uploads.push_back(output.plan_index);
      continue;
    }
    if (output.is<Import>()) {
      plan.steps.push_back({.output = output.plan_index});
      continue;
    }
    if (const auto* custom = std::get_if<Custom>(&output.operation)) {
      const bool is_first = std::ranges::none_of(plan.steps, [&](const Step& step) {
        return std::ranges::find(step.custom_outputs, output.plan_index) != step.custom_outputs.end();
      });
      if (is_first) plan.steps.push_back(custom_step(output, *custom->call));
      continue;
    }
    StepWriter writer(line_of_item);
    for (const Item* member : members[head]) writer.write(*member->node, member->place.operand);
    plan.steps.push_back(writer.finish(output));
    for (const Item* member : members[head]) line_of_item[static_cast<std::size_t>(member->node->plan_index)] = none;
    plan.ops_fused += members[head].size() - 1;
  }
  return plan;
}

// Which items each step is the last to read.
void note_last_uses(Plan& plan, std::size_t items) {
  std::vector<bool> is_read_later(items, false);
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step)
    for (const int input : step->inputs) {
      if (is_read_later[static_cast<std::size_t>(input)]) continue;
      is_read_later[static_cast<std::size_t>(input)] = true;
      step->last_uses.push_back(input);
    }
}

}  // namespace

Plan make_plan(const Graph& graph, const Limits& limits) {
  Plan plan = Fuser(graph, limits).plan();
  note_last_uses(plan, graph.items().items.size());
  return plan;
}

}  // namespace tessera

#include "core/fuse.h"

#include <algorithm>

#include "core/step_writer.h"

namespace tessera {
namespace {

// Drivers compile straight-line code in more than linear time.
constexpr int max_lines = 512;
constexpr int max_terms = Shape::max_rank, max_core_words = 64;

constexpr int none = -1, several = -2;

// Where a node is computed: in the kernel of the item `kernel`, for the operand `operand` of its core or for its result.
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
  explicit Item(Node* its_node) : node(its_node) {}

  Node* node;
  Place place;   // its kernel is the item itself where it gets a storage
  Place reader;  // the one place that reads it; kernel: none, where nothing does yet, or several
  bool wanted = false;
  // Of an item that heads a kernel:
  int lines = 0, core = none;
  std::vector<Edge> edges;  // what the kernel reads, as far as it has grown
};

bool has_work(const Node& node) { return !node.buffer && node.shape.size() != 0; }
bool is_pointwise(const Node& node) { return !node.buffer && (node.is<Pointwise>() || node.is<Cast>()); }

// What an operation costs nothing for, or cannot do on this device, is replaced by what it stands for.
Node* lowered(Node* node, const Limits& limits) {
  for (;;) {
    if (node->buffer) return node;
    const auto* family = std::get_if<Family>(&node->operation);
    if (family && family->entry->lower && !limits.workgroups) {
      NodePtr same = family->entry->lower(*node);
      node->operation = View{};
      node->inputs = {std::move(same)};
    }
    if (!node->is<View>()) return node;
    node = node->inputs[0].get();
  }
}

// Inputs first, each node once, without recursion. Views and constants are no items: they cost nothing.
std::vector<Item> in_order(std::span<const NodePtr> wanted, const Limits& limits) {
  std::vector<Item> items;
  struct Visit {
    Node* node;
    std::size_t next_input;
  };
  std::vector<Visit> path;
  const auto enter = [&](Node* node) {
    if (node->plan_index == none && node->shape.size() != 0) path.push_back({node, 0});
  };
  for (const NodePtr& root : wanted) {
    enter(lowered(root.get(), limits));
    while (!path.empty()) {
      auto& [node, next_input] = path.back();
      if (node->plan_index != none) {
        path.pop_back();
      } else if (!node->buffer && next_input < node->inputs.size()) {
        Node* input = lowered(node->inputs[next_input++].get(), limits);
        if (!input->is<Constant>() || input->buffer) enter(input);
      } else {
        node->plan_index = static_cast<int>(items.size());
        items.emplace_back(node);
        path.pop_back();
      }
    }
  }
  return items;
}

class Fuser {
 public:
  Fuser(std::span<const NodePtr> wanted, const Limits& limits) : limits_(limits), items_(in_order(wanted, limits)) {
    for (const NodePtr& root : wanted) {
      const int index = storage_node(root.get())->plan_index;
      if (index != none) item(index).wanted = true;
    }
  }
  ~Fuser() {
    for (const Item& it : items_) it.node->plan_index = none;
  }
  Fuser(const Fuser&) = delete;
  Fuser& operator=(const Fuser&) = delete;

  Plan plan() {
    for (int i = static_cast<int>(items_.size()) - 1; i >= 0; --i) choose_place(i);
    return build_steps();
  }

 private:
  Item& item(int index) { return items_[static_cast<std::size_t>(index)]; }

  // Readers come before what they read here: an item joins the place that reads it if there is just that one, if both go
  // over the same elements, and if the kernel stays within the device's limits.
  void choose_place(int index) {
    Item& it = item(index);
    if (!has_work(*it.node)) return;
    it.place = !it.wanted && it.reader.kernel >= 0 && may_join(index, it.reader) ? it.reader : Place{index, KernelInput::none};
    Item& head = item(it.place.kernel);
    head.edges = edges_with(head, index, it.place.operand);
    head.lines += lines_of(*it.node);
    if (it.node->is<Family>()) head.core = index;
    note_readers(it);
  }

  void note_readers(const Item& it) {
    const auto* family = std::get_if<Family>(&it.node->operation);
    for (std::size_t i = 0; i < it.node->inputs.size(); ++i) {
      const int read = storage_node(it.node->inputs[i].get())->plan_index;
      if (read == none) continue;
      Place reader = it.place;
      if (family) reader.operand = static_cast<int>(i);
      // Elements out of order, or read again and again, are read from a storage.
      if (it.node->is<Strided>() || (family && !family->entry->reads_once)) reader.kernel = several;
      Place& known = item(read).reader;
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
        is_result ? head.node->shape.size() : item(head.core).node->inputs[static_cast<std::size_t>(place.operand)]->shape.size();
    const bool same_elements = node.shape.size() == elements || (node.shape.size() == 1 && !node.is<Family>());
    return same_elements && head.lines + lines_of(node) <= lines_limit() &&
           static_cast<int>(edges_with(head, index, place.operand).size()) <= limits_.max_inputs;
  }

  // Its own line, and one for each number among its operands.
  static int lines_of(const Node& node) {
    return 1 + static_cast<int>(std::count_if(node.inputs.begin(), node.inputs.end(), [](const NodePtr& input) {
             return storage_node(input.get())->plan_index == none;
           }));
  }
  int lines_limit() const {
    return std::min(max_lines, limits_.max_words - 1 - max_core_words - limits_.max_inputs * (1 + 3 * max_terms));
  }

  std::vector<Edge> edges_with(const Item& head, int index, int operand) {
    Node& node = *item(index).node;
    std::vector<Edge> edges = head.edges;
    std::erase_if(edges, [&](const Edge& edge) { return storage_node(edge.read) == &node; });
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Edge edge{node.inputs[i].get(), &node, node.is<Family>() ? static_cast<int>(i) : operand};
      if (storage_node(edge.read)->plan_index == none) continue;
      const bool known = std::any_of(edges.begin(), edges.end(), [&](const Edge& other) {
        return other.read == edge.read && other.operand == edge.operand && other.reader->shape == node.shape && !node.is<Strided>();
      });
      if (!known) edges.push_back(edge);
    }
    return edges;
  }

  Plan build_steps();

  Limits limits_;
  std::vector<Item> items_;
};

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
      plan.uploads.push_back(&output);
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

}  // namespace

Node* storage_node(Node* node) {
  while (!node->buffer && node->is<View>()) node = node->inputs[0].get();
  return node;
}

Plan make_plan(std::span<const NodePtr> wanted, const Limits& limits) { return Fuser(wanted, limits).plan(); }

}  // namespace tessera

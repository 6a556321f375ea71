#include "core/fuse.h"

#include <algorithm>

namespace tessera {
namespace {

// Drivers compile straight-line code in more than linear time.
constexpr int max_lines = 512;
constexpr int max_terms = Shape::max_rank;

constexpr int none = -1, several = -2;

struct Item {
  explicit Item(Node* its_node) : node(its_node) {}

  Node* node;
  int kernel = none;  // the item that is computed by the kernel this one is part of; itself, where it gets a storage
  int reader = none;  // the kernel that reads this item: one, several or none yet
  bool wanted = false;
  // Of an item that heads a kernel:
  int lines = 0;
  std::vector<int> frontier;  // items the kernel reads, as far as it has grown
};

bool has_work(const Node& node) { return !node.buffer && node.shape.size() != 0; }
bool is_pointwise(const Node& node) { return !node.buffer && (node.is<Pointwise>() || node.is<Cast>()); }

// Inputs first, each node once, without recursion. Views and constants are no items: they cost nothing.
std::vector<Item> in_order(std::span<const NodePtr> wanted) {
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
    enter(storage_node(root.get()));
    while (!path.empty()) {
      auto& [node, next_input] = path.back();
      if (node->plan_index != none) {
        path.pop_back();
      } else if (!node->buffer && next_input < node->inputs.size()) {
        Node* input = storage_node(node->inputs[next_input++].get());
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
  Fuser(std::span<const NodePtr> wanted, const Limits& limits) : limits_(limits), items_(in_order(wanted)) {
    for (const NodePtr& root : wanted) {
      const int index = storage_node(root.get())->plan_index;
      if (index != none) items_[static_cast<std::size_t>(index)].wanted = true;
    }
  }
  ~Fuser() {
    for (const Item& item : items_) item.node->plan_index = none;
  }
  Fuser(const Fuser&) = delete;
  Fuser& operator=(const Fuser&) = delete;

  Plan plan() {
    for (int i = static_cast<int>(items_.size()) - 1; i >= 0; --i) assign_kernel(i);
    return build_steps();
  }

 private:
  Item& item(int index) { return items_[static_cast<std::size_t>(index)]; }

  // Readers come before what they read here: an item joins the kernel that reads it if there is just that one, if both
  // go over the same elements, and if the kernel stays within the device's limits.
  void assign_kernel(int index) {
    Item& it = item(index);
    if (!has_work(*it.node)) return;
    it.kernel = !it.wanted && is_pointwise(*it.node) && it.reader >= 0 && may_join(index, it.reader) ? it.reader : index;
    Item& head = item(it.kernel);
    head.frontier = frontier_with(head, index);
    head.lines += lines_of(*it.node);
    for (const NodePtr& operand : it.node->inputs) {
      const int read = storage_node(operand.get())->plan_index;
      if (read == none) continue;
      int& reader = item(read).reader;
      reader = reader == none || reader == it.kernel ? it.kernel : several;
    }
  }

  bool may_join(int index, int kernel) {
    const Node& node = *item(index).node;
    const Item& head = item(kernel);
    if (!is_pointwise(*head.node)) return false;
    if (node.shape.size() != head.node->shape.size() && node.shape.size() != 1) return false;
    return head.lines + lines_of(node) <= lines_limit() &&
           static_cast<int>(frontier_with(head, index).size()) <= limits_.max_inputs;
  }

  // Its own line, and one for each number among its operands.
  static int lines_of(const Node& node) {
    return 1 + static_cast<int>(std::count_if(node.inputs.begin(), node.inputs.end(), [](const NodePtr& input) {
             return storage_node(input.get())->plan_index == none;
           }));
  }
  int lines_limit() const { return std::min(max_lines, limits_.max_words - 1 - limits_.max_inputs * (1 + 3 * max_terms)); }

  std::vector<int> frontier_with(const Item& head, int index) {
    std::vector<int> frontier = head.frontier;
    std::erase(frontier, index);
    for (const NodePtr& operand : item(index).node->inputs) {
      const int read = storage_node(operand.get())->plan_index;
      if (read != none && std::find(frontier.begin(), frontier.end(), read) == frontier.end()) frontier.push_back(read);
    }
    return frontier;
  }

  Plan build_steps();

  Limits limits_;
  std::vector<Item> items_;
};

struct Term {
  std::int64_t block, size, stride;
  bool operator==(const Term&) const = default;
};

// Where an operand's elements are as its shape stretches to that of its reader; adjacent dimensions become one.
std::vector<Term> broadcast_terms(const Shape& operand, const Shape& reader) {
  std::vector<Term> terms;
  std::int64_t block = 1, stride = 1;
  for (int axis = 1; axis <= reader.rank(); ++axis) {
    const std::int64_t size = reader[-axis], own = axis <= operand.rank() ? operand[-axis] : 1;
    if (own > 1) {
      const bool continues = !terms.empty() && terms.back().block * terms.back().size == block &&
                             terms.back().stride * terms.back().size == stride;
      if (continues) terms.back().size *= own;
      else terms.push_back({block, size, stride});
    }
    block *= size;
    stride *= own;
  }
  return terms;
}

// Writes the kernel of one step, node by node.
class StepWriter {
 public:
  // line_of_item has an entry for each item of the plan: -1, but for those that this writer has written.
  explicit StepWriter(std::vector<int>& line_of_item) : line_of_item_(line_of_item) {}

  void write(Node& node) {
    Expression::Line line{.kind = Expression::Kind::cast, .dtype = node.dtype};
    if (const auto* pointwise = std::get_if<Pointwise>(&node.operation)) {
      line.kind = Expression::Kind::op;
      line.op = pointwise->op;
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) line.operands[i] = operand(*node.inputs[i], node.shape);
    line_of_item_[static_cast<std::size_t>(node.plan_index)] = add(line);
  }
  void write_number(const Node& node) { number(node); }

  Step finish(Node& output) {
    step_.output = &output;
    step_.words.push_back(static_cast<std::uint32_t>(output.shape.size()));
    for (const std::vector<Term>& terms : terms_) {
      step_.words.push_back(0);  // the offset: every tensor starts its storage
      for (const Term& term : terms)
        for (const std::int64_t value : {term.block, term.size, term.stride}) step_.words.push_back(static_cast<std::uint32_t>(value));
    }
    step_.words.insert(step_.words.end(), numbers_.begin(), numbers_.end());
    step_.kernel.numbers = static_cast<int>(numbers_.size());
    step_.kernel.make_key();
    return std::move(step_);
  }

 private:
  std::uint16_t add(const Expression::Line& line) {
    step_.kernel.expression.lines.push_back(line);
    return static_cast<std::uint16_t>(step_.kernel.expression.lines.size() - 1);
  }

  std::uint16_t operand(Node& node, const Shape& reader) {
    Node& stored = *storage_node(&node);
    if (stored.is<Constant>() && !stored.buffer) return number(stored);
    const int line = line_of_item_[static_cast<std::size_t>(stored.plan_index)];
    return line >= 0 ? static_cast<std::uint16_t>(line) : input(stored, node.shape, reader);
  }

  std::uint16_t number(const Node& node) {
    numbers_.push_back(std::get<Constant>(node.operation).value.bits);
    return add({.kind = Expression::Kind::number, .dtype = node.dtype, .index = static_cast<std::uint16_t>(numbers_.size() - 1)});
  }

  // The same storage under the same access is one input.
  std::uint16_t input(Node& stored, const Shape& shape, const Shape& reader) {
    KernelInput input{.dtype = stored.dtype, .access = Access::dense};
    std::vector<Term> terms;
    if (shape.size() == 1) {
      input.access = Access::scalar;
    } else if (shape.size() != reader.size()) {
      terms = broadcast_terms(shape, reader);
      input = {.dtype = stored.dtype, .access = Access::strided, .terms = static_cast<int>(terms.size())};
    }
    for (std::size_t i = 0; i < step_.inputs.size(); ++i)
      if (step_.inputs[i] == &stored && step_.kernel.inputs[i].access == input.access && terms_[i] == terms) return input_lines_[i];
    step_.inputs.push_back(&stored);
    step_.kernel.inputs.push_back(input);
    terms_.push_back(std::move(terms));
    input_lines_.push_back(add({.kind = Expression::Kind::input, .dtype = stored.dtype, .index = static_cast<std::uint16_t>(step_.inputs.size() - 1)}));
    return input_lines_.back();
  }

  Step step_;
  std::vector<std::vector<Term>> terms_;  // of each input
  std::vector<std::uint16_t> input_lines_;
  std::vector<std::uint32_t> numbers_;
  std::vector<int>& line_of_item_;
};

Plan Fuser::build_steps() {
  Plan plan;
  std::vector<int> line_of_item(items_.size(), none);
  std::vector<std::vector<Node*>> members(items_.size());
  for (const Item& it : items_)
    if (it.kernel != none) members[static_cast<std::size_t>(it.kernel)].push_back(it.node);
  for (std::size_t head = 0; head < items_.size(); ++head) {
    if (members[head].empty()) continue;
    Node& output = *items_[head].node;
    if (output.is<HostValues>()) {
      plan.uploads.push_back(&output);
      continue;
    }
    StepWriter writer(line_of_item);
    for (Node* member : members[head]) {
      if (member->is<Constant>()) writer.write_number(*member);
      else writer.write(*member);
    }
    plan.steps.push_back(writer.finish(output));
    for (const Node* member : members[head]) line_of_item[static_cast<std::size_t>(member->plan_index)] = none;
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

#include "core/graph.h"

namespace tessera {
namespace {

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
    if (node->is<Strided>() && is_number(*storage_node(node->inputs[0].get()))) {
      const Constant number = std::get<Constant>(storage_node(node->inputs[0].get())->operation);
      node->operation = number;
      node->inputs.clear();
    }
    if (!node->is<View>()) return node;
    node = node->inputs[0].get();
  }
}

class SignatureWriter {
 public:
  void write(const Node& node) {
    number(static_cast<std::int64_t>(node.dtype));
    shape(node.shape);
    if (node.buffer || node.is<Placeholder>()) return number(-1);
    number(static_cast<std::int64_t>(node.operation.index()));
    if (const auto* pointwise = std::get_if<Pointwise>(&node.operation)) pointer(pointwise->op);
    if (const auto* strided = std::get_if<Strided>(&node.operation)) {
      number(strided->offset);
      numbers(strided->terms);
    }
    if (const auto* family = std::get_if<Family>(&node.operation)) {
      pointer(family->entry);
      numbers(family->options);
      numbers(family->words);
      number(family->workgroups);
    }
    for (const NodePtr& input : node.inputs) {
      shape(input->shape);
      const Node* stored = storage_node(input.get());
      number(is_number(*stored) ? -1 - stored->constant_index : stored->plan_index);
    }
  }
  void number(std::int64_t value) { append(&value, sizeof(value)); }
  std::string take() { return std::move(text_); }

 private:
  void append(const void* bytes, std::size_t count) { text_.append(static_cast<const char*>(bytes), count); }
  void pointer(const void* value) { append(&value, sizeof(value)); }
  void shape(const Shape& value) { numbers(value.dims()); }
  template <class Range>
  void numbers(const Range& values) {
    number(static_cast<std::int64_t>(std::size(values)));
    append(std::data(values), std::size(values) * sizeof(*std::data(values)));
  }

  std::string text_;
};

}  // namespace

Node* storage_node(Node* node) {
  while (!node->buffer && node->is<View>()) node = node->inputs[0].get();
  return node;
}

bool is_number(const Node& node) { return node.is<Constant>() && !node.buffer; }

bool is_stored(const Node& node) { return node.buffer || node.is<Placeholder>(); }

Graph::Graph(std::span<const NodePtr> wanted, const Limits& limits) {
  for (const NodePtr& root : wanted) {
    Node* node = lowered(root.get(), limits);
    if (node->shape.size() == 0) continue;
    add(node, limits);
    found_.wanted.push_back(node->plan_index);
  }
}

Graph::~Graph() {
  for (Node* node : found_.items) node->plan_index = -1;
  for (Node* node : found_.constants) node->constant_index = -1;
}

// Without recursion: graphs may be long.
void Graph::add(Node* root, const Limits& limits) {
  struct Visit {
    Node* node;
    std::size_t next_input;
  };
  std::vector<Visit> path{{root, 0}};
  while (!path.empty()) {
    auto& [node, next_input] = path.back();
    if (node->plan_index >= 0) {
      path.pop_back();
    } else if (!is_stored(*node) && next_input < node->inputs.size()) {
      Node* input = lowered(node->inputs[next_input++].get(), limits);
      if (is_number(*input)) add_constant(input);
      else if (input->plan_index < 0) path.push_back({input, 0});
    } else {
      if (is_number(*node)) add_constant(node);  // wanted for itself
      node->plan_index = static_cast<int>(found_.items.size());
      found_.items.push_back(node);
      path.pop_back();
    }
  }
}

void Graph::add_constant(Node* node) {
  if (node->constant_index >= 0) return;
  node->constant_index = static_cast<int>(found_.constants.size());
  found_.constants.push_back(node);
}

std::string Graph::signature() const {
  SignatureWriter writer;
  for (const Node* node : found_.items) writer.write(*node);
  for (const Node* node : found_.constants) writer.number(static_cast<std::int64_t>(node->dtype));
  for (const int index : found_.wanted) writer.number(index);
  return writer.take();
}

}  // namespace tessera

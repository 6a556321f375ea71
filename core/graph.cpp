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
    if (node->is<Strided>()) {
      if (const Node* base = stored(node->inputs[0].get()).node; is_number(*base)) {
        node->operation = Constant(std::get<Constant>(base->operation));
        node->inputs.clear();
      }
    }
    if (!node->is<View>()) return node;
    node = node->inputs[0].get();
  }
}

// Writes nodes down so that equal texts mean equal work.
class SignatureWriter {
 public:
  enum class Numbers { by_place, by_value };
  explicit SignatureWriter(Numbers numbers) : numbers_(numbers) {}

  void write(const Node& node) {
    number(static_cast<std::int64_t>(node.dtype));
    shape(node.shape);
    if (node.buffer || node.is<Placeholder>()) {
      number(-1);
      return number(node.buffer_offset);
    }
    number(static_cast<std::int64_t>(node.operation.index()));
    if (const auto* pointwise = std::get_if<Pointwise>(&node.operation)) pointer(pointwise->op);
    if (const auto* strided = std::get_if<Strided>(&node.operation)) {
      number(strided->offset);
      list(strided->terms);
    }
    if (const auto* family = std::get_if<Family>(&node.operation)) {
      pointer(family->entry);
      list(family->options);
      list(family->words);
      number(family->workgroups);
    }
    for (const NodePtr& input : node.inputs) {
      shape(input->shape);
      const auto [base, offset] = stored(input.get());
      number(offset);
      if (!is_number(*base)) number(base->plan_index);
      else if (numbers_ == Numbers::by_place) number(-1 - base->constant_index);
      else number(-1 - std::int64_t{std::get<Constant>(base->operation).value.bits});
    }
  }
  void number(std::int64_t value) { append(&value, sizeof(value)); }
  std::string take() { return std::move(text_); }

 private:
  void append(const void* bytes, std::size_t count) { text_.append(static_cast<const char*>(bytes), count); }
  void pointer(const void* value) { append(&value, sizeof(value)); }
  void shape(const Shape& value) { list(value.dims()); }
  template <class Range>
  void list(const Range& values) {
    number(static_cast<std::int64_t>(std::size(values)));
    append(std::data(values), std::size(values) * sizeof(*std::data(values)));
  }

  Numbers numbers_;
  std::string text_;
};

}  // namespace

Stored stored(Node* node) {
  std::int64_t offset = 0;
  while (!node->buffer && node->is<View>()) {
    offset += std::get<View>(node->operation).offset;
    node = node->inputs[0].get();
  }
  return {node, offset};
}

bool is_number(const Node& node) { return node.is<Constant>() && !node.buffer; }

bool is_stored(const Node& node) { return node.buffer || node.is<Placeholder>(); }

Graph::Graph(std::span<const NodePtr> wanted, const Limits& limits) {
  for (const NodePtr& root : wanted) {
    if (root->shape.size() == 0) continue;
    add(lowered(root.get(), limits), limits);
    found_.wanted.push_back(lowered(root.get(), limits)->plan_index);  // again: it may have become a view of its equal
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
      if (!is_number(*input) && input->plan_index < 0) path.push_back({input, 0});
    } else {
      add_item(node);
      path.pop_back();
    }
  }
}

void Graph::add_item(Node* node) {
  if (is_number(*node)) add_constant(node);  // wanted for itself
  if (!is_stored(*node)) {
    if (share(node)) return;
    for (const NodePtr& input : node->inputs)
      if (Node* base = stored(input.get()).node; is_number(*base)) add_constant(base);
  }
  node->plan_index = static_cast<int>(found_.items.size());
  found_.items.push_back(node);
  if (!node->buffer && node->is<Import>()) found_.imports.push_back(node->plan_index);
}

// Makes a node that does what another one does a view of that one.
bool Graph::share(Node* node) {
  if (node->inputs.empty() || node->layout != 0) return false;
  SignatureWriter writer(SignatureWriter::Numbers::by_value);
  writer.write(*node);
  const auto [found, is_new] = by_operation_.try_emplace(writer.take(), node);
  if (is_new) return false;
  node->operation = View{};
  node->inputs = {found->second->shared_from_this()};
  return true;
}

void Graph::add_constant(Node* node) {
  if (node->constant_index >= 0) return;
  node->constant_index = static_cast<int>(found_.constants.size());
  found_.constants.push_back(node);
}

std::string Graph::signature() const {
  SignatureWriter writer(SignatureWriter::Numbers::by_place);
  for (const Node* node : found_.items) writer.write(*node);
  for (const Node* node : found_.constants) writer.number(static_cast<std::int64_t>(node->dtype));
  for (const int index : found_.wanted) writer.number(index);
  return writer.take();
}

}  // namespace tessera

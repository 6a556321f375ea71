#include "core/graph.h"

#include <algorithm>
#include <utility>

namespace tessera {
namespace {

// Elements that went with a device are made again, as they were made before.
void forget_if_lost(Node& node) {
  if (!node.buffer || !node.buffer->is_lost()) return;
  if (node.is<Computed>())
    throw Error(ErrorCode::device_lost,
                "compute: the elements of a tensor of " + node.shape.to_string() + " " +
                    std::string(to_string(node.dtype)) +
                    " were lost with the device. They cannot be made again: they came from a texture or a buffer that "
                    "the host lent, or the context was made with survive_device_loss = false.");
  node.buffer = nullptr;
  node.buffer_offset = 0;
}

// Whose elements a view has, in whatever order.
const Node& behind_views(Node* node) {
  for (forget_if_lost(*node); !node->buffer && (node->is<View>() || node->is<Strided>() || node->is<Whole>());
       forget_if_lost(*node))
    node = node->inputs[0].get();
  return *node;
}

// What an operation costs nothing for, or cannot do on this device, is replaced by what it stands for.
Node* lowered(Node* node, const Limits& limits) {
  for (;;) {
    forget_if_lost(*node);
    if (node->buffer) return node;
    if (node->replaced && limits.workgroups) {
      node->operation = std::move(node->replaced->operation);
      node->inputs = std::move(node->replaced->inputs);
      node->replaced = nullptr;
    }
    const auto* family = std::get_if<Family>(&node->operation);
    if (family && family->entry->lower && !limits.workgroups) {
      NodePtr same = family->entry->lower(*node);
      for (NodePtr& input : node->inputs) input = input->shared_from_this();  // what it lowers to holds them now
      if (!same->buffer && !same->is<View>()) same->layout = node->layout;
      std::vector<NodePtr> inputs{std::move(same)};
      auto replaced = std::make_unique<Node::Replaced>();
      replaced->operation = std::exchange(node->operation, View{});
      replaced->inputs = std::exchange(node->inputs, std::move(inputs));
      node->replaced = std::move(replaced);
    }
    if (node->is<Strided>()) {
      if (const Node& source = behind_views(node); is_number(source)) {
        node->operation = Constant(std::get<Constant>(source.operation));
        node->inputs.clear();
      }
    }
    if (node->is<Whole>()) {
      const auto [base, offset] = stored(node->inputs[0].get());
      const bool is_whole = offset + base->buffer_offset == 0;
      if (is_whole) node->operation = View{};
      else node->operation = Strided{0, {{1, node->shape.size(), 1}}};
    }
    if (!node->is<View>()) return node;
    node = node->inputs[0].get();
  }
}

// Writes nodes down so that equal texts mean equal work. Every operation of every graph is written: this is for speed.
class SignatureWriter {
 public:
  // With the values of items, which operations on equal values have in common; without, they are told apart by place.
  explicit SignatureWriter(const std::vector<int>* values = nullptr, std::size_t operations = 1) : values_(values) {
    numbers_.reserve(operations * 16);
  }

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
      number(family->reads_once);
    }
    if (const auto* custom = std::get_if<Custom>(&node.operation)) {
      number(static_cast<std::int64_t>(custom->output));
      for (const std::weak_ptr<Node>& weak : custom->call->results) {
        const NodePtr result = weak.lock();
        number(result ? result->plan_index : -1);
      }
    }
    for (const NodePtr& input : node.inputs) {
      shape(input->shape);
      const auto [base, offset] = stored(input.get());
      number(offset);
      if (!is_number(*base))
        number(values_ ? (*values_)[static_cast<std::size_t>(base->plan_index)] : base->plan_index);
      else number(-1 - (values_ ? std::int64_t{std::get<Constant>(base->operation).value.bits} : base->constant_index));
    }
  }
  void number(std::int64_t value) { numbers_.push_back(value); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(numbers_.data()), numbers_.size() * sizeof(std::int64_t)};
  }

 private:
  void pointer(const void* value) { number(static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(value))); }
  void shape(const Shape& value) { list(value.dims()); }
  void list(const std::vector<Term>& terms) {
    number(static_cast<std::int64_t>(terms.size()));
    for (const Term& term : terms) {
      number(term.block);
      number(term.size);
      number(term.stride);
    }
  }
  template <class Range>
  void list(const Range& values) {
    number(static_cast<std::int64_t>(std::size(values)));
    for (const auto value : values) number(static_cast<std::int64_t>(value));
  }

  const std::vector<int>* values_;
  std::vector<std::int64_t> numbers_;
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

bool is_stored(const Node& node) { return node.buffer || node.is<Placeholder>() || node.is<Ran>(); }

namespace {

// Others count as different from all else.
bool has_numbered_value(const Node& node) {
  return !is_stored(node) && !node.inputs.empty() && node.layout == 0 && !node.is<Custom>();
}

}  // namespace

Graph::Graph(std::span<const NodePtr> wanted, const Limits& limits) {
  try {
    for (const NodePtr& root : wanted) {
      if (root->shape.size() == 0) continue;
      Node* node = lowered(root.get(), limits);
      add(node, limits);
      found_.wanted.push_back(stored(node).node->plan_index);  // it may have become a view of its equal
    }
  } catch (...) {
    forget_indices();
    throw;
  }
}

Graph::~Graph() { forget_indices(); }

void Graph::forget_indices() {
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
      const bool needs_storage = !is_number(*input) || node->is<Custom>();
      if (needs_storage && input->plan_index < 0) path.push_back({input, 0});
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
  found_.items.push_back(node);
  node->plan_index = static_cast<int>(found_.items.size()) - 1;
  if (node->is<Ran>() && !node->buffer) found_.runs.push_back(node);
  if (is_stored(*node)) return;
  if (node->is<Import>() || node->is<Custom>()) found_.kept.push_back(node->plan_index);
  if (const auto* custom = std::get_if<Custom>(&node->operation))
    for (const std::weak_ptr<Node>& weak : custom->call->results)
      if (const NodePtr other = weak.lock(); other && other->plan_index < 0 && other->is<Custom>()) {
        forget_if_lost(*other);
        if (!other->buffer) add_item(other.get());
      }
}

// Where a node that was added before has the same value and computing it again would cost, makes this one a view of it.
bool Graph::share(Node* node) {
  if (!has_numbered_value(*node)) return false;
  if (!node->is<Family>() && found_.wanted.empty()) return false;  // nothing like it is worth it
  number_values();
  SignatureWriter writer(&values_);
  writer.write(*node);
  const auto found = value_of_operation_.find(writer.text());
  if (found == value_of_operation_.end()) return false;
  Node* first = found_.items[static_cast<std::size_t>(found->second)];
  if (!is_worth_sharing(*first)) return false;
  node->inputs.insert(node->inputs.begin(), first->shared_from_this());  // the others may be items, and stay for that
  node->operation = View{};
  return true;
}

// Late, since most graphs have nothing to share.
void Graph::number_values() {
  for (std::size_t i = values_.size(); i < found_.items.size(); ++i) {
    const auto own = static_cast<int>(i);
    if (!has_numbered_value(*found_.items[i])) {
      values_.push_back(own);
      continue;
    }
    SignatureWriter writer(&values_);
    writer.write(*found_.items[i]);
    values_.push_back(value_of_operation_.try_emplace(std::string(writer.text()), own).first->second);
  }
}

// Pointwise work is done again rather than stored, unless it is stored anyway.
bool Graph::is_worth_sharing(const Node& node) const {
  return node.is<Family>() || std::ranges::find(found_.wanted, node.plan_index) != found_.wanted.end();
}

void Graph::add_constant(Node* node) {
  if (node->constant_index >= 0) return;
  found_.numbers.push_back(std::get<Constant>(node->operation).value);
  found_.constants.push_back(node);
  node->constant_index = static_cast<int>(found_.constants.size()) - 1;
}

std::string Graph::signature() const {
  SignatureWriter writer(nullptr, found_.items.size());
  for (const Node* node : found_.items) writer.write(*node);
  for (const Node* node : found_.constants) writer.number(static_cast<std::int64_t>(node->dtype));
  for (const int index : found_.wanted) writer.number(index);
  return std::string(writer.text());
}

}  // namespace tessera

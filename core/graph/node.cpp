#include "core/graph/node.h"

#include <new>
#include <vector>

#include <tessera/testing.h>

namespace tessera {
namespace {

std::atomic<std::int64_t> live_nodes{0};

struct Dying {
  std::vector<NodePtr> inputs;
  std::vector<Held> held;
};
constinit thread_local Dying* draining = nullptr;

}  // namespace

Node::Node(std::shared_ptr<ContextImpl> context_in, const Shape& shape_in, DType dtype_in, Operation operation_in)
    : NodeInfo{std::move(context_in), shape_in, dtype_in}, operation(std::move(operation_in)) {
  live_nodes.fetch_add(1, std::memory_order_relaxed);
}

Node::Node(std::shared_ptr<ContextImpl> context_in, const Shape& shape_in, DType dtype_in, Operation operation_in,
           std::span<const NodePtr> inputs_in)
    : NodeInfo{std::move(context_in), shape_in, dtype_in}, operation(std::move(operation_in)), inputs(inputs_in) {
  live_nodes.fetch_add(1, std::memory_order_relaxed);
}

Node::Node(std::shared_ptr<ContextImpl> context_in, const Shape& shape_in, DType dtype_in, Operation operation_in,
           std::span<const Held> inputs_in)
    : Node(std::move(context_in), shape_in, dtype_in, std::move(operation_in)) {
  for (const Held& held : inputs_in) add_input(held);
}

void Node::add_input(const Held& held) {
  inputs.push_back(held->node_);
  held_inputs.push_back(held);
}

void Node::add_number(NodePtr number) { inputs.push_back(std::move(number)); }

// Each destructor calling the next would need a stack as deep as the graph is long: the first one on this thread drains
// lists, those it calls only add to them. What others refer to, too, does not go with a node, and is let go of at once.
// Inputs go before holds: a node that is about to go with its last hold need not be released.
Node::~Node() {
  live_nodes.fetch_sub(1, std::memory_order_relaxed);
  if (inputs.empty()) return;
  Dying own;
  const bool is_first = !draining;
  if (is_first) draining = &own;
  const auto let_go = [](auto& pointers, auto& list) {
    for (auto& pointer : pointers)
      if (pointer.use_count() > 1) pointer.reset();
      else list.push_back(std::move(pointer));
  };
  try {
    let_go(inputs, draining->inputs);
    let_go(held_inputs, draining->held);
  } catch (const std::bad_alloc&) {
    // Without memory for the lists, the rest goes with this node, on the stack.
  }
  if (!is_first) return;
  const auto drop_last = [](auto& list) {
    const auto last = std::move(list.back());
    list.pop_back();
  };
  while (!own.inputs.empty() || !own.held.empty()) {
    if (!own.inputs.empty()) drop_last(own.inputs);
    else drop_last(own.held);
  }
  draining = nullptr;
}

const Node* Node::in_texels() const {
  const Node* texels = value.in_texels ? value.in_texels->node_.get() : nullptr;
  return texels && texels->has_elements() ? texels : nullptr;
}

void Node::forget_lineage() {
  operation = Computed{};
  inputs.clear();
  held_inputs.clear();
}

NodePtr number_node(std::string_view op, const std::shared_ptr<ContextImpl>& context, const Shape& shape, DType dtype,
                    double value) {
  if (!has_number(dtype, value))
    throw Error(ErrorCode::dtype_mismatch, std::string(op) + ": the number " + number_text(value) +
                                               " is not a value of type " + std::string(to_string(dtype)) + ".");
  return make_node(context, shape, dtype, Constant{number_of(value, dtype)});
}

std::int64_t testing::live_nodes() { return tessera::live_nodes.load(std::memory_order_relaxed); }

}  // namespace tessera

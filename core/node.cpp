#include "core/node.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <new>

#include "core/context_impl.h"
#include "core/scope.h"
#include <tessera/testing.h>

namespace tessera {
namespace {

std::atomic<std::int64_t> live_nodes{0};

}  // namespace

Node::Node(std::shared_ptr<ContextImpl> context_in, Shape shape_in, DType dtype_in, Operation operation_in,
           std::vector<NodePtr> inputs_in)
    : context(std::move(context_in)),
      shape(shape_in),
      dtype(dtype_in),
      operation(std::move(operation_in)),
      inputs(std::move(inputs_in)) {
  live_nodes.fetch_add(1, std::memory_order_relaxed);
}

// Each destructor calling the next would need a stack as deep as the graph is long: the first one on this thread drains
// a list, those it calls only add to it.
Node::~Node() {
  live_nodes.fetch_sub(1, std::memory_order_relaxed);
  thread_local std::vector<NodePtr>* draining = nullptr;
  if (draining) {
    try {
      draining->insert(draining->end(), std::move_iterator(inputs.begin()), std::move_iterator(inputs.end()));
    } catch (const std::bad_alloc&) {
      // Without memory for the list, they go with this one, on the stack.
    }
    return;
  }
  std::vector<NodePtr> dying = std::move(inputs);
  draining = &dying;
  while (!dying.empty()) {
    NodePtr node = std::move(dying.back());
    dying.pop_back();
    node.reset();
  }
  draining = nullptr;
}

void forget_lineage(Node& node) {
  node.operation = Computed{};
  node.inputs.clear();
  node.replaced = nullptr;
}

Number number_of(float value, DType dtype) {
  switch (dtype) {
    case DType::f32: return {std::bit_cast<std::uint32_t>(value)};
    case DType::f16: return {std::bit_cast<std::uint32_t>(static_cast<float>(half(value)))};
    case DType::boolean: return {value != 0 ? 1u : 0u};
    default: return {std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(value))};
  }
}

const NodePtr& TensorAccess::node(const Tensor& tensor) {
  if (!tensor.node_) throw Error(ErrorCode::invalid_argument, "tensor: an empty or disposed tensor was used.");
  return tensor.node_;
}

Tensor TensorAccess::tensor(NodePtr node) {
  Node* its = node.get();
  ++its->holders;
  Tensor tensor;
  tensor.node_ = NodePtr(its, [own = std::move(node)](Node*) mutable {
    if (--own->holders == 0 && own.use_count() > 1) own->context->unheld.add(own);
    own.reset();
  });
  if (its->handle.expired()) its->handle = tensor.node_;
  ScopeAccess::note(*its);
  return tensor;
}

Tensor TensorAccess::on_loan(const NodePtr& node) {
  struct Loan {
    NodePtr node;
    std::shared_ptr<const void> storage;
  };
  const auto loan = std::make_shared<const Loan>(Loan{node, node->buffer->lend()});
  Tensor tensor;
  tensor.node_ = NodePtr(loan, loan->node.get());
  return tensor;
}

std::int64_t testing::live_nodes() { return tessera::live_nodes.load(std::memory_order_relaxed); }

}  // namespace tessera

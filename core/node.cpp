#include "core/node.h"

#include <array>
#include <bit>
#include <charconv>
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

Number number_of(double value, DType dtype) {
  switch (dtype) {
    case DType::f32: return {std::bit_cast<std::uint32_t>(static_cast<float>(value))};
    case DType::f16: return {std::bit_cast<std::uint32_t>(static_cast<float>(half(static_cast<float>(value))))};
    default: return {std::bit_cast<std::uint32_t>(static_cast<std::int32_t>(value))};
  }
}

bool has_number(DType dtype, double value) {
  const auto is_whole = [&](double low, double high) {
    return value >= low && value <= high && std::trunc(value) == value;
  };
  switch (dtype) {
    case DType::f32:
    case DType::f16: return true;
    case DType::i32: return is_whole(-2147483648.0, 2147483647.0);
    case DType::i8: return is_whole(-128, 127);
    case DType::u8: return is_whole(0, 255);
    case DType::boolean: return is_whole(0, 1);
  }
  return false;
}

std::string number_text(double value) {
  std::array<char, 32> text;
  char *begin = text.data(), *end = begin + text.size();
  // Whole numbers in digits, however many, as nobody reads 2.147483648e+09 at a glance.
  if (std::trunc(value) == value && std::fabs(value) < 1e20)
    return {begin, std::to_chars(begin, end, value, std::chars_format::fixed).ptr};
  // Most come from floats: 0.1 rather than 0.10000000149011612.
  if (const auto rounded = static_cast<float>(value); double{rounded} == value)
    return {begin, std::to_chars(begin, end, rounded).ptr};
  return {begin, std::to_chars(begin, end, value).ptr};
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
  note_in_scopes(*its);
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

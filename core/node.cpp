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
    : NodeInfo{std::move(context_in), shape_in, dtype_in},
      operation(std::move(operation_in)),
      inputs(std::move(inputs_in)) {
  live_nodes.fetch_add(1, std::memory_order_relaxed);
}

Node::Node(std::shared_ptr<ContextImpl> context_in, Shape shape_in, DType dtype_in, Operation operation_in,
           std::vector<Held> inputs_in)
    : Node(std::move(context_in), shape_in, dtype_in, std::move(operation_in), std::vector<NodePtr>()) {
  inputs.reserve(inputs_in.size());
  for (const Held& held : inputs_in) inputs.push_back(held->node_);
  held_inputs = std::move(inputs_in);
}

// Each destructor calling the next would need a stack as deep as the graph is long: the first one on this thread drains
// lists, those it calls only add to them. A node's references go before its holds: a node that is about to go with its
// last hold need not be released.
Node::~Node() {
  live_nodes.fetch_sub(1, std::memory_order_relaxed);
  struct Dying {
    std::vector<NodePtr> inputs;
    std::vector<Held> held;
  };
  thread_local Dying* draining = nullptr;
  if (draining) {
    try {
      draining->inputs.insert(draining->inputs.end(), std::move_iterator(inputs.begin()),
                              std::move_iterator(inputs.end()));
      draining->held.insert(draining->held.end(), std::move_iterator(held_inputs.begin()),
                            std::move_iterator(held_inputs.end()));
    } catch (const std::bad_alloc&) {
      // Without memory for the lists, they go with this one, on the stack.
    }
    return;
  }
  Dying dying{std::move(inputs), std::move(held_inputs)};
  draining = &dying;
  const auto drop_last = [](auto& list) {
    const auto last = std::move(list.back());
    list.pop_back();
  };
  while (!dying.inputs.empty() || !dying.held.empty()) {
    if (!dying.inputs.empty()) drop_last(dying.inputs);
    else drop_last(dying.held);
  }
  draining = nullptr;
}

void Node::forget_lineage() {
  operation = Computed{};
  inputs.clear();
  held_inputs.clear();
}

Hold::Hold(NodePtr node, std::shared_ptr<const void> loan) : node_(std::move(node)), loan_(std::move(loan)) {
  ++node_->holds;
}

Hold::~Hold() {
  if (--node_->holds == 0 && node_.use_count() > 1) node_->context->dropped.add(node_);
}

const NodeInfo& Hold::info() const { return *node_; }

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

const Held& TensorAccess::held(const Tensor& tensor) {
  if (!tensor.held_) throw Error(ErrorCode::invalid_argument, "tensor: an empty or disposed tensor was used.");
  return tensor.held_;
}

Tensor TensorAccess::tensor(NodePtr node) {
  Node& made = *node;
  Tensor tensor;
  tensor.held_ = std::make_shared<const Hold>(std::move(node));
  if (made.first_hold.expired()) made.first_hold = tensor.held_;
  note_in_scopes(made);
  return tensor;
}

Tensor TensorAccess::on_loan(const ContextState& context, const Tensor& tensor) {
  struct Loan {
    Held held;
    std::shared_ptr<const void> storage;
  };
  const NodePtr& lent = node(context, tensor);
  Tensor loan;
  loan.held_ =
      std::make_shared<const Hold>(lent, std::make_shared<const Loan>(Loan{held(tensor), lent->value.buffer->lend()}));
  return loan;
}

std::int64_t testing::live_nodes() { return tessera::live_nodes.load(std::memory_order_relaxed); }

}  // namespace tessera

// Nodes, which tensors stand for before and after they are computed.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/few.h"
#include "core/base/recycled.h"
#include "core/graph/operation.h"
#include "core/memory/pool.h"
#include <tessera/tensor.h>

namespace tessera {

struct ContextImpl;
struct ContextState;  // whoever has one holds the context's lock
struct Node;
using NodePtr = std::shared_ptr<Node>;

// The part of a node that never changes, and that anybody may read.
struct NodeInfo {
  const std::shared_ptr<ContextImpl> context;
  const Shape shape;
  const DType dtype;
};

// Keeps a node's value: tensors and pending operations have a hold. Without any, only lineage refers to the node, and
// its buffer can go.
class Hold {
 public:
  explicit Hold(NodePtr, std::shared_ptr<const void> loan = nullptr);
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  const NodeInfo& info() const;
  const NodePtr& node(const ContextState&) const { return node_; }
  bool is_loan() const { return loan_ != nullptr; }

 private:
  friend struct Node;
  NodePtr node_;
  std::shared_ptr<const void> loan_;  // of the storage, where the hold is for a host
};
using Held = std::shared_ptr<const Hold>;

// The elements of a node that has been computed.
struct Value {
  std::shared_ptr<Buffer> buffer;  // views share it; null where a node is pending or has no elements
  std::int64_t offset = 0;         // of the first element in the buffer
  // The number of operations that rebuild the elements if the device is lost; unknown_lineage: none can.
  int lineage = 0;
  // An image of three channels that kernels are to read: the same with a fourth, a texel a pixel. There is no buffer
  // until somebody needs the elements in order.
  Held in_texels{};
};
constexpr int unknown_lineage = -1;

// An operation on other nodes. Planning reads nodes and never changes them; computing gives them their values. The
// context's lock guards all members: code that has a ContextState, or made the node and has not given it away, uses it.
struct Node : NodeInfo, std::enable_shared_from_this<Node> {
  Node(std::shared_ptr<ContextImpl>, const Shape&, DType, Operation);
  // A pending operation holds its inputs.
  Node(std::shared_ptr<ContextImpl>, const Shape&, DType, Operation, std::span<const Held> inputs);
  // An operation whose inputs others hold.
  Node(std::shared_ptr<ContextImpl>, const Shape&, DType, Operation, std::span<const NodePtr> inputs);
  ~Node();

  void add_input(const Held&);
  void add_number(NodePtr);  // an input that nobody else knows, and that has no value to be kept

  Operation operation;
  Few<NodePtr, 2> inputs;
  Few<Held, 2> held_inputs;  // while the operation is pending
  Value value;

  std::string label;  // by the user

  std::atomic<int> holds{0};
  std::weak_ptr<const Hold> first_hold;  // copies of a tensor share it; set once, before others know the node

  template <class Kind>
  bool is() const {
    return std::holds_alternative<Kind>(operation);
  }
  bool has_elements() const { return value.buffer && !value.buffer->is_lost(); }
  const Node* in_texels() const;  // see Value; null where there is none, or it was lost
  bool is_present() const { return has_elements() || in_texels(); }
  void forget_lineage();  // the node has its elements
};

template <class... Arguments>
NodePtr make_node(Arguments&&... arguments) {
  return std::allocate_shared<Node>(Recycled<Node>(), std::forward<Arguments>(arguments)...);
}
template <class... Arguments>
Held make_hold(Arguments&&... arguments) {
  return std::allocate_shared<const Hold>(Recycled<Hold>(), std::forward<Arguments>(arguments)...);
}

// A constant. Throws dtype_mismatch where the type has no such number.
NodePtr number_node(std::string_view op, const std::shared_ptr<ContextImpl>&, const Shape&, DType, double value);

// From tensors to nodes and back, for the library's own sources.
struct TensorAccess {
  static const Held& held(const Tensor&);  // throws invalid_argument for an empty tensor
  static const NodeInfo& info(const Tensor& tensor) { return held(tensor)->info(); }
  static const NodePtr& node(const ContextState& context, const Tensor& tensor) { return held(tensor)->node(context); }
  static Tensor tensor(NodePtr);
  // The same computed tensor, whose storage is lent for as long as the result lives.
  static Tensor on_loan(const ContextState&, const Tensor&);
};

}  // namespace tessera

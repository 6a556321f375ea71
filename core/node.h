// The graph: what tensors stand for before, and after, they are computed.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/custom.h"
#include "core/number.h"
#include "core/pointwise_op.h"
#include "core/pool.h"
#include <tessera/tensor.h>

namespace tessera {

struct ContextImpl;
struct ContextState;  // all that a context's lock guards: whoever has one holds the lock
struct Node;
class ParameterList;
struct ProgramRun;
using NodePtr = std::shared_ptr<Node>;

class Hold;

// An entry of a kernel family: the static part of an operation that is more than pointwise.
struct FamilyEntry {
  std::string_view name;        // of the function in the shaders, and of the host's function in backend_cpu
  std::string_view file;        // of the family, in shaders_wgsl
  bool reads_once = false;      // each operand's elements are read about once, so that work on them may move in here
  bool is_cooperative = false;  // see KernelCore
  // The same value by other operations, for devices without workgroups; only cooperative entries have one.
  std::shared_ptr<const Hold> (*lower)(const Node&) = nullptr;
  // The names of words and options, by KernelEntry.
  const ParameterList& (*parameter_names)() = nullptr;
  const ParameterList& (*option_names)() = nullptr;
};

struct HostValues {
  std::vector<std::byte> elements;
};  // to be uploaded
struct Constant {
  Number value;
};  // the same number everywhere
// Elements of inputs[0] under another shape: as many as the shape has, from element `offset` on.
struct View {
  std::int64_t offset = 0;
};
struct Pointwise {
  const PointwiseOp* op;
};
struct Cast {};
// Element i is element offset + sum of ((i / block) % size) * stride of inputs[0], of another shape: no data moves
// until something needs the elements side by side.
struct Term {
  std::int64_t block, size, stride;  // a negative stride goes backwards
  bool operator==(const Term&) const = default;
};
struct Strided {
  std::int64_t offset;
  std::vector<Term> terms;
};
struct Family {
  const FamilyEntry* entry;
  std::vector<std::int32_t> options;  // constants in the shader: other values compile another kernel
  std::vector<std::uint32_t> words;   // parameters: sizes, strides and numbers, the latter by their bits
  std::int64_t workgroups = 0;        // of a cooperative entry
  bool reads_once = false;            // as in the entry, where that depends on sizes
};
struct Import {
  std::shared_ptr<const HostPass> pass;
  std::uint64_t epoch;  // of the context: the device that the host lent it on
};                      // read from what a host lent, when first needed, and kept from then on
// One output of a kernel of the user's own. All outputs that are still referred to are computed together.
struct Custom {
  std::shared_ptr<const CustomCall> call;
  std::size_t output;
};
struct Placeholder {};  // bound to a tensor with each run of a program
struct Ran {
  std::shared_ptr<const ProgramRun> run;
  std::size_t output;
};                   // by a program, with the inputs
struct Computed {};  // only `buffer` counts; the inputs are let go
using Operation = std::variant<HostValues, Constant, View, Pointwise, Cast, Strided, Family, Import, Custom,
                               Placeholder, Ran, Computed>;

// What anybody may know of a node.
struct NodeInfo {
  const std::shared_ptr<ContextImpl> context;
  const Shape shape;
  const DType dtype;
};

// Keeps a node's value: tensors and pending operations have one. Without any, only lineage refers to the node, and its
// buffer can go.
class Hold {
 public:
  explicit Hold(NodePtr, std::shared_ptr<const void> loan = nullptr);
  ~Hold();
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;

  const NodeInfo& info() const;
  const NodePtr& node(const ContextState&) const { return node_; }

 private:
  friend struct Node;
  NodePtr node_;
  std::shared_ptr<const void> loan_;  // of the storage to a host, where the hold is for one
};
using Held = std::shared_ptr<const Hold>;

// The elements of a node that has been computed.
struct Value {
  std::shared_ptr<Buffer> buffer;  // views share it; nodes without elements, and pending ones, have none
  std::int64_t offset = 0;         // the first element in there
  // How many operations it takes to rebuild the elements if the device is lost; unknown_lineage: they cannot be.
  int lineage = 0;
};
constexpr int unknown_lineage = -1;

// An operation on other nodes. Planning reads nodes and never changes them; computing gives them their values. The
// context's lock guards it all: whoever made the node and has not given it away, or has a ContextState, may use it.
struct Node : NodeInfo, std::enable_shared_from_this<Node> {
  // A pending operation holds its inputs.
  Node(std::shared_ptr<ContextImpl>, Shape, DType, Operation, std::vector<Held> inputs = {});
  // One whose inputs others hold.
  Node(std::shared_ptr<ContextImpl>, Shape, DType, Operation, std::vector<NodePtr> inputs);
  ~Node();

  Operation operation;
  std::vector<NodePtr> inputs;
  std::vector<Held> held_inputs;  // while the operation is pending
  Value value;

  std::string label;  // by the user

  std::atomic<int> holds{0};
  std::weak_ptr<const Hold> first_hold;  // which copies of a tensor share; set once, before others know the node

  template <class Kind>
  bool is() const {
    return std::holds_alternative<Kind>(operation);
  }
  bool has_elements() const { return value.buffer && !value.buffer->is_lost(); }
  void forget_lineage();  // of one that has its elements
};

std::string op_name(const Operation&);  // for people

// A constant, or dtype_mismatch where the type has no such number.
NodePtr number_node(std::string_view op, const std::shared_ptr<ContextImpl>&, const Shape&, DType, double value);

// The way from tensors to nodes and back, for the library's own sources.
struct TensorAccess {
  static const Held& held(const Tensor&);  // throws invalid_argument for an empty tensor
  static const NodeInfo& info(const Tensor& tensor) { return held(tensor)->info(); }
  static const NodePtr& node(const ContextState& context, const Tensor& tensor) { return held(tensor)->node(context); }
  static Tensor tensor(NodePtr);
  // A computed tensor again: for as long as the result lives, its storage is lent.
  static Tensor on_loan(const ContextState&, const Tensor&);
};

}  // namespace tessera

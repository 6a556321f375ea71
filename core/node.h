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
#include "core/pointwise_op.h"
#include "core/pool.h"
#include <tessera/tensor.h>

namespace tessera {

struct ContextImpl;
struct Node;
struct ProgramRun;
using NodePtr = std::shared_ptr<Node>;

// A number in a node's own type: the bits of a float for floats, of an integer for all else.
struct Number {
  std::uint32_t bits;
};
Number number_of(double value, DType);  // rounds to a float; integer types have the number, see has_number
bool has_number(DType, double value);   // floats have them all
std::string number_text(double value);  // as short as it can be read back from, for messages

// An entry of a kernel family: the static part of an operation that is more than pointwise.
struct FamilyEntry {
  std::string_view name;        // of the function in the shaders, and of the host's function in backend_cpu
  std::string_view file;        // of the family, in shaders_wgsl
  bool reads_once = false;      // each operand's elements are read about once, so that work on them may move in here
  bool is_cooperative = false;  // see KernelCore
  // The same value by other operations, for devices without workgroups; only cooperative entries have one.
  std::shared_ptr<Node> (*lower)(const Node&) = nullptr;
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
struct Whole {
};  // inputs[0] itself, from the first element of a storage on: a view where it is so already, else a copy
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
using Operation = std::variant<HostValues, Constant, View, Whole, Pointwise, Cast, Strided, Family, Import, Custom,
                               Placeholder, Ran, Computed>;

struct Node : std::enable_shared_from_this<Node> {
  Node(std::shared_ptr<ContextImpl> context, Shape shape, DType dtype, Operation operation,
       std::vector<NodePtr> inputs = {});
  ~Node();

  std::shared_ptr<ContextImpl> context;
  Shape shape;
  DType dtype;
  // The context's lock guards what follows.
  Operation operation;
  std::vector<NodePtr> inputs;
  std::shared_ptr<Buffer> buffer;  // once computed; views share it, tensors without elements have none
  std::int64_t buffer_offset = 0;  // the first element in there
  std::uint64_t layout = 0;        // of the storage that it is to have, see StorageSpec
  // What a view stands for that took the place of an operation which the device cannot do: another one may.
  struct Replaced {
    Operation operation;
    std::vector<NodePtr> inputs;
  };
  std::unique_ptr<Replaced> replaced;
  // How many operations it takes to rebuild the elements if the device is lost; unknown_lineage: they cannot be.
  int lineage = 0;
  int plan_index = -1, constant_index = -1;  // where this node stands in the graph that is being planned

  // Tensors and pending operations that refer to it. Without any, only lineage does, and its buffer can go.
  std::atomic<int> holders{0};
  std::weak_ptr<Node> handle;  // what its tensors share, to count them by; set once, before others know the node
  std::string label;           // by the user

  template <class Kind>
  bool is() const {
    return std::holds_alternative<Kind>(operation);
  }
};

constexpr int unknown_lineage = -1;

std::string op_name(const Operation&);  // for people

void forget_lineage(Node&);  // of one that has its elements

// The way from handles to nodes and back, for the library's own sources. A NodePtr that comes from a tensor counts as a
// holder, and so do its copies; one from shared_from_this() does not.
struct TensorAccess {
  static const NodePtr& node(const Tensor&);  // throws invalid_argument for an empty tensor
  static Tensor tensor(NodePtr);
  static Tensor on_loan(const NodePtr&);  // lends the storage of a computed node for as long as the tensor lives
};

}  // namespace tessera

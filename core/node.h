// The graph: what tensors stand for before, and after, they are computed.
#pragma once
#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "core/pointwise_op.h"
#include "core/pool.h"
#include <tessera/tensor.h>

namespace tessera {

struct ContextImpl;
struct Node;
using NodePtr = std::shared_ptr<Node>;

// A number in a node's own type: the bits of a float for floats, of an integer for all else.
struct Number {
  std::uint32_t bits;
};
Number number_of(float value, DType);

struct HostValues { std::vector<std::byte> elements; };  // to be uploaded
struct Constant { Number value; };                       // the same number everywhere
struct View {};                                          // inputs[0] under another shape
struct Pointwise { const PointwiseOp* op; };
struct Cast {};
struct Computed {};                                      // only `buffer` counts; the inputs are let go
using Operation = std::variant<HostValues, Constant, View, Pointwise, Cast, Computed>;

struct Node {
  Node(std::shared_ptr<ContextImpl> context, Shape shape, DType dtype, Operation operation, std::vector<NodePtr> inputs = {});
  ~Node();

  std::shared_ptr<ContextImpl> context;
  Shape shape;
  DType dtype;
  // The context's lock guards what follows.
  Operation operation;
  std::vector<NodePtr> inputs;
  std::shared_ptr<Buffer> buffer;  // once computed; views share it, tensors without elements have none
  int plan_index = -1;             // where this node stands in the plan that is being made

  template <class Kind>
  bool is() const {
    return std::holds_alternative<Kind>(operation);
  }
};

// The way from handles to nodes and back, for the library's own sources.
struct TensorAccess {
  static const NodePtr& node(const Tensor&);  // throws invalid_argument for an empty tensor
  static Tensor tensor(NodePtr);
};

}  // namespace tessera

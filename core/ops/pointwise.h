// Building nodes of the map family.
#pragma once
#include <initializer_list>
#include <span>
#include <variant>

#include "core/graph/node.h"
#include "core/kernel/pointwise_op.h"

namespace tessera {

using Operand = std::variant<const Tensor*, double>;

// Checks the operands, at least one of which is a tensor, against the row and one another.
Tensor map(const PointwiseOp&, std::span<const Operand>);
inline Tensor map(const PointwiseOp& op, std::initializer_list<Operand> operands) {
  return map(op, std::span(operands.begin(), operands.size()));
}

// The shape to which both stretch. Throws shape_mismatch where there is none.
Shape broadcast(std::string_view op, const Shape&, const Shape&);

}  // namespace tessera

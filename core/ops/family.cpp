#include "core/ops/family.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/ops/pointwise.h"
#include "core/run/context_impl.h"

namespace tessera {

int checked_axis(std::string_view op, int axis, int rank) {
  const int from_front = axis < 0 ? axis + rank : axis;
  if (from_front < 0 || from_front >= rank)
    fail(ErrorCode::invalid_argument, op,
         "axis " + std::to_string(axis) + " is outside of a tensor of rank " + std::to_string(rank) + ".");
  return from_front;
}

std::vector<int> checked_axes(std::string_view op, std::span<const int> axes, int rank) {
  std::vector<int> checked;
  for (const int axis : axes) checked.push_back(checked_axis(op, axis, rank));
  if (axes.empty()) {
    checked.resize(static_cast<std::size_t>(rank));
    std::iota(checked.begin(), checked.end(), 0);
  }
  std::sort(checked.begin(), checked.end());
  if (const auto twice = std::adjacent_find(checked.begin(), checked.end()); twice != checked.end())
    fail(ErrorCode::invalid_argument, op, "axis " + std::to_string(*twice) + " is given twice.");
  return checked;
}

void check_dtype(std::string_view op, const Tensor& tensor, bool takes, std::string_view expected) {
  if (!takes)
    fail(ErrorCode::dtype_mismatch, op,
         "an operand is " + std::string(to_string(tensor.dtype())) + "; it takes " + std::string(expected) + ".");
}

void check_same_context(std::string_view op, const NodeInfo& a, const NodeInfo& b) {
  if (a.context == b.context) return;
  fail(ErrorCode::invalid_argument, op,
       "the operands belong to two contexts, one on " + a.context->device_name() + ", one on " +
           b.context->device_name() + ".");
}

std::vector<Term> terms_of_axes(const Shape& shape, std::span<const int> axes) {
  std::vector<Term> terms;
  std::int64_t block = 1, stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const std::int64_t size = shape[axis];
    if (std::find(axes.begin(), axes.end(), axis) != axes.end() && size != 1) {
      const bool continues = !terms.empty() && terms.back().stride * terms.back().size == stride;
      if (continues) terms.back().size *= size;
      else terms.push_back({block, size, stride});
      block *= size;
    }
    stride *= size;
  }
  return terms;
}

Held lowered(const Node& node, Family family) {
  return make_hold(make_node(node.context, node.shape, node.dtype, std::move(family), node.inputs));
}

Tensor family_tensor(const Shape& shape, DType dtype, Family family, std::span<const Tensor> operands) {
  std::vector<Held> inputs;
  const NodeInfo& first = TensorAccess::info(operands[0]);
  for (const Tensor& operand : operands) {
    inputs.push_back(TensorAccess::held(operand));
    check_same_context(family.entry->name, first, inputs.back()->info());
  }
  const auto context = first.context;
  return TensorAccess::tensor(make_node(context, shape, dtype, std::move(family), std::move(inputs)));
}

Tensor family_tensor(const Shape& shape, DType dtype, Family family, std::initializer_list<Tensor> operands) {
  return family_tensor(shape, dtype, std::move(family), std::span(operands.begin(), operands.size()));
}

Tensor strided_tensor(const Tensor& x, const Shape& shape, std::int64_t offset, std::vector<Term> terms) {
  const NodeInfo& info = TensorAccess::info(x);
  const bool in_order = shape.size() == 1 || (terms.size() == 1 && terms[0] == Term{1, shape.size(), 1});
  Operation operation = in_order ? Operation(View{offset}) : Operation(Strided{offset, std::move(terms)});
  return TensorAccess::tensor(
      make_node(info.context, shape, info.dtype, std::move(operation), std::vector{TensorAccess::held(x)}));
}

double lowest_number(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::f16: return -std::numeric_limits<double>::infinity();
    case DType::i32: return -2147483648.0;
    case DType::i8: return -128;
    case DType::u8:
    case DType::boolean: break;
  }
  return 0;
}

double highest_number(DType dtype) {
  switch (dtype) {
    case DType::f32:
    case DType::f16: return std::numeric_limits<double>::infinity();
    case DType::i32: return 2147483647.0;
    case DType::i8: return 127;
    case DType::u8: return 255;
    case DType::boolean: break;
  }
  return 1;
}

Tensor number_like(const Tensor& x, const Shape& shape, double value) {
  return TensorAccess::tensor(number_node("constant", TensorAccess::info(x).context, shape, x.dtype(), value));
}

}  // namespace tessera

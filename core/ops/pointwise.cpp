#include "core/ops/pointwise.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/kernel/pointwise_table.h"
#include "core/ops/family.h"
#include "core/run/context_impl.h"
#include <tessera/pointwise.h>

namespace tessera {
namespace {

std::string_view described(Takes takes) {
  switch (takes) {
    case Takes::floats: return "f32 and f16";
    case Takes::numbers: return "floats and integers";
    case Takes::i32: return "i32";
    case Takes::booleans: return "booleans";
    case Takes::anything:
    case Takes::condition: return "every type";
  }
  return "";
}

const NodeInfo* tensor_in(const Operand& operand) {
  const auto* tensor = std::get_if<const Tensor*>(&operand);
  return tensor ? &TensorAccess::info(**tensor) : nullptr;
}

void check_condition(const PointwiseOp& op, const NodeInfo* condition) {
  if (!condition) fail(ErrorCode::dtype_mismatch, op.name, "the condition is a number; it must be a boolean tensor.");
  if (condition->dtype != DType::boolean)
    fail(ErrorCode::dtype_mismatch, op.name,
         "the condition is " + std::string(to_string(condition->dtype)) + "; it must be boolean.");
}

// That tensors agree with the first one on the type that the operation computes in.
void check_dtype(const PointwiseOp& op, DType first, DType dtype) {
  if (dtype != first)
    fail(ErrorCode::dtype_mismatch, op.name,
         "the operands are " + std::string(to_string(first)) + " and " + std::string(to_string(dtype)) +
             "; cast one of them.");
  if (!accepts(op.takes, dtype))
    fail(ErrorCode::dtype_mismatch, op.name,
         "an operand is " + std::string(to_string(dtype)) + "; it takes " + std::string(described(op.takes)) + ".");
}

}  // namespace

Shape broadcast(std::string_view op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  std::array<std::int64_t, Shape::max_rank> dims{};
  const int rank = std::max(a.rank(), b.rank());
  for (int axis = 1; axis <= rank; ++axis) {
    const std::int64_t a_size = axis <= a.rank() ? a[-axis] : 1, b_size = axis <= b.rank() ? b[-axis] : 1;
    if (a_size != b_size && a_size != 1 && b_size != 1)
      fail(ErrorCode::shape_mismatch, op,
           "shapes " + a.to_string() + " and " + b.to_string() + " do not broadcast: " + std::to_string(a_size) +
               " and " + std::to_string(b_size) + " differ at axis -" + std::to_string(axis) + ".");
    dims[static_cast<std::size_t>(rank - axis)] = a_size == 1 ? b_size : a_size;
  }
  return result_shape(op, std::span<const std::int64_t>(dims.data(), static_cast<std::size_t>(rank)));
}

Tensor map(const PointwiseOp& op, std::span<const Operand> operands) {
  const std::size_t conditions = op.takes == Takes::condition ? 1 : 0;
  const NodeInfo *first = nullptr, *first_typed = nullptr;
  const Shape* shape = nullptr;
  Shape stretched;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const NodeInfo* const node = tensor_in(operands[i]);
    if (i < conditions) check_condition(op, node);
    if (!node) continue;
    if (i >= conditions) {
      if (!first_typed) first_typed = node;
      check_dtype(op, first_typed->dtype, node->dtype);
    }
    if (!first) {
      first = node;
      shape = &node->shape;
      continue;
    }
    check_same_context(op.name, *first, *node);
    if (node->shape == *shape) continue;
    stretched = broadcast(op.name, *shape, node->shape);
    shape = &stretched;
  }
  if (!first_typed)
    fail(ErrorCode::invalid_argument, op.name, "all operands are numbers; one of them must be a tensor.");
  const std::shared_ptr<ContextImpl>& context = first->context;
  const DType dtype = first_typed->dtype, result = op.gives == Gives::boolean ? DType::boolean : dtype;
  NodePtr node = make_node(context, *shape, result, Pointwise(op));
  for (const Operand& operand : operands) {
    if (const auto* tensor = std::get_if<const Tensor*>(&operand)) node->add_input(TensorAccess::held(**tensor));
    else node->add_number(number_node(op.name, context, {}, dtype, std::get<double>(operand)));
  }
  return TensorAccess::tensor(std::move(node));
}

// A row's name as a template argument: a name that the table lacks does not compile.
template <std::size_t N>
struct RowName {
  consteval RowName(const char (&name)[N]) { std::copy_n(name, N, text); }
  char text[N];
};

template <RowName name>
Tensor row(std::initializer_list<Operand> operands) {
  constexpr std::size_t index = pointwise_row(name.text);
  static_assert(index < std::size(pointwise_table), "the table of pointwise operations has no such row");
  return map(pointwise_table[index], operands);
}

#define TESSERA_OPERATOR(symbol, name)                                                     \
  Tensor operator symbol(const Tensor& a, const Tensor& b) { return row<name>({&a, &b}); } \
  Tensor operator symbol(const Tensor& a, double b) { return row<name>({&a, b}); }         \
  Tensor operator symbol(double a, const Tensor& b) { return row<name>({a, &b}); }
TESSERA_OPERATOR(+, "add")
TESSERA_OPERATOR(-, "sub")
TESSERA_OPERATOR(*, "mul")
TESSERA_OPERATOR(/, "div")
TESSERA_OPERATOR(==, "equal")
TESSERA_OPERATOR(!=, "not_equal")
TESSERA_OPERATOR(<, "less")
TESSERA_OPERATOR(<=, "less_equal")
TESSERA_OPERATOR(>, "greater")
TESSERA_OPERATOR(>=, "greater_equal")

#define TESSERA_BINARY(name)                                                     \
  Tensor name(const Tensor& a, const Tensor& b) { return row<#name>({&a, &b}); } \
  Tensor name(const Tensor& a, double b) { return row<#name>({&a, b}); }         \
  Tensor name(double a, const Tensor& b) { return row<#name>({a, &b}); }
// Exponents that are known need less than power() does.
Tensor pow(const Tensor& a, double b) {
  if (b == 2) return square(a);
  const float exponent =
      a.dtype() == DType::f16 ? static_cast<float>(half(static_cast<float>(b))) : static_cast<float>(b);
  const bool is_fraction = std::isfinite(exponent) && exponent != std::trunc(exponent);
  if (is_fraction && is_float(a.dtype())) return map(pow_of_fraction, {&a, b});
  return row<"pow">({&a, b});
}
Tensor pow(const Tensor& a, const Tensor& b) { return row<"pow">({&a, &b}); }
Tensor pow(double a, const Tensor& b) { return row<"pow">({a, &b}); }
TESSERA_BINARY(floor_mod)
TESSERA_BINARY(trunc_mod)
TESSERA_BINARY(minimum)
TESSERA_BINARY(maximum)
TESSERA_BINARY(atan2)
TESSERA_BINARY(squared_difference)
TESSERA_BINARY(prelu)
TESSERA_BINARY(bitwise_and)
TESSERA_BINARY(bitwise_or)
TESSERA_BINARY(bitwise_xor)
TESSERA_BINARY(shift_left)
TESSERA_BINARY(shift_right)

Tensor logical_and(const Tensor& a, const Tensor& b) { return row<"logical_and">({&a, &b}); }
Tensor logical_or(const Tensor& a, const Tensor& b) { return row<"logical_or">({&a, &b}); }
Tensor logical_xor(const Tensor& a, const Tensor& b) { return row<"logical_xor">({&a, &b}); }

Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no) {
  return row<"where">({&condition, &yes, &no});
}
Tensor where(const Tensor& condition, const Tensor& yes, double no) { return row<"where">({&condition, &yes, no}); }
Tensor where(const Tensor& condition, double yes, const Tensor& no) { return row<"where">({&condition, yes, &no}); }

Tensor clip(const Tensor& x, double low, double high) {
  if (!(low <= high))
    fail(ErrorCode::invalid_argument, "clip",
         "low (" + number_text(low) + ") is not below high (" + number_text(high) + ").");
  return row<"clip">({&x, low, high});
}
Tensor clip(const Tensor& x, const Tensor& low, const Tensor& high) { return row<"clip">({&x, &low, &high}); }

Tensor operator-(const Tensor& x) { return neg(x); }
Tensor leaky_relu(const Tensor& x, float slope) { return prelu(x, slope); }
Tensor elu(const Tensor& x, float alpha) { return row<"elu">({&x, alpha}); }
Tensor celu(const Tensor& x, float alpha) { return row<"celu">({&x, alpha}); }
Tensor step(const Tensor& x, float at_negative) { return row<"step">({&x, at_negative}); }

#define TESSERA_UNARY(name) \
  Tensor name(const Tensor& x) { return row<#name>({&x}); }
TESSERA_UNARY(neg)
TESSERA_UNARY(abs)
TESSERA_UNARY(sign)
TESSERA_UNARY(square)
TESSERA_UNARY(relu)
TESSERA_UNARY(relu6)
TESSERA_UNARY(reciprocal)
TESSERA_UNARY(sqrt)
TESSERA_UNARY(rsqrt)
TESSERA_UNARY(exp)
TESSERA_UNARY(expm1)
TESSERA_UNARY(log)
TESSERA_UNARY(log1p)
TESSERA_UNARY(floor)
TESSERA_UNARY(ceil)
TESSERA_UNARY(round)
TESSERA_UNARY(trunc)
TESSERA_UNARY(sin)
TESSERA_UNARY(cos)
TESSERA_UNARY(tan)
TESSERA_UNARY(asin)
TESSERA_UNARY(acos)
TESSERA_UNARY(atan)
TESSERA_UNARY(sinh)
TESSERA_UNARY(cosh)
TESSERA_UNARY(tanh)
TESSERA_UNARY(asinh)
TESSERA_UNARY(acosh)
TESSERA_UNARY(atanh)
TESSERA_UNARY(erf)
TESSERA_UNARY(sigmoid)
TESSERA_UNARY(selu)
TESSERA_UNARY(gelu)
TESSERA_UNARY(gelu_tanh)
TESSERA_UNARY(silu)
TESSERA_UNARY(softplus)
TESSERA_UNARY(softsign)
TESSERA_UNARY(mish)
TESSERA_UNARY(hard_sigmoid)
TESSERA_UNARY(hard_swish)
TESSERA_UNARY(is_nan)
TESSERA_UNARY(is_inf)
TESSERA_UNARY(is_finite)
TESSERA_UNARY(bitwise_not)
TESSERA_UNARY(logical_not)

}  // namespace tessera

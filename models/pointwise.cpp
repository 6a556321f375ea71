// Operators on each element.
#include <cmath>

#include "models/operators.h"
#include "models/small_floats.h"

namespace tessera::onnx {

namespace {

template <class Function>
auto unary(const Function& function) {
  return [function](const Call& call) -> Results {
    const Order order = call.value(0).order();
    return {call.give(function(call.tensor(0, order)), order)};
  };
}

template <class Function>
auto unary_with_alpha(float otherwise, const Function& function) {
  return [otherwise, function](const Call& call) -> Results {
    const Order order = call.value(0).order();
    return {call.give(function(call.tensor(0, order), call.number("alpha", otherwise)), order)};
  };
}

// Before opset 7 the second operand's axes could be said to begin at an axis of the first.
bool has_old_broadcast(const Call& call) {
  return call.opset() < 7 && call.integer("broadcast", 0) != 0 && call.attribute("axis") && call.rank(1) < call.rank(0);
}

Tensor old_broadcast(const Call& call, std::int64_t axis) {
  const Tensor second = call.tensor(1);
  Sizes sizes(second.shape().dims().begin(), second.shape().dims().end());
  const std::int64_t after = call.rank(0) - call.axis(axis, call.rank(0)) - second.shape().rank();
  call.expect(after >= 0, "its second input does not fit at the axis " + std::to_string(axis) + ".");
  sizes.insert(sizes.end(), static_cast<std::size_t>(after), 1);
  return second.reshape(Shape(sizes));
}

// The function takes two tensors, or a tensor and a number: a number that is known needs no memory on the device.
template <class Function>
Tensor apply_binary(const Call& call, const Function& function, Order order) {
  if (!call.on_host()) {
    if (const auto number = call.known_number(1); number && call.rank(1) <= call.rank(0))
      return function(call.aligned(0, order), *number);
    if (const auto number = call.known_number(0); number && call.rank(0) <= call.rank(1))
      return function(*number, call.aligned(1, order));
  }
  return function(call.aligned(0, order), call.aligned(1, order));
}

template <class Function>
auto binary(const Function& function, Type result = Type::undefined) {
  return [function, result](const Call& call) -> Results {
    const Type type = result == Type::undefined ? call.type() : result;
    if (has_old_broadcast(call))
      return {call.give(function(call.tensor(0), old_broadcast(call, call.integer("axis"))), type)};
    const Order order = call.common_order();
    return {call.give(apply_binary(call, function, order), type, order)};
  };
}

template <class Function>
auto logical(const Function& function) {
  return [function](const Call& call) -> Results {
    if (has_old_broadcast(call))
      return {call.give(function(call.tensor(0), old_broadcast(call, call.integer("axis"))))};
    const Order order = call.common_order();
    return {call.give(function(call.aligned(0, order), call.aligned(1, order)), order)};
  };
}

template <class Function>
auto all_inputs(const Function& function) {
  return [function](const Call& call) -> Results {
    const Order order = call.common_order();
    Tensor result = call.aligned(0, order);
    for (int i = 1; i < call.inputs(); ++i) result = function(result, call.aligned(i, order));
    return {call.give(result, order)};
  };
}

Results average(const Call& call) {
  const Order order = call.common_order();
  Tensor result = call.aligned(0, order);
  for (int i = 1; i < call.inputs(); ++i) result = result + call.aligned(i, order);
  return {call.give(call.inputs() > 1 ? result / call.inputs() : result, order)};
}

Results slope(const Call& call) {  // PRelu: before opset 7 the slope was one number for each channel
  const Order order = call.common_order();
  if (call.opset() < 7 && call.rank(1) == 1 && call.rank(0) > 2) {
    const Tensor x = call.tensor(0, Order::channels_last);
    return {call.give(prelu(x, call.tensor(1)), Order::channels_last)};
  }
  return {call.give(prelu(call.aligned(0, order), call.aligned(1, order)), order)};
}

Results power(const Call& call) {
  const Order order = call.common_order();
  const Tensor base = call.aligned(0, order);
  if (const auto number = call.known_number(1); number && !call.on_host() && call.rank(1) <= call.rank(0))
    if (is_float(base.dtype()) || *number == std::trunc(*number)) return {call.give(pow(base, *number), order)};
  return {call.give(pow(base, call.aligned(1, order).cast(base.dtype())), order)};
}

Results modulo(const Call& call) {
  const Order order = call.common_order();
  const Tensor a = call.aligned(0, order), b = call.aligned(1, order);
  return {call.give(call.integer("fmod", 0) ? trunc_mod(a, b) : floor_mod(a, b), order)};
}

Results shift(const Call& call) {
  const Order order = call.common_order();
  const Tensor a = call.aligned(0, order), bits = call.aligned(1, order).cast(DType::i32), x = a.cast(DType::i32);
  const bool is_left = call.text("direction", "") == "LEFT";
  call.expect(is_left || call.text("direction", "") == "RIGHT", "its direction is neither LEFT nor RIGHT.");
  Tensor result = is_left ? shift_left(x, bits) : shift_right(x, bits);
  if (call.type() == Type::uint16) result = bitwise_and(result, 0xffff);
  return {call.give(result.cast(a.dtype()), order)};
}

Results limits(const Call& call, std::optional<Tensor> low, std::optional<Tensor> high, Order order) {
  Tensor x = call.tensor(0, order);
  if (low) x = maximum(x, *low);
  if (high) x = minimum(x, *high);
  return {call.give(x, order)};
}

Results clip_by_attributes(const Call& call) {
  const Order order = call.value(0).order();
  Tensor x = call.tensor(0, order);
  if (call.attribute("min")) x = maximum(x, call.number("min", 0));
  if (call.attribute("max")) x = minimum(x, call.number("max", 0));
  return {call.give(x, order)};
}

Results clip_by_inputs(const Call& call) {
  const Order order = call.value(0).order();
  const auto low = call.known_number(1), high = call.known_number(2);
  if (low && high && *low <= *high && !call.on_host())
    return {call.give(clip(call.tensor(0, order), *low, *high), order)};
  const auto bound = [&](int input) -> std::optional<Tensor> {
    if (!call.has(input)) return {};
    call.expect(call.shape(input).size() == 1, "a limit is no single number.");
    return call.tensor(input).reshape(Shape{});
  };
  return limits(call, bound(1), bound(2), order);
}

Results hard_sigmoid_of(const Call& call) {
  const Order order = call.value(0).order();
  const Tensor x = call.tensor(0, order);
  return {call.give(clip(x * call.number("alpha", 0.2f) + call.number("beta", 0.5f), 0, 1), order)};
}

Results selu_of(const Call& call) {
  const Order order = call.value(0).order();
  const float alpha = call.number("alpha", 1.67326319217681884765625f),
              gamma = call.number("gamma", 1.05070102214813232421875f);
  return {call.give(elu(call.tensor(0, order), alpha) * gamma, order)};
}

Results shrink(const Call& call) {
  const Order order = call.value(0).order();
  const Tensor x = call.tensor(0, order);
  const float bias = call.number("bias", 0), limit = call.number("lambd", 0.5f);
  const Tensor above = where(x > limit, x - bias, 0);
  return {call.give(where(x < -limit, x + bias, above), order)};
}

Results infinite(const Call& call) {
  const Order order = call.value(0).order();
  const Tensor x = call.tensor(0, order);
  Tensor result = is_inf(x);
  if (call.integer("detect_positive", 1) == 0) result = logical_and(result, x < 0);
  if (call.integer("detect_negative", 1) == 0) result = logical_and(result, x > 0);
  return {call.give(result, Type::boolean, order)};
}

Results gelu_of(const Call& call) {
  const Order order = call.value(0).order();
  const Tensor x = call.tensor(0, order);
  return {call.give(call.text("approximate", "none") == "tanh" ? gelu_tanh(x) : gelu(x), order)};
}

Results select(const Call& call) {
  const Order order = call.common_order();
  const Tensor condition = call.aligned(0, order);
  if (!call.on_host()) {
    if (const auto number = call.known_number(2); number && call.rank(2) <= call.rank(1) && !call.known_number(1))
      return {call.give(where(condition, call.aligned(1, order), *number), call.type(1), order)};
    if (const auto number = call.known_number(1); number && call.rank(1) <= call.rank(2) && !call.known_number(2))
      return {call.give(where(condition, *number, call.aligned(2, order)), call.type(1), order)};
  }
  return {call.give(where(condition, call.aligned(1, order), call.aligned(2, order)), call.type(1), order)};
}

Value cast_to(const Call& call, Type type) {
  const DType dtype = dtype_of(call, type);
  const Order order = call.value(0).order();
  Tensor x = call.tensor(0, order);
  if (type == Type::bfloat16 && call.type() != Type::bfloat16)
    return call.give(to_bfloat16(x.cast(DType::f32)), type, order);
  if (is_float8(type) && call.type() != type)
    return call.give(to_float8(x.cast(DType::f32), type, call.integer("saturate", 1) != 0), type, order);
  if ((type == Type::int4 || type == Type::uint4) && call.type() != type) {
    if (is_float(x.dtype())) x = round(x);
    x = clip(x.dtype() == DType::boolean ? x.cast(DType::i32) : x,
             type == Type::int4 && x.dtype() != DType::u8 ? -8 : 0, type == Type::int4 ? 7 : 15);
  }
  x = x.cast(dtype);
  if (type == Type::uint16 && is_integer(dtype)) x = bitwise_and(x, 0xffff);
  return call.give(x, type, order);
}

Results dropout(const Call& call) {
  const bool is_training = call.opset() >= 12
                               ? call.has(2) && call.number_of(2) != 0
                               : call.opset() < 7 && call.integer("is_test", 0) == 0 && call.outputs() > 1;
  const double ratio = call.opset() >= 12 ? (call.has(1) ? call.number_of(1) : 0.5) : call.number("ratio", 0.5f);
  if (is_training && ratio > 0) call.unsupported("training draws random numbers.");
  Results results{call.value(0)};
  if (call.outputs() > 1)
    results.push_back(call.give(call.context().full(call.shape(0), 1, DType::boolean), Type::boolean));
  return results;
}

}  // namespace

const Operators& pointwise_operators() {
  static const Operators rows{
      {"Add", 1, binary([](const auto& a, const auto& b) { return a + b; })},
      {"Sub", 1, binary([](const auto& a, const auto& b) { return a - b; })},
      {"Mul", 1, binary([](const auto& a, const auto& b) { return a * b; })},
      {"Div", 1, binary([](const auto& a, const auto& b) { return a / b; })},
      {"Equal", 1, binary([](const auto& a, const auto& b) { return a == b; }, Type::boolean)},
      {"Less", 1, binary([](const auto& a, const auto& b) { return a < b; }, Type::boolean)},
      {"LessOrEqual", 1, binary([](const auto& a, const auto& b) { return a <= b; }, Type::boolean)},
      {"Greater", 1, binary([](const auto& a, const auto& b) { return a > b; }, Type::boolean)},
      {"GreaterOrEqual", 1, binary([](const auto& a, const auto& b) { return a >= b; }, Type::boolean)},
      {"And", 1, logical([](const auto& a, const auto& b) { return logical_and(a, b); })},
      {"Or", 1, logical([](const auto& a, const auto& b) { return logical_or(a, b); })},
      {"Xor", 1, logical([](const auto& a, const auto& b) { return logical_xor(a, b); })},
      {"BitwiseAnd", 18, logical([](const Tensor& a, const Tensor& b) {
         return bitwise_and(a.cast(DType::i32), b.cast(DType::i32)).cast(a.dtype());
       })},
      {"BitwiseOr", 18, logical([](const Tensor& a, const Tensor& b) {
         return bitwise_or(a.cast(DType::i32), b.cast(DType::i32)).cast(a.dtype());
       })},
      {"BitwiseXor", 18, logical([](const Tensor& a, const Tensor& b) {
         return bitwise_xor(a.cast(DType::i32), b.cast(DType::i32)).cast(a.dtype());
       })},
      {"BitwiseNot", 18, unary([](const Tensor& x) { return bitwise_not(x.cast(DType::i32)).cast(x.dtype()); })},
      {"Not", 1, unary([](const Tensor& x) { return logical_not(x); })},
      {"Neg", 1, unary([](const Tensor& x) { return -x; })},
      {"Abs", 1, unary([](const Tensor& x) { return abs(x); })},
      {"Sign", 1, unary([](const Tensor& x) { return sign(x); })},
      {"Relu", 1, unary([](const Tensor& x) { return relu(x); })},
      {"Exp", 1, unary([](const Tensor& x) { return exp(x); })},
      {"Log", 1, unary([](const Tensor& x) { return log(x); })},
      {"Sqrt", 1, unary([](const Tensor& x) { return sqrt(x); })},
      {"Reciprocal", 1, unary([](const Tensor& x) { return reciprocal(x); })},
      {"Floor", 1, unary([](const Tensor& x) { return floor(x); })},
      {"Ceil", 1, unary([](const Tensor& x) { return ceil(x); })},
      {"Round", 1, unary([](const Tensor& x) { return round(x); })},
      {"Sin", 1, unary([](const Tensor& x) { return sin(x); })},
      {"Cos", 1, unary([](const Tensor& x) { return cos(x); })},
      {"Tan", 1, unary([](const Tensor& x) { return tan(x); })},
      {"Asin", 1, unary([](const Tensor& x) { return asin(x); })},
      {"Acos", 1, unary([](const Tensor& x) { return acos(x); })},
      {"Atan", 1, unary([](const Tensor& x) { return atan(x); })},
      {"Sinh", 1, unary([](const Tensor& x) { return sinh(x); })},
      {"Cosh", 1, unary([](const Tensor& x) { return cosh(x); })},
      {"Tanh", 1, unary([](const Tensor& x) { return tanh(x); })},
      {"Asinh", 1, unary([](const Tensor& x) { return asinh(x); })},
      {"Acosh", 1, unary([](const Tensor& x) { return acosh(x); })},
      {"Atanh", 1, unary([](const Tensor& x) { return atanh(x); })},
      {"Erf", 1, unary([](const Tensor& x) { return erf(x); })},
      {"Sigmoid", 1, unary([](const Tensor& x) { return sigmoid(x); })},
      {"Softplus", 1, unary([](const Tensor& x) { return softplus(x); })},
      {"Softsign", 1, unary([](const Tensor& x) { return softsign(x); })},
      {"HardSwish", 14, unary([](const Tensor& x) { return hard_swish(x); })},
      {"Mish", 18, unary([](const Tensor& x) { return mish(x); })},
      {"Gelu", 20, gelu_of},
      {"Elu", 1, unary_with_alpha(1, [](const Tensor& x, float alpha) { return elu(x, alpha); })},
      {"Celu", 1, unary_with_alpha(1, [](const Tensor& x, float alpha) { return celu(x, alpha); })},
      {"LeakyRelu", 1, unary_with_alpha(0.01f, [](const Tensor& x, float alpha) { return leaky_relu(x, alpha); })},
      {"ThresholdedRelu", 1, unary_with_alpha(1, [](const Tensor& x, float alpha) { return where(x > alpha, x, 0); })},
      {"Selu", 1, selu_of},
      {"HardSigmoid", 1, hard_sigmoid_of},
      {"PRelu", 1, slope},
      {"Shrink", 1, shrink},
      {"IsInf", 1, infinite},
      {"IsNaN", 1,
       [](const Call& call) -> Results {
         const Order order = call.value(0).order();
         return {call.give(is_nan(call.tensor(0, order)), Type::boolean, order)};
       }},
      {"Pow", 1, power},
      {"Mod", 1, modulo},
      {"BitShift", 1, shift},
      {"Clip", 1, clip_by_attributes},
      {"Clip", 11, clip_by_inputs},
      {"Sum", 1, all_inputs([](const Tensor& a, const Tensor& b) { return a + b; })},
      {"Max", 1, all_inputs([](const Tensor& a, const Tensor& b) { return maximum(a, b); })},
      {"Min", 1, all_inputs([](const Tensor& a, const Tensor& b) { return minimum(a, b); })},
      {"Mean", 1, average},
      {"Where", 1, select},
      {"Cast", 1, [](const Call& call) -> Results { return {cast_to(call, static_cast<Type>(call.integer("to")))}; }},
      {"CastLike", 1, [](const Call& call) -> Results { return {cast_to(call, call.type(1))}; }},
      {"Identity", 1, [](const Call& call) -> Results { return {call.value(0)}; }},
      {"Dropout", 1, dropout},
  };
  return rows;
}

}  // namespace tessera::onnx

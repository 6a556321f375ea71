// Operators on each element.
#include <limits>

#include "models/tfjs/operators.h"

namespace tessera::tfjs {

namespace {

// The same as an operator of ONNX.
Operator same_as(std::string_view name, const char* onnx_name, std::int64_t opset = 17) {
  return {name, 1, [onnx_name, opset](const Call& call) { return onnx::onnx_operator(onnx_name, opset).run(call); }};
}

template <class Function>
auto each(const Function& function, Type result = Type::undefined) {
  return [function, result](const Call& call) -> Results {
    return {call.give(function(call.tensor(0)), result == Type::undefined ? call.type() : result)};
  };
}

template <class Function>
auto pair(const Function& function, Type result = Type::undefined) {
  return [function, result](const Call& call) -> Results {
    return {call.give(function(call.tensor(0), call.tensor(1)), result == Type::undefined ? call.type() : result)};
  };
}

Tensor floored_quotient(const Tensor& a, const Tensor& b) {
  return is_float(a.dtype()) ? floor(a / b) : (a - floor_mod(a, b)) / b;
}

Results clipped(const Call& call) {
  const auto low = call.known_number(1), high = call.known_number(2);
  if (low && high && *low <= *high) return {call.give(clip(call.tensor(0), *low, *high))};
  return {call.give(minimum(maximum(call.tensor(0), call.tensor(1)), call.tensor(2)))};
}

Results cast_as_said(const Call& call) {
  const auto type = static_cast<Type>(call.integer("DstT"));
  return {call.give(call.tensor(0).cast(onnx::dtype_of(call, type)), type)};
}

// Before SelectV2 the condition could be one for each row.
Results select_rows(const Call& call) {
  if (call.rank(0) != 1 || call.rank(1) < 2) return onnx::onnx_operator("Where", 17).run(call);
  Sizes sizes(static_cast<std::size_t>(call.rank(1)), 1);
  sizes[0] = call.shape(0)[0];
  return {call.give(where(call.tensor(0).reshape(Shape(sizes)), call.tensor(1), call.tensor(2)), call.type(1))};
}

Results keras_relu(const Call& call) {  // with what Keras's layer may say of it
  const float slope = call.number("negative_slope", 0), threshold = call.number("threshold", 0),
              most = call.number("max_value", std::numeric_limits<float>::infinity());
  const Tensor x = call.tensor(0);
  Tensor result = threshold == 0 ? (slope == 0 ? relu(x) : leaky_relu(x, slope))
                                 : where(x >= threshold, x, (x - threshold) * slope);
  if (most < std::numeric_limits<float>::infinity()) result = minimum(result, most);
  return {call.give(result)};
}

}  // namespace

Tensor activated(const Call& call, const Tensor& x, const std::string& name, int first) {
  if (name == "Relu") return relu(x);
  if (name == "Relu6") return relu6(x);
  if (name == "Elu") return elu(x);
  if (name == "Sigmoid") return sigmoid(x);
  if (name == "Tanh") return tanh(x);
  if (name == "LeakyRelu") return leaky_relu(x, call.number("leakyrelu_alpha", 0.2f));
  if (name == "Prelu") return prelu(x, call.tensor(first));
  call.unsupported("there is no fused operator '" + name + "'.");
}

Tensor with_fused_operators(const Call& call, Tensor x, int first) {
  const onnx::AttributeProto* fused = call.attribute("fused_ops");
  if (!fused) return x;
  for (const std::string& name : fused->texts) {
    if (name == "BiasAdd") x = x + call.tensor(first++);
    else x = activated(call, x, name, first);
  }
  return x;
}

const Operators& pointwise_operators() {
  static const Operators rows{
      same_as("Add", "Add"),
      same_as("AddV2", "Add"),
      same_as("BiasAdd", "Add"),
      same_as("BiasAddV1", "Add"),
      same_as("AddN", "Sum"),
      same_as("Sub", "Sub"),
      same_as("Mul", "Mul"),
      same_as("RealDiv", "Div"),
      {"Div", 1,
       pair([](const Tensor& a, const Tensor& b) { return is_float(a.dtype()) ? a / b : floored_quotient(a, b); })},
      {"DivNoNan", 1, pair([](const Tensor& a, const Tensor& b) { return where(b == 0, 0, a / b); })},
      {"FloorDiv", 1, pair(floored_quotient)},
      same_as("FloorMod", "Mod"),
      same_as("Mod", "Mod"),
      same_as("Maximum", "Max"),
      same_as("Minimum", "Min"),
      same_as("Pow", "Pow"),
      {"SquaredDifference", 1, pair([](const Tensor& a, const Tensor& b) { return squared_difference(a, b); })},
      {"Atan2", 1, pair([](const Tensor& a, const Tensor& b) { return atan2(a, b); })},
      same_as("BitwiseAnd", "BitwiseAnd", 18),
      same_as("Equal", "Equal"),
      {"NotEqual", 1, pair([](const Tensor& a, const Tensor& b) { return a != b; }, Type::boolean)},
      same_as("Less", "Less"),
      same_as("LessEqual", "LessOrEqual"),
      same_as("Greater", "Greater"),
      same_as("GreaterEqual", "GreaterOrEqual"),
      same_as("LogicalAnd", "And"),
      same_as("LogicalOr", "Or"),
      same_as("LogicalXor", "Xor"),
      same_as("LogicalNot", "Not"),
      same_as("SelectV2", "Where"),
      {"Select", 1, select_rows},
      same_as("Neg", "Neg"),
      same_as("Abs", "Abs"),
      same_as("Sign", "Sign"),
      same_as("Relu", "Relu"),
      {"Relu6", 1, each([](const Tensor& x) { return relu6(x); })},
      same_as("Elu", "Elu"),
      same_as("Selu", "Selu"),
      {"LeakyRelu", 1,
       [](const Call& call) -> Results { return {call.give(leaky_relu(call.tensor(0), call.number("alpha", 0.2f)))}; }},
      same_as("Prelu", "PRelu"),
      same_as("Exp", "Exp"),
      {"Expm1", 1, each([](const Tensor& x) { return expm1(x); })},
      same_as("Log", "Log"),
      {"Log1p", 1, each([](const Tensor& x) { return log1p(x); })},
      same_as("Sqrt", "Sqrt"),
      {"Rsqrt", 1, each([](const Tensor& x) { return rsqrt(x); })},
      {"Square", 1, each([](const Tensor& x) { return square(x); })},
      same_as("Reciprocal", "Reciprocal"),
      same_as("Inv", "Reciprocal"),
      same_as("Floor", "Floor"),
      same_as("Ceil", "Ceil"),
      same_as("Round", "Round"),
      same_as("Rint", "Round"),
      same_as("Sin", "Sin"),
      same_as("Cos", "Cos"),
      same_as("Tan", "Tan"),
      same_as("Asin", "Asin"),
      same_as("Acos", "Acos"),
      same_as("Atan", "Atan"),
      same_as("Sinh", "Sinh"),
      same_as("Cosh", "Cosh"),
      same_as("Tanh", "Tanh"),
      same_as("Asinh", "Asinh"),
      same_as("Acosh", "Acosh"),
      same_as("Atanh", "Atanh"),
      same_as("Erf", "Erf"),
      same_as("Sigmoid", "Sigmoid"),
      same_as("Softplus", "Softplus"),
      same_as("Softsign", "Softsign"),
      same_as("IsNan", "IsNaN"),
      same_as("IsInf", "IsInf"),
      {"IsFinite", 1, each([](const Tensor& x) { return is_finite(x); }, Type::boolean)},
      {"ClipByValue", 1, clipped},
      {"Cast", 1, cast_as_said},
      same_as("Identity", "Identity"),
      same_as("StopGradient", "Identity"),
      same_as("PreventGradient", "Identity"),
      same_as("Snapshot", "Identity"),
      same_as("EnsureShape", "Identity"),
      same_as("PlaceholderWithDefault", "Identity"),
      same_as("FakeQuantWithMinMaxVars", "Identity"),  // as TF.js has it
      {"IdentityN", 1,
       [](const Call& call) {
         Results results;
         for (int i = 0; i < call.inputs(); ++i) results.push_back(call.value(i));
         return results;
       }},
      // Of layers models only: activations that TensorFlow itself has no operator for.
      {"KerasRelu", 1, keras_relu},
      same_as("KerasElu", "Elu"),
      same_as("KerasHardSigmoid", "HardSigmoid"),
      same_as("KerasGelu", "Gelu", 20),
      same_as("KerasMish", "Mish", 18),
      {"KerasSilu", 1, each([](const Tensor& x) { return silu(x); })},
      {"KerasThresholdedRelu", 1,
       [](const Call& call) -> Results {
         const Tensor x = call.tensor(0);
         return {call.give(where(x > call.number("theta", 1), x, 0))};
       }},
      {"KerasScale", 1,
       [](const Call& call) -> Results {
         return {call.give(call.tensor(0).cast(DType::f32) * call.number("scale", 1) + call.number("offset", 0),
                           Type::float32)};
       }},
  };
  return rows;
}

}  // namespace tessera::tfjs

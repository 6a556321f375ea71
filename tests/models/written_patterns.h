// Layer norms, GELUs and attention, operation by operation, and products between dequantizing and quantizing.
#pragma once
#include "tests/models/onnx_writer.h"

namespace tessera::test {

inline Message pattern_number(const char* name, float value) {
  return tensor_message(name, onnx::Type::float32, {}, std::vector{value});
}

// With `seen`, that value is an output too, and so cannot go.
inline Message pattern_network(std::vector<Message> nodes, std::vector<Message> initializers, const std::string& seen,
                               std::int64_t opset = 13) {
  std::vector<Message> outputs{value_message("y", onnx::Type::float32, {"3", "8"})};
  if (!seen.empty()) outputs.push_back(value_message(seen, onnx::Type::float32, {"3", "n"}));
  return model_message({.nodes = std::move(nodes),
                        .initializers = std::move(initializers),
                        .inputs = {value_message("x", onnx::Type::float32, {"3", "8"})},
                        .outputs = std::move(outputs)},
                       opset);
}

inline Message written_layer_norm(bool has_power, bool has_axes_as_input, const std::string& seen = "") {
  const Message last = attribute_message("axes", std::vector<std::int64_t>{-1});
  const auto mean = [&](const char* from, const char* to) {
    return has_axes_as_input ? node_message("ReduceMean", {from, "last"}, {to})
                             : node_message("ReduceMean", {from}, {to}, {last});
  };
  std::vector<float> gamma, beta;
  for (int i = 0; i < 8; ++i) gamma.push_back(0.5f + static_cast<float>(i)), beta.push_back(static_cast<float>(i - 4));
  return pattern_network(
      {mean("x", "mean"), node_message("Sub", {"x", "mean"}, {"deviation"}),
       has_power ? node_message("Pow", {"deviation", "two"}, {"square"})
                 : node_message("Mul", {"deviation", "deviation"}, {"square"}),
       mean("square", "variance"), node_message("Add", {"variance", "epsilon"}, {"sum"}),
       node_message("Sqrt", {"sum"}, {"root"}), node_message("Div", {"deviation", "root"}, {"normalised"}),
       node_message("Mul", {"gamma", "normalised"}, {"scaled"}), node_message("Add", {"scaled", "beta"}, {"y"})},
      {pattern_number("two", 2), pattern_number("epsilon", 0.01f),
       tensor_message("gamma", onnx::Type::float32, {8}, gamma), tensor_message("beta", onnx::Type::float32, {8}, beta),
       tensor_message("last", onnx::Type::int64, {1}, std::vector<std::int64_t>{-1})},
      seen, has_axes_as_input ? 18 : 13);
}

inline Message written_gelu(bool ends_with_half, bool divides, const std::string& seen = "", float one = 1) {
  std::vector<Message> nodes{
      divides ? node_message("Div", {"x", "root"}, {"inner"}) : node_message("Mul", {"reciprocal", "x"}, {"inner"}),
      node_message("Erf", {"inner"}, {"erf"}), node_message("Add", {"erf", "one"}, {"factor"})};
  if (ends_with_half) {
    nodes.push_back(node_message("Mul", {"x", "factor"}, {"double"}));
    nodes.push_back(node_message("Mul", {"double", "half"}, {"y"}));
  } else {
    nodes.push_back(node_message("Mul", {"half", "x"}, {"halved"}));
    nodes.push_back(node_message("Mul", {"factor", "halved"}, {"y"}));
  }
  return pattern_network(std::move(nodes),
                         {pattern_number("root", 1.41421356f), pattern_number("reciprocal", 0.70710678f),
                          pattern_number("one", one), pattern_number("half", 0.5f)},
                         seen);
}

// Two heads of four numbers, for x of three steps. `scaling` is "Mul", "Div" or empty.
inline Message written_attention(const std::string& scaling, bool has_mask, const std::string& seen = "",
                                 std::int64_t axis = -1) {
  const auto order = [](std::vector<std::int64_t> axes) { return attribute_message("perm", axes); };
  std::vector<Message> nodes{node_message("Reshape", {"x", "by_heads"}, {"split"}),
                             node_message("Transpose", {"split"}, {"q"}, {order({1, 0, 2})}),
                             node_message("Transpose", {"split"}, {"keys"}, {order({1, 2, 0})}),
                             node_message("MatMul", {"q", "keys"}, {"scores"})};
  std::string scores = "scores";
  if (!scaling.empty()) nodes.push_back(node_message(scaling, {scores, scaling}, {"scaled"})), scores = "scaled";
  if (has_mask) nodes.push_back(node_message("Add", {"mask", scores}, {"masked"})), scores = "masked";
  nodes.push_back(node_message("Softmax", {scores}, {"shares"}, {attribute_message("axis", axis)}));
  nodes.push_back(node_message("MatMul", {"shares", "q"}, {"means"}));
  nodes.push_back(node_message("Transpose", {"means"}, {"in_order"}, {order({1, 0, 2})}));
  nodes.push_back(node_message("Reshape", {"in_order", "together"}, {"y"}));
  return pattern_network(
      std::move(nodes),
      {pattern_number("Mul", 0.5f), pattern_number("Div", 2),
       tensor_message("mask", onnx::Type::float32, {3, 3}, std::vector<float>{0, -9, -9, 0, 1, -9, 0, 1, 2}),
       tensor_message("by_heads", onnx::Type::int64, {3}, std::vector<std::int64_t>{3, 2, 4}),
       tensor_message("together", onnx::Type::int64, {2}, std::vector<std::int64_t>{3, 8})},
      seen);
}

// A MatMul, Gemm or Conv of u8 with a zero point of 128 by bytes, whose result is u8 again. All scales are powers of
// two, so that floats are as exact as integers.
struct WrittenQuantized {
  std::string op = "MatMul";
  bool has_channel_scales = false;
  bool has_bias = false;
  bool has_pads = false;               // of a Conv
  int weight_zero = 0;                 // of u8 where it is not 0, else of i8
  std::int64_t weight_axis = 1;        // which the scales are for
  std::vector<float> y_scales{0.25f};  // one, or one for each channel
  std::string second_x{};              // "dequantized", or "dequantized_again": that of a second product, to be added
  std::string seen{};                  // an output too, in floats
};

inline Message written_quantized(const WrittenQuantized& how) {
  const bool is_conv = how.op == "Conv", is_signed = how.weight_zero == 0;
  const std::vector<std::int64_t> dims =
      is_conv ? std::vector<std::int64_t>{8, 4, 3, 3} : std::vector<std::int64_t>{8, 8};
  std::vector<std::uint8_t> weights;
  for (int i = 0; i < (is_conv ? 288 : 64); ++i)
    weights.push_back(static_cast<std::uint8_t>(i * 37 % 255 - (is_signed ? 127 : 0)));
  const onnx::Type weight_type = is_signed ? onnx::Type::int8 : onnx::Type::uint8;
  const std::int64_t scales = how.has_channel_scales ? 8 : 1;
  const std::vector<std::int64_t> scale_dims =
      how.has_channel_scales ? std::vector<std::int64_t>{8} : std::vector<std::int64_t>{};
  std::vector<float> weight_scales;
  std::vector<std::int32_t> bias;
  for (int i = 0; i < 8; ++i) {
    if (i < scales) weight_scales.push_back(i % 2 == 0 ? 0.0078125f : 0.015625f);
    bias.push_back(100 * i - 350);
  }
  std::vector<std::string> operands{"dequantized", "dequantized_weights"};
  std::vector<Message> nodes{node_message("DequantizeLinear", {"x", "x_scale", "zero"}, {"dequantized"}),
                             node_message("DequantizeLinear", {"weights", "weight_scales", "weight_zeros"},
                                          {"dequantized_weights"}, {attribute_message("axis", how.weight_axis)})};
  if (how.has_bias) {
    nodes.push_back(node_message("DequantizeLinear", {"bias", "bias_scale"}, {"dequantized_bias"}));
    operands.push_back("dequantized_bias");
  }
  std::vector<Message> attributes;
  if (how.op == "Gemm") attributes.push_back(attribute_message("transB", std::int64_t{1}));
  if (how.has_pads) attributes.push_back(attribute_message("pads", std::vector<std::int64_t>{1, 0, 2, 1}));
  nodes.push_back(node_message(how.op, operands, {how.second_x.empty() ? "product" : "first"}, attributes));
  if (!how.second_x.empty()) {
    nodes.push_back(node_message("DequantizeLinear", {"x", "x_scale", "zero"}, {"dequantized_again"}));
    operands.front() = how.second_x;
    nodes.push_back(node_message(how.op, operands, {"second"}, attributes));
    nodes.push_back(node_message("Add", {"first", "second"}, {"product"}));
  }
  nodes.push_back(node_message("QuantizeLinear", {"product", "y_scales", "y_zeros"}, {"y"}));
  const std::vector<std::string> sizes =
      is_conv ? std::vector<std::string>{"1", "4", "5", "6"} : std::vector<std::string>{"3", "8"};
  std::vector<Message> outputs{
      value_message("y", onnx::Type::uint8,
                    is_conv ? std::vector<std::string>{"1", "8", "h", "w"} : std::vector<std::string>{"3", "8"})};
  if (!how.seen.empty()) outputs.push_back(value_message(how.seen, onnx::Type::float32, sizes));
  const std::vector<std::int64_t> y_dims{std::ssize(how.y_scales)};
  return model_message(
      {.nodes = std::move(nodes),
       .initializers = {pattern_number("x_scale", 0.03125f),
                        tensor_message("y_scales", onnx::Type::float32, y_dims, how.y_scales),
                        tensor_message("y_zeros", onnx::Type::uint8, y_dims,
                                       std::vector<std::uint8_t>(how.y_scales.size(), 128)),
                        pattern_number("bias_scale", 0.00390625f),
                        tensor_message("zero", onnx::Type::uint8, {}, std::vector<std::uint8_t>{128}),
                        tensor_message("weights", weight_type, dims, weights),
                        tensor_message("weight_scales", onnx::Type::float32, scale_dims, weight_scales),
                        tensor_message("weight_zeros", weight_type, scale_dims,
                                       std::vector<std::uint8_t>(static_cast<std::size_t>(scales),
                                                                 static_cast<std::uint8_t>(how.weight_zero))),
                        tensor_message("bias", onnx::Type::int32, {8}, bias)},
       .inputs = {value_message("x", onnx::Type::uint8, sizes)},
       .outputs = std::move(outputs)},
      13);
}

}  // namespace tessera::test

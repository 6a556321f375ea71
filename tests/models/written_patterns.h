// Layer norms, GELUs and attention, operation by operation.
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

}  // namespace tessera::test

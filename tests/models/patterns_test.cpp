// Layer norms and GELUs that are written out: one node each, with the values of the many.
#include <tessera/model.h>

#include "support/devices.h"
#include "tests/models/onnx_writer.h"

namespace tessera::test {
namespace {

using onnx::Type;

Message number_message(const char* name, float value) {
  return tensor_message(name, Type::float32, {}, std::vector{value});
}

// With `seen`, that value is an output too, and so cannot go.
Message network(std::vector<Message> nodes, std::vector<Message> initializers, const std::string& seen,
                std::int64_t opset = 13) {
  std::vector<Message> outputs{value_message("y", Type::float32, {"3", "8"})};
  if (!seen.empty()) outputs.push_back(value_message(seen, Type::float32, {"3", "n"}));
  return model_message({.nodes = std::move(nodes),
                        .initializers = std::move(initializers),
                        .inputs = {value_message("x", Type::float32, {"3", "8"})},
                        .outputs = std::move(outputs)},
                       opset);
}

Message written_layer_norm(bool has_power, bool has_axes_as_input, const std::string& seen = "") {
  const Message last = attribute_message("axes", std::vector<std::int64_t>{-1});
  const auto mean = [&](const char* from, const char* to) {
    return has_axes_as_input ? node_message("ReduceMean", {from, "last"}, {to})
                             : node_message("ReduceMean", {from}, {to}, {last});
  };
  std::vector<float> gamma, beta;
  for (int i = 0; i < 8; ++i) gamma.push_back(0.5f + static_cast<float>(i)), beta.push_back(static_cast<float>(i - 4));
  return network(
      {mean("x", "mean"), node_message("Sub", {"x", "mean"}, {"deviation"}),
       has_power ? node_message("Pow", {"deviation", "two"}, {"square"})
                 : node_message("Mul", {"deviation", "deviation"}, {"square"}),
       mean("square", "variance"), node_message("Add", {"variance", "epsilon"}, {"sum"}),
       node_message("Sqrt", {"sum"}, {"root"}), node_message("Div", {"deviation", "root"}, {"normalised"}),
       node_message("Mul", {"gamma", "normalised"}, {"scaled"}), node_message("Add", {"scaled", "beta"}, {"y"})},
      {number_message("two", 2), number_message("epsilon", 0.01f), tensor_message("gamma", Type::float32, {8}, gamma),
       tensor_message("beta", Type::float32, {8}, beta),
       tensor_message("last", Type::int64, {1}, std::vector<std::int64_t>{-1})},
      seen, has_axes_as_input ? 18 : 13);
}

Message written_gelu(bool ends_with_half, bool divides, const std::string& seen = "", float one = 1) {
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
  return network(std::move(nodes),
                 {number_message("root", 1.41421356f), number_message("reciprocal", 0.70710678f),
                  number_message("one", one), number_message("half", 0.5f)},
                 seen);
}

class Patterns : public OnDevice {
 protected:
  std::vector<std::string> operators_in(const Message& file) {
    std::vector<std::string> operators;
    for (const ModelNode& node : Model::load(context(), file.bytes()).explain()) operators.push_back(node.op);
    return operators;
  }
  void expect_equal(const Message& file, const Message& other) {
    std::vector<float> x;
    for (int i = 0; i < 24; ++i) x.push_back(static_cast<float>(i * 7 % 24 - 11) / 4.0f);
    const Tensor input = context().tensor({3, 8}, x);
    const std::vector<float> got = Model::load(context(), file.bytes())({{"x", input}})["y"].read();
    const std::vector<float> wanted = Model::load(context(), other.bytes())({{"x", input}})["y"].read();
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-4) << i;
  }
};
TESSERA_ON_ALL_DEVICES(Patterns);

TEST_P(Patterns, OfLayerNormsAreOneNode) {
  for (const bool has_power : {false, true})
    for (const bool has_axes_as_input : {false, true})
      EXPECT_EQ(operators_in(written_layer_norm(has_power, has_axes_as_input)),
                std::vector<std::string>{"LayerNormalization"});
  EXPECT_EQ(operators_in(written_layer_norm(true, false, "root")).size(), 9u);
  expect_equal(written_layer_norm(true, false), written_layer_norm(true, false, "root"));
}

TEST_P(Patterns, OfGelusAreOneNode) {
  for (const bool ends_with_half : {false, true})
    for (const bool divides : {false, true})
      EXPECT_EQ(operators_in(written_gelu(ends_with_half, divides)), std::vector<std::string>{"Gelu"});
  EXPECT_EQ(operators_in(written_gelu(true, true, "erf")).size(), 5u);
  EXPECT_EQ(operators_in(written_gelu(true, true, "", 1.5f)).size(), 5u);  // no GELU
  expect_equal(written_gelu(true, true), written_gelu(true, true, "erf"));
}

}  // namespace
}  // namespace tessera::test

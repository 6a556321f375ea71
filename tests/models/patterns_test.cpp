// Layer norms, GELUs, attention and products of quantised operands that are written out: one node each, with the values
// of the many.
#include <tessera/model.h>

#include <algorithm>

#include "support/devices.h"
#include "tests/models/written_patterns.h"

namespace tessera::test::patterns_test {
namespace {

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
TESSERA_ON_EACH_BACKEND(Patterns);

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

TEST_P(Patterns, OfAttentionAreOneNode) {
  for (const char* scaling : {"", "Mul", "Div"})
    for (const bool has_mask : {false, true}) {
      const std::vector<std::string> operators = operators_in(written_attention(scaling, has_mask));
      EXPECT_EQ(std::ranges::count(operators, "Attention"), 1);
      for (const char* gone : {"Softmax", "MatMul", "Add"}) EXPECT_EQ(std::ranges::count(operators, gone), 0) << gone;
    }
  for (const char* seen : {"scores", "scaled", "masked", "shares"})
    EXPECT_EQ(std::ranges::count(operators_in(written_attention("Div", true, seen)), "Attention"), 0) << seen;
  EXPECT_EQ(std::ranges::count(operators_in(written_attention("Div", true, "", 1)), "Attention"), 0);  // other rows
  expect_equal(written_attention("Div", true), written_attention("Div", true, "shares"));
  expect_equal(written_attention("Mul", false), written_attention("Mul", false, "scores"));
}

class QuantizedProducts : public Patterns {
 protected:
  // The results, and how many dispatches a second run takes.
  std::pair<std::vector<std::uint8_t>, std::uint64_t> run(const WrittenQuantized& how) {
    const Shape shape = how.op == "Conv" ? Shape{1, 4, 5, 6} : Shape{3, 8};
    std::vector<std::uint8_t> numbers;
    for (std::int64_t i = 0; i < shape.size(); ++i) numbers.push_back(static_cast<std::uint8_t>(i * 91 % 256));
    const Tensor x = context().tensor(shape, numbers);
    const Model model = Model::load(context(), written_quantized(how).bytes());
    model({{"x", x}})["y"].compute();
    context().reset_stats();
    const Tensor y = model({{"x", x}})["y"];
    y.compute();
    const std::uint64_t dispatches = context().stats().dispatches;
    return {y.read<std::uint8_t>(), dispatches};
  }
  // Nothing is left of the dequantizing of what it multiplies, and values are those of floats.
  void expect_integers(WrittenQuantized how, std::uint64_t dispatches) {
    const std::vector<std::string> operators = operators_in(written_quantized(how));
    EXPECT_EQ(std::ranges::count(operators, "Quantized" + how.op), 1);
    EXPECT_EQ(std::ranges::count(operators, "DequantizeLinear"), how.has_bias ? 1 : 0);
    const auto got = run(how);
    EXPECT_EQ(got.second, dispatches);
    how.seen = "dequantized";
    EXPECT_EQ(std::ranges::count(operators_in(written_quantized(how)), how.op), 1);
    const auto wanted = run(how);
    EXPECT_EQ(got.first, wanted.first);
    const auto is_between = [](std::uint8_t number) { return number != 0 && number != 255; };
    EXPECT_GT(2 * std::ranges::count_if(got.first, is_between), std::ssize(got.first));
  }
};
TESSERA_ON_EACH_BACKEND(QuantizedProducts);

TEST_P(QuantizedProducts, OfMatricesAreOneKernel) {
  expect_integers({.op = "MatMul"}, 1);
  expect_integers({.op = "MatMul", .has_channel_scales = true}, 1);
  expect_integers({.op = "Gemm", .has_channel_scales = true, .has_bias = true, .weight_zero = 128, .weight_axis = 0},
                  1);
}

// The axes change places before and after, in bytes; the zero point is put around the image with the former.
TEST_P(QuantizedProducts, OfImagesAreOneKernel) {
  expect_integers({.op = "Conv", .has_bias = true, .has_pads = true}, 3);
  expect_integers({.op = "Conv", .has_channel_scales = true, .weight_axis = 0}, 3);
}

TEST_P(QuantizedProducts, OfImagesAreQuantizedByChannel) {
  const auto with_scales = [&](const std::vector<float>& scales) {
    return run({.op = "Conv", .has_channel_scales = true, .weight_axis = 0, .y_scales = scales}).first;
  };
  const std::vector<std::uint8_t> fine = with_scales({0.25f}), coarse = with_scales({1.0f}),
                                  both = with_scales({1.0f, 0.25f, 1.0f, 0.25f, 1.0f, 0.25f, 1.0f, 0.25f});
  ASSERT_EQ(both.size(), 8u * 3 * 4);
  EXPECT_NE(fine, coarse);
  for (std::size_t i = 0; i < both.size(); ++i) EXPECT_EQ(both[i], i / 12 % 2 == 0 ? coarse[i] : fine[i]) << i;
}

TEST_P(QuantizedProducts, ThatDoNotFitStay) {
  const auto is_left = [&](const WrittenQuantized& how) {
    return std::ranges::count(operators_in(written_quantized(how)), how.op) == 1;
  };
  EXPECT_TRUE(is_left({.weight_zero = 100}));                            // no bytes without the zero point
  EXPECT_TRUE(is_left({.has_channel_scales = true, .weight_axis = 0}));  // scales along the sum
  EXPECT_TRUE(is_left({.op = "Conv", .has_channel_scales = true, .weight_zero = 100, .weight_axis = 0}));
}

TEST_P(QuantizedProducts, MayShareOperands) {
  const auto expect_operators = [&](const WrittenQuantized& how, int quantized, int dequantizations) {
    const std::vector<std::string> operators = operators_in(written_quantized(how));
    EXPECT_EQ(std::ranges::count(operators, "QuantizedMatMul"), quantized);
    EXPECT_EQ(std::ranges::count(operators, "MatMul"), 2 - quantized);
    EXPECT_EQ(std::ranges::count(operators, "DequantizeLinear"), dequantizations);
  };
  expect_operators({.second_x = "dequantized", .seen = "dequantized_again"}, 2, 1);
  expect_operators({.second_x = "dequantized_again"}, 2, 0);
  expect_operators({.second_x = "dequantized_again", .seen = "dequantized_again"}, 1, 2);  // and that of the weights
}

// The kernels of each further step of a sequence of three numbers, with four hidden units.
class Recurrent : public OnDevice {
 protected:
  std::uint64_t kernels(const std::string& op, std::int64_t gates, std::int64_t steps, bool resets_after) {
    const auto waves = [](std::int64_t count) {
      std::vector<float> values;
      for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * 5 % 7 - 3) / 4.0f);
      return values;
    };
    const auto tensor = [&](const char* name, const std::vector<std::int64_t>& dims, std::int64_t count) {
      return tensor_message(name, onnx::Type::float32, dims, waves(count));
    };
    std::vector<Message> attributes{attribute_message("hidden_size", std::int64_t{4})};
    if (op == "GRU") attributes.push_back(attribute_message("linear_before_reset", std::int64_t{resets_after}));
    const Message file = model_message(
        {.nodes = {node_message(op, {"x", "w", "r", "b"}, {"y"}, attributes)},
         .initializers = {tensor("w", {1, gates * 4, 3}, gates * 12), tensor("r", {1, gates * 4, 4}, gates * 16),
                          tensor("b", {1, gates * 8}, gates * 8)},
         .inputs = {value_message("x", onnx::Type::float32, {"s", "2", "3"})},
         .outputs = {value_message("y", onnx::Type::float32, {"s", "1", "2", "4"})}},
        14);
    const Model model = Model::load(context(), file.bytes());
    const Tensor x = context().tensor({steps, 2, 3}, waves(steps * 6));
    model({{"x", x}})["y"].compute();
    context().reset_stats();
    model({{"x", x}})["y"].compute();
    return context().stats().dispatches;
  }
  std::uint64_t kernels_of_step(const std::string& op, std::int64_t gates, bool resets_after = false) {
    return kernels(op, gates, 3, resets_after) - kernels(op, gates, 2, resets_after);
  }
};
TESSERA_ON_EACH_BACKEND(Recurrent);

TEST_P(Recurrent, StepsAreFewKernels) {
  EXPECT_EQ(kernels_of_step("RNN", 1), 1u);
  EXPECT_EQ(kernels_of_step("LSTM", 4), 2u);
  EXPECT_EQ(kernels_of_step("GRU", 3, true), 2u);
  EXPECT_EQ(kernels_of_step("GRU", 3, false), 3u);
}

TEST_P(Recurrent, OptionalInputsOfOtherRanksAreNamed) {
  const auto one = [](const char* name, const std::vector<std::int64_t>& dims) {
    return tensor_message(name, onnx::Type::float32, dims, std::vector<float>{1});
  };
  const auto build = [&](const std::vector<std::string>& inputs, const Message& other) {
    const Message file = model_message(
        {.nodes = {node_message("LSTM", inputs, {"y"}, {attribute_message("hidden_size", std::int64_t{1})})},
         .initializers = {tensor_message("w", onnx::Type::float32, {1, 4, 1}, std::vector<float>(4)),
                          tensor_message("r", onnx::Type::float32, {1, 4, 1}, std::vector<float>(4)), other},
         .inputs = {value_message("x", onnx::Type::float32, {"1", "1", "1"})},
         .outputs = {value_message("y", onnx::Type::float32, {"1", "1", "1", "1"})}},
        14);
    Model::load(context(), file.bytes()).prepare().get();
  };
  EXPECT_TESSERA_ERROR(build({"x", "w", "r", "b"}, one("b", {})), shape_mismatch, "its input 3 [] has 0 axes; 2");
  EXPECT_TESSERA_ERROR(build({"x", "w", "r", "", "", "h"}, one("h", {1, 1})), shape_mismatch, "its input 5 [1,1]");
  EXPECT_TESSERA_ERROR(build({"x", "w", "r", "", "", "", "c"}, one("c", {1})), shape_mismatch, "its input 6 [1]");
  EXPECT_TESSERA_ERROR(build({"x", "w", "r", "", "", "", "", "p"}, one("p", {})), shape_mismatch, "its input 7 []");
}

// Too many scores to store: equal ones, so that results are means.
TEST_P(Patterns, OfManyScoresAreOnePass) {
  const Message file = model_message(
      {.nodes = {node_message("Transpose", {"x"}, {"keys"},
                              {attribute_message("perm", std::vector<std::int64_t>{1, 0})}),
                 node_message("MatMul", {"x", "keys"}, {"scores"}),
                 node_message("Softmax", {"scores"}, {"shares"}, {attribute_message("axis", std::int64_t{-1})}),
                 node_message("MatMul", {"shares", "x"}, {"y"})},
       .initializers = {},
       .inputs = {value_message("x", onnx::Type::float32, {"2050", "4"})},
       .outputs = {value_message("y", onnx::Type::float32, {"2050", "4"})}});
  const Model model = Model::load(context(), file.bytes());
  const std::vector<ModelNode> nodes = model.explain();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes[0].op, "Attention");
  if (has_octets(GetParam())) {
    EXPECT_EQ(nodes[0].kernel, "#1 attention_octets");
  }
  const std::vector<float> y = model({{"x", context().full({2050, 4}, 0.5)}})["y"].read();
  ASSERT_EQ(y.size(), 2050u * 4);
  for (const float number : y) ASSERT_NEAR(number, 0.5f, 1e-4f);
}

// Two columns of 16 weights in groups of 16: levels of 0 to 15 and of 15 to 0, with zero points of 1 and 2.
TEST_P(Patterns, WeightsOfFourBits) {
  std::vector<std::uint8_t> pairs;
  for (int i = 0; i < 8; ++i) pairs.push_back(static_cast<std::uint8_t>(2 * i + 16 * (2 * i + 1)));
  for (int i = 0; i < 8; ++i) pairs.push_back(static_cast<std::uint8_t>(15 - 2 * i + 16 * (14 - 2 * i)));
  Message node =
      node_message("MatMulNBits", {"x", "weights", "scales", "zeros"}, {"y"},
                   {attribute_message("K", std::int64_t{16}), attribute_message("N", std::int64_t{2}),
                    attribute_message("bits", std::int64_t{4}), attribute_message("block_size", std::int64_t{16})});
  node.text(7, "com.microsoft");
  const Message file =
      model_message({.nodes = {node},
                     .initializers = {tensor_message("weights", onnx::Type::uint8, {2, 1, 8}, pairs),
                                      tensor_message("scales", onnx::Type::float32, {2}, std::vector<float>{0.5f, 2}),
                                      tensor_message("zeros", onnx::Type::uint8, {2}, std::vector<std::uint8_t>{1, 2})},
                     .inputs = {value_message("x", onnx::Type::float32, {"1", "16"})},
                     .outputs = {value_message("y", onnx::Type::float32, {"1", "2"})}});
  const Tensor ones = context().full({1, 16}, 1);
  // The sum of 0 to 15 is 120.
  EXPECT_EQ(Model::load(context(), file.bytes())({{"x", ones}})["y"].read(),
            (std::vector<float>{0.5f * (120 - 16), 2.0f * (120 - 32)}));
}

}  // namespace
}  // namespace tessera::test::patterns_test

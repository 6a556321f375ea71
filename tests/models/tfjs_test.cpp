// TF.js models: graphs, their operators, and layers.
#include <tessera/model.h>

#include <numeric>

#include "support/commit.h"
#include "support/devices.h"
#include "tests/models/mutations.h"
#include "tests/models/tfjs_writer.h"

namespace tessera::test::tfjs_test {
namespace {

std::vector<float> some(int count) {  // between -1 and 1, no two alike
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 37) % 101 - 50) / 50.0f);
  return values;
}

std::vector<float> counted(int count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& wanted, double tolerance = 1e-4) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], tolerance) << i;
}

class TfjsModels : public OnDevice {};
TESSERA_ON_EACH_BACKEND(TfjsModels);

// ---- networks

// Convolutions with what the converter makes part of them, in no order, and a way back to the size of the input.
TfjsModel image_graph() {
  const Json steps = list_of({1, 2, 2, 1});
  TfjsModel model;
  model.node("Conv2DBackpropInput", "wide", {"sizes", "w3", "norm"}, {{"padding", same}, {"strides", steps}})
      .node("FusedBatchNormV3", "norm", {"deep", "gamma", "beta", "mean", "variance"}, {{"epsilon", {{"f", 0.5}}}})
      .node("FusedDepthwiseConv2dNative", "deep", {"first:0", "w2", "b2"},
            {{"padding", valid},
             {"strides", list_of({1, 1, 1, 1})},
             {"fused_ops", {{"list", {{"s", {"Qmlhc0FkZA==", "UmVsdTY="}}}}}}})
      .node("_FusedConv2D", "first", {"image", "w1", "b1", "slope", "^norm"},
            {{"padding", same}, {"strides", steps}, {"fused_ops", {{"list", {{"s", {"Qmlhc0FkZA==", "UHJlbHU="}}}}}}})
      .input("image", {-1, -1, -1, 3})
      .constant("w1", {3, 3, 3, 4}, some(108))
      .constant("b1", {4}, some(4))
      .constant("slope", {4}, some(4))
      .constant("w2", {2, 2, 4, 2}, some(32))
      .constant("b2", {8}, some(8))
      .constant("gamma", {8}, some(8))
      .constant("beta", {8}, some(8))
      .constant("mean", {8}, some(8))
      .constant("variance", {8}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8})
      .constant("w3", {3, 3, 2, 8}, some(144))
      .constant("sizes", {4}, std::vector<std::int32_t>{1, 6, 4, 2});
  return model;
}

Tensor image_graph_by_hand(Context& context, const Tensor& image) {
  const auto weight = [&](const Shape& shape) { return context.tensor(shape, some(static_cast<int>(shape.size()))); };
  const Tensor first = prelu(
      conv2d(image, weight({3, 3, 3, 4}), {.strides = {2, 2}, .padding = Padding::same}) + weight({4}), weight({4}));
  const Tensor deep = relu6(conv2d(first, weight({2, 2, 4, 2}).reshape({2, 2, 1, 8}), {.groups = 4}) + weight({8}));
  const Tensor variance = context.tensor({8}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor norm =
      batch_norm(deep, weight({8}), variance, {.gamma = weight({8}), .beta = weight({8}), .epsilon = 0.5f});
  return conv2d_transpose(norm, weight({3, 3, 2, 8}),
                          {.strides = {2, 2}, .padding = Padding::same, .size = std::array<std::int64_t, 2>{6, 4}});
}

TEST_P(TfjsModels, RunGraphsAsTheSameOperationsByHand) {
  const TemporaryFolder folder;
  const Model model = Model::load(context(), image_graph().saved(folder));
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_EQ(model.inputs()[0].to_string(), "image: float [?,?,?,3]");
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs()[0].name, "wide");
  const Tensor image = context().tensor({1, 8, 6, 3}, some(144)).compute();
  expect_near(model({{"image", image}})["wide"].read(), image_graph_by_hand(context(), image).read());
  // Nothing is moved to another order of axes, and what follows a convolution is part of its kernel.
  const Tensor again = model({{"image", image}})["wide"];
  context().reset_stats();
  again.compute();
  EXPECT_LE(context().stats().dispatches, 5u);
}

TfjsModel layers_network() {
  const auto layer = [](const char* kind, const char* name, Json config, const std::vector<const char*>& inputs) {
    Json inbound = Json::array();
    for (const char* input : inputs) inbound.push_back({input, 0, 0, Json::object()});
    config["name"] = name;
    return Json{{"class_name", kind},
                {"name", name},
                {"config", config},
                {"inbound_nodes", inputs.empty() ? Json::array() : Json::array({inbound})}};
  };
  TfjsModel model;
  model.topology["model_config"] = {
      {"class_name", "Functional"},
      {"config",
       {{"name", "network"},
        {"layers",
         {layer("InputLayer", "in", {{"batch_input_shape", {nullptr, nullptr, nullptr, 2}}, {"dtype", "float32"}}, {}),
          layer("ZeroPadding2D", "padded", {{"padding", {{1, 0}, {0, 1}}}}, {"in"}),
          layer("Conv2D", "conv", {{"kernel_size", {2, 2}}, {"activation", "relu"}, {"padding", "valid"}}, {"padded"}),
          layer("BatchNormalization", "norm", {{"axis", {3}}, {"epsilon", 0.25}}, {"conv"}),
          layer("LeakyReLU", "leaky", {{"alpha", 0.5}}, {"norm"}),
          layer("Dropout", "dropped", {{"rate", 0.5}}, {"leaky"}),
          layer("Concatenate", "joined", {{"axis", -1}}, {"dropped", "in"}),
          layer("UpSampling2D", "large", {{"size", {2, 2}}, {"interpolation", "nearest"}}, {"joined"}),
          layer("SeparableConv2D", "separable", {{"padding", "same"}, {"use_bias", false}}, {"large"}),
          layer("MaxPooling2D", "pooled", {{"pool_size", {2, 2}}, {"strides", {2, 2}}}, {"separable"})}},
        {"input_layers", {{"in", 0, 0}}},
        {"output_layers", {{"pooled", 0, 0}}}}}};
  model.weight("conv/kernel", {2, 2, 2, 3}, some(24))
      .weight("conv/bias", {3}, some(3))
      .weight("norm/norm/gamma", {3}, some(3))
      .weight("norm/beta", {3}, some(3))
      .weight("norm/moving_mean", {3}, some(3))
      .weight("norm/moving_variance", {3}, std::vector<float>{1, 2, 3})
      .weight("separable/depthwise_kernel", {3, 3, 5, 1}, some(45))
      .weight("separable/pointwise_kernel", {1, 1, 5, 2}, some(10));
  return model;
}

TEST_P(TfjsModels, RunLayersAsTheSameOperationsByHand) {
  const TemporaryFolder folder;
  const Model network = Model::load(context(), layers_network().saved(folder));
  EXPECT_EQ(network.inputs()[0].to_string(), "in: float [?,?,?,2]");

  Context& gpu = context();
  const Tensor in = gpu.tensor({1, 4, 6, 2}, some(48));
  const auto weight = [&](const Shape& shape) { return gpu.tensor(shape, some(static_cast<int>(shape.size()))); };
  const Tensor conv = relu(conv2d(pad(in, {{}, {1, 0}, {0, 1}, {}}), weight({2, 2, 2, 3})) + weight({3}));
  const Tensor norm = batch_norm(conv, weight({3}), gpu.tensor({3}, {1, 2, 3}),
                                 {.gamma = weight({3}), .beta = weight({3}), .epsilon = 0.25f});
  const Tensor joined = concat({leaky_relu(norm, 0.5f), in}, 3);
  const Tensor large = resize(joined, 8, 12, {.mode = Interpolation::nearest});
  const Tensor separable =
      conv2d(conv2d(large, weight({3, 3, 5, 1}).reshape({3, 3, 1, 5}), {.padding = Padding::same, .groups = 5}),
             weight({1, 1, 5, 2}));
  expect_near(network({{"in", in}})["pooled"].read(), max_pool(separable, {.size = {2, 2}}).read());
}

// ---- what is read

TEST(TfjsReader, WidensQuantizedWeights) {
  const TemporaryFolder folder;
  TfjsModel model;
  model.input("x", {})
      .constant("bytes", {3}, std::vector<std::uint8_t>{0, 128, 255}, "float32",
                {{"dtype", "uint8"}, {"scale", 0.5}, {"min", -1.0}})
      .constant("words", {2}, std::vector<std::uint16_t>{1, 65535}, "float32",
                {{"dtype", "uint16"}, {"scale", 2.0}, {"min", 3.0}})
      .constant("halves", {2}, std::vector<half>{half(0.5f), half(-2.0f)}, "float32", {{"dtype", "float16"}})
      .constant("integers", {2}, std::vector<std::uint8_t>{0, 5}, "int32",
                {{"dtype", "uint8"}, {"scale", 1.5}, {"min", -1.0}})
      .constant("truths", {2}, std::vector<std::uint8_t>{0, 1}, "bool")
      .node("Add", "a", {"x", "bytes"})
      .node("Add", "b", {"x", "words"})
      .node("Add", "c", {"x", "halves"})
      .node("Cast", "d", {"integers"}, {{"DstT", type_of("DT_FLOAT")}})
      .node("SelectV2", "e", {"truths", "x", "halves"});
  const Model network = Model::load(cpu_context(), model.saved(folder));
  auto results = network({{"x", cpu_context().full({}, 10)}});
  EXPECT_EQ(results["a"].read(), (std::vector<float>{9, 73, 136.5f}));
  EXPECT_EQ(results["b"].read(), (std::vector<float>{15, 131083}));
  EXPECT_EQ(results["c"].read(), (std::vector<float>{10.5f, 8}));
  EXPECT_EQ(results["d"].read(), (std::vector<float>{-1, 7}));  // 6.5 rounds up
  EXPECT_EQ(results["e"].read(), (std::vector<float>{0.5f, 10}));
}

TEST(TfjsReader, TakesNamesFromTheSignature) {
  const TemporaryFolder folder;
  TfjsModel model;
  model.input("x_node", {4}).constant("axis", {}, std::vector<std::int32_t>{0});
  model.node("Split", "parts", {"axis", "x_node:0"}, {{"num_split", {{"i", "2"}}}}).node("Relu", "unused", {"missing"});
  const auto end = [](const char* name, int size) {
    return Json{{"name", name}, {"dtype", "DT_FLOAT"}, {"tensorShape", {{"dim", {{{"size", size}}}}}}};
  };
  model.signature = {
      {"inputs", {{"x:0", end("x_node:0", -1)}}},
      {"outputs", {{"second", end("parts:1", 2)}, {"first", end("parts:0", 2)}, {"also", end("parts:1", 2)}}}};
  const Model network = Model::load(cpu_context(), model.saved(folder));
  EXPECT_EQ(network.inputs()[0].to_string(), "x: float [?]");
  std::vector<std::string> names;
  for (const ModelValue& output : network.outputs()) names.push_back(output.to_string());
  EXPECT_EQ(names, (std::vector<std::string>{"second: float [2]", "first: float [2]", "also: float [2]"}));
  auto results = network({{"x", cpu_context().tensor({4}, {1, 2, 3, 4})}});
  EXPECT_EQ(results["first"].read(), (std::vector<float>{1, 2}));
  EXPECT_EQ(results["second"].read(), (std::vector<float>{3, 4}));
  EXPECT_EQ(results["also"].read(), (std::vector<float>{3, 4}));
  EXPECT_EQ(network.explain({{"x", {4}}})[0].op, "Split");
}

TEST(TfjsReader, RunsModelsInModels) {  // and a layer that is called twice
  const TemporaryFolder folder;
  const auto dense = [](const char* name) {
    return Json{{"class_name", "Dense"}, {"config", {{"name", name}, {"units", 2}}}};
  };
  TfjsModel model;
  Json inner{{"class_name", "Sequential"},
             {"name", "inner"},
             {"config", {{"name", "inner"}, {"layers", {dense("one"), dense("two")}}}},
             {"inbound_nodes", {{{"in", 0, 0, Json::object()}}}}};
  Json shared = dense("shared"), sum{{"class_name", "Add"}, {"name", "sum"}, {"config", {{"name", "sum"}}}};
  shared["name"] = "shared";
  shared["inbound_nodes"] = {{{"inner", 0, 0, Json::object()}}, {{"in", 0, 0, Json::object()}}};
  sum["inbound_nodes"] = {{{"shared", 0, 0, Json::object()}, {"shared", 1, 0, Json::object()}}};
  model.topology = {{"class_name", "Model"},
                    {"config",
                     {{"layers",
                       {sum,
                        inner,
                        shared,
                        {{"class_name", "InputLayer"},
                         {"name", "in"},
                         {"config", {{"name", "in"}, {"batch_input_shape", {nullptr, 2}}}},
                         {"inbound_nodes", Json::array()}}}},
                      {"input_layers", {{"in", 0, 0}}},
                      {"output_layers", {"sum", 0, 0}}}}};
  model.weight("one/kernel", {2, 2}, std::vector<float>{1, 0, 0, 2})
      .weight("two/kernel", {2, 2}, std::vector<float>{0, 1, 1, 0})
      .weight("shared/kernel", {2, 2}, std::vector<float>{1, 1, 0, 1})
      .weight("shared/bias", {2}, std::vector<float>{10, 20});
  const Model network = Model::load(cpu_context(), model.saved(folder));
  // [3,5] goes to [3,10], [10,3] and [20,33] in one way, to [13,28] in the other.
  EXPECT_EQ(network({{"in", cpu_context().tensor({1, 2}, {3, 5})}})["sum"].read(), (std::vector<float>{33, 61}));
}

TEST(TfjsReader, RunsSequencesOfLayers) {
  const TemporaryFolder folder;
  const auto layer = [](const char* kind, Json config) {
    config["name"] = kind;
    return Json{{"class_name", kind}, {"config", config}};
  };
  TfjsModel model;
  model.topology = {{"class_name", "Sequential"},
                    {"config",
                     {{"layers",
                       {layer("Conv2DTranspose",
                              {{"batch_input_shape", {nullptr, 2, 2, 1}}, {"strides", {2, 2}}, {"padding", "same"}}),
                        layer("DepthwiseConv2D", {{"kernel_size", {1, 1}}, {"activation", "linear"}}),
                        layer("PReLU", {{"shared_axes", {1, 2}}}), layer("AveragePooling2D", {{"pool_size", {2, 2}}}),
                        layer("Permute", {{"dims", {3, 1, 2}}}), layer("Flatten", Json::object()),
                        layer("Reshape", {{"target_shape", {2, -1}}}), layer("Softmax", {{"axis", -1}}),
                        layer("Rescaling", {{"scale", 10}, {"offset", 1}})}}}}};
  model.weight("Conv2DTranspose/kernel", {2, 2, 1, 1}, std::vector<float>{1, 1, 1, 1})
      .weight("DepthwiseConv2D/depthwise_kernel", {1, 1, 1, 1}, std::vector<float>{-2})
      .weight("PReLU/alpha", {1, 1, 1}, std::vector<float>{0.5f});
  const Model network = Model::load(cpu_context(), model.saved(folder));
  EXPECT_EQ(network.inputs()[0].to_string(), "Conv2DTranspose_input: float [?,2,2,1]");
  auto results = network({{network.inputs()[0].name, cpu_context().tensor({1, 2, 2, 1}, {1, 1, 2, 4})}});
  // -1, -1, -2 and -4 as two rows, whose softmaxes are a half each and 1 / (1 + exp(-2)).
  expect_near(results["Rescaling"].read(), {6, 6, 9.8080f, 2.1920f}, 1e-3);
}

// ---- operators, as TensorFlow's documentation has them

struct Case {
  std::string op;
  Json attributes;
  std::vector<float> wanted;
  Shape shape{};
  std::vector<std::string> inputs{"x"};
  std::string result = "";  // behind the name of the node
};

TEST(TfjsOperators, GiveWhatTensorFlowDoes) {
  const TemporaryFolder folder;
  TfjsModel model;
  model.input("x", {2, 3}).input("image", {1, 2, 2, 1}).input("boxes", {3, 4}).input("scores", {3});
  const auto integers = [&](const char* name, const std::vector<int>& shape, const std::vector<std::int32_t>& values) {
    model.constant(name, shape, values);
  };
  integers("zero", {}, {0});
  integers("one", {}, {1});
  integers("two", {}, {2});
  integers("axis", {1}, {1});
  integers("seven", {2}, {7, -7});
  integers("pair", {2}, {2, 4});
  integers("begin", {2}, {0, -1});
  integers("end", {2}, {0, -9});
  integers("steps", {2}, {1, -2});
  integers("widths", {2, 2}, {0, 1, 1, 0});
  integers("uneven", {2}, {1, -1});
  integers("block", {2}, {2, 2});
  integers("crops", {2, 2}, {0, 0, 0, 0});
  integers("many", {2}, {2, 1});
  model.constant("half", {}, std::vector<float>{0.5f}).constant("nothing", {}, std::vector<float>{-1});
  const Json keep{{"keep_dims", is_true}};
  // x is [[0,1,2],[3,4,5]], the image [[0,1],[2,3]].
  const std::vector<Case> cases{
      {"StridedSlice",
       {{"begin_mask", {{"i", 1}}}, {"end_mask", {{"i", 1}}}},
       {2, 0, 5, 3},
       {2, 2},
       {"x", "begin", "end", "steps"}},
      {"StridedSlice",
       {{"shrink_axis_mask", {{"i", 1}}}, {"end_mask", {{"i", 2}}}},
       {2, 0},
       {2},
       {"x", "begin", "end", "steps"}},
      {"StridedSlice",
       {{"new_axis_mask", {{"i", 1}}}, {"shrink_axis_mask", {{"i", 2}}}},
       {3, 4, 5},
       {1, 3},
       {"x", "begin", "end", "steps"}},
      {"Slice", {}, {1, 4}, {2, 1}, {"x", "zero_one", "two_one"}},
      {"Pack", {{"axis", {{"i", 1}}}}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, {2, 2, 3}, {"x", "x"}},
      {"Unpack", {{"axis", {{"i", 1}}}, {"num", {{"i", 3}}}}, {2, 5}, {2}, {"x"}, ":2"},
      {"SplitV", {}, {1, 2, 4, 5}, {2, 2}, {"x", "uneven", "one"}, ":1"},
      {"ConcatV2", {}, {0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}, {2, 6}, {"x", "x", "one"}},
      {"GatherV2", {}, {2, 0, 5, 3}, {2, 2}, {"x", "picks", "one"}},
      {"Pad", {}, {0, 0, 1, 2, 0, 3, 4, 5, 0, 0, 0, 0}, {3, 4}, {"x", "widths"}},
      {"PadV2", {}, {-1, 0, 1, 2, -1, 3, 4, 5, -1, -1, -1, -1}, {3, 4}, {"x", "widths", "nothing"}},
      {"Tile", {}, {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5}, {4, 3}, {"x", "many"}},
      {"Transpose", {}, {0, 3, 1, 4, 2, 5}, {3, 2}, {"x", "turned"}},
      {"ReverseV2", {}, {2, 1, 0, 5, 4, 3}, {2, 3}, {"x", "axis"}},
      {"Sum", keep, {3, 12}, {2, 1}, {"x", "axis"}},
      {"Mean", {}, {1, 4}, {2}, {"x", "axis"}},
      {"ArgMax", {{"output_type", type_of("DT_INT64")}}, {1, 1, 1}, {3}, {"x", "zero"}},
      {"TopKV2", {}, {2, 1, 2, 1}, {2, 2}, {"x", "two"}, ":1"},
      {"Cumsum", {{"exclusive", is_true}}, {0, 0, 1, 0, 3, 7}, {2, 3}, {"x", "one"}},
      {"FloorDiv", {{"T", type_of("DT_INT32")}}, {3, -2}, {2}, {"seven", "pair"}},
      {"FloorMod", {{"T", type_of("DT_INT32")}}, {1, 1}, {2}, {"seven", "pair"}},
      {"DivNoNan", {}, {0, 1, 1, 1, 1, 1}, {2, 3}, {"x", "x"}},
      {"SquaredDifference", {}, {1, 4, 9, 16, 25, 36}, {2, 3}, {"x", "nothing"}},
      {"NotEqual", {}, {0, 0, 0, 0, 0, 0}, {2, 3}, {"x", "x"}},
      {"ClipByValue", {}, {0, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f}, {2, 3}, {"x", "nothing", "half"}},
      {"LeakyRelu", {{"alpha", {{"f", 0.5}}}}, {-0.5f}, {}, {"nothing"}},
      {"OneHot", {}, {0.5f, -1, -1, -1}, {2, 2}, {"outside", "two", "half", "nothing"}},
      {"Fill", {}, {0.5f, 0.5f}, {2, 1}, {"many", "half"}},
      {"Range", {{"T", type_of("DT_INT32")}}, {0, 1}, {2}, {"zero", "two", "one"}},
      {"Shape", {}, {2, 3}, {2}, {"x"}},
      {"ExpandDims", {}, {0, 1, 2, 3, 4, 5}, {2, 1, 3}, {"x", "one"}},
      {"MatMul", {{"transpose_b", is_true}}, {5, 14, 14, 50}, {2, 2}, {"x", "x"}},
      {"Softmax", {}, {0.0900306f, 0.2447285f, 0.6652409f, 0.0900306f, 0.2447285f, 0.6652409f}, {2, 3}, {"x"}},
      {"ResizeBilinear",
       {{"align_corners", is_true}},
       {0, 1.0f / 3, 2.0f / 3, 1, 2, 7.0f / 3, 8.0f / 3, 3},
       {1, 2, 4, 1},
       {"image", "pair"}},
      {"ResizeBilinear",
       {{"half_pixel_centers", is_true}},
       {0, 0.25f, 0.75f, 1, 2, 2.25f, 2.75f, 3},
       {1, 2, 4, 1},
       {"image", "pair"}},
      {"ResizeNearestNeighbor", {}, {0, 0, 1, 1, 2, 2, 3, 3}, {1, 2, 4, 1}, {"image", "pair"}},
      {"AvgPool",
       {{"ksize", list_of({1, 2, 2, 1})}, {"strides", list_of({1, 1, 1, 1})}, {"padding", same}},
       {1.5f, 2, 2.5f, 3},
       {1, 2, 2, 1},
       {"image"}},
      {"AvgPool",
       {{"ksize", list_of({1, 2, 2, 1})}, {"strides", list_of({1, 1, 1, 1})}, {"padding", valid}},
       {1.5f},
       {1, 1, 1, 1},
       {"image"}},
      {"SpaceToBatchND", {}, {0, 1, 2, 3}, {4, 1, 1, 1}, {"image", "block", "crops"}},
      {"SpaceToDepth", {{"block_size", {{"i", 2}}}}, {0, 1, 2, 3}, {1, 1, 1, 4}, {"image"}},
      {"NonMaxSuppressionV4",
       {{"pad_to_max_output_size", is_true}},
       {1, 2, 0},
       {3},
       {"boxes", "scores", "three", "half"}},
      {"NonMaxSuppressionV5", {}, {0.9f, 0.5f}, {2}, {"boxes", "scores", "three", "half", "nothing", "nought"}, ":1"},
      {"Where", {}, {0, 2, 1, 0, 1, 1, 1, 2}, {4, 2}, {"large"}},
  };
  integers("zero_one", {2}, {0, 1});
  integers("picks", {2}, {2, 0});
  integers("turned", {2}, {1, 0});
  integers("two_one", {2}, {2, 1});
  integers("outside", {2}, {0, 5});
  integers("three", {}, {3});
  model.constant("nought", {}, std::vector<float>{0}).node("Greater", "large", {"x", "one_and_a_half"});
  model.constant("one_and_a_half", {}, std::vector<float>{1.5f});
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string name = cases[i].op + std::to_string(i);
    model.node(cases[i].op, name, cases[i].inputs, cases[i].attributes);
    model.signature["outputs"][name + "_out"] = {{"name", name + cases[i].result}};
  }
  Context& cpu = cpu_context();
  const Model network = Model::load(cpu, model.saved(folder));
  const auto results = network({{"x", cpu.tensor({2, 3}, counted(6))},
                                {"image", cpu.tensor({1, 2, 2, 1}, counted(4))},
                                {"boxes", cpu.tensor({3, 4}, {0, 0, 1, 1, 0, 0, 1, 1.2f, 4, 4, 5, 5})},
                                {"scores", cpu.tensor({3}, {0.8f, 0.9f, 0.5f})}});
  ASSERT_EQ(network.outputs().size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(cases[i].op + " " + std::to_string(i));
    const Tensor& got = results.at(network.outputs()[i].name);
    EXPECT_EQ(got.shape(), cases[i].shape);
    expect_near(got.read(), cases[i].wanted, 1e-6);
  }
}

// ---- damage

TEST(TfjsReader, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const auto load = [&](const TfjsModel& model) {
    const Model loaded = Model::load(cpu_context(), model.saved(folder));
    loaded.prepare().get();
  };
  const auto with = [&](const char* op, const std::vector<std::string>& inputs,
                        const Json& attributes = Json::object()) {
    load(TfjsModel()
             .input("x", {2, 3})
             .constant("w", {2, 2}, some(4))
             .constant("n", {1}, std::vector<std::int32_t>{7})
             .node(op, "y", inputs, attributes)
             .node("Identity", "out", {"y"}));
  };
  EXPECT_TESSERA_ERROR(with("Frobnicate", {"x"}), unsupported, "model.json", "the node 'y' (Frobnicate)",
                       "no operator Frobnicate");
  EXPECT_TESSERA_ERROR(with("Relu", {"z"}), not_found, "(Relu)", "'z'");
  EXPECT_TESSERA_ERROR(with("Relu", {}), invalid_argument, "(Relu)", "input 0 is not given");
  EXPECT_TESSERA_ERROR(with("Relu", {"y"}), io, "(Relu)", "needs its own result");
  EXPECT_TESSERA_ERROR(with("Merge", {"x", "y"}), unsupported, "(Merge)", "loop");
  EXPECT_TESSERA_ERROR(with("Relu", {"x:99999"}), io, "x:99999");
  EXPECT_TESSERA_ERROR(with("Relu", {"x:3"}), not_found, "(Relu)", "'x:3'");
  EXPECT_TESSERA_ERROR(with("MatMul", {"x", "w"}), shape_mismatch, "(MatMul)");
  EXPECT_TESSERA_ERROR(with("Sum", {"x", "n"}), invalid_argument, "(Sum)", "axis 7");
  EXPECT_TESSERA_ERROR(with("Conv2D", {"x", "w"}, {{"padding", {{"s", "?"}}}}), io, "(Conv2D)", "base64");
  EXPECT_TESSERA_ERROR(with("Conv2D", {"x", "w"}, {{"strides", {{"list", {{"i", {"a"}}}}}}}), io, "(Conv2D)",
                       "whole number");
  EXPECT_TESSERA_ERROR(with("Const", {}), not_found, "(Const)", "no weight");

  std::ofstream(folder / "model.json") << image_graph().json();  // without its weights
  std::filesystem::remove(folder / "second.bin");
  EXPECT_TESSERA_ERROR(Model::load(cpu_context(), folder / "model.json"), io, "second.bin");
  Json json = image_graph().json();
  const auto load_json = [&] {
    std::ofstream(folder / "model.json") << json;
    Model::load(cpu_context(), folder / "model.json");
  };
  image_graph().saved(folder);
  json["weightsManifest"][0]["paths"][1] = "../second.bin";
  EXPECT_TESSERA_ERROR(load_json(), io, "not beside the model");
  json["weightsManifest"][0]["paths"].erase(1);
  EXPECT_TESSERA_ERROR(load_json(), io, "the weight '", "bytes");
  json["weightsManifest"][0]["weights"][0]["shape"][0] = -3;
  EXPECT_TESSERA_ERROR(load_json(), io, "'w1'", "-3");
  json.erase("modelTopology");
  EXPECT_TESSERA_ERROR(load_json(), io, "modelTopology");
  const std::string text = "{\"modelTopology\": ";
  EXPECT_TESSERA_ERROR(Model::load(cpu_context(), std::as_bytes(std::span(text))), io, "no JSON");
  const std::string without_folder = image_graph().json().dump();
  EXPECT_TESSERA_ERROR(Model::load(cpu_context(), std::as_bytes(std::span(without_folder))), io, "from memory");
}

// Still JSON, but some values are others: numbers of all sizes, other kinds, or what stands elsewhere.
std::string with_other_values(const std::string& file, std::uint64_t seed) {
  Json json = Json::parse(file);
  Mutations random(seed);
  const Json flat = json.flatten();
  const auto place = [&] {
    std::string path = std::next(flat.begin(), static_cast<std::ptrdiff_t>(random.next(flat.size()))).key();
    for (auto up = random.next(3); up > 0 && path.rfind('/') != 0; --up) path.resize(path.rfind('/'));
    return Json::json_pointer(path);
  };
  for (std::uint64_t changes = 1 + random.next(3); changes > 0; --changes) {
    const Json::json_pointer changed = place(), other = place();
    if (!json.contains(changed) || !json.contains(other)) continue;
    const Json values[] = {-1,
                           0,
                           1,
                           7,
                           4294967296,
                           INT64_MIN,
                           1e300,
                           "",
                           "x",
                           nullptr,
                           Json::array(),
                           Json::object(),
                           true,
                           "-9",
                           Json(json[other]),
                           Json(json[other])};
    json[changed] = values[random.next(std::size(values))];
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A loop of functions, with operators that look up what is where, and a list.
TfjsModel looping_graph() {
  TfjsModel model;
  model.input("x", {2, 3})
      .constant("widths", {2, 2}, std::vector<std::int32_t>{0, 0, 1, 2})
      .constant("places", {2, 1}, std::vector<std::int32_t>{1, 0})
      .constant("one_axis", {}, std::vector<std::int32_t>{1})
      .constant("zero", {}, std::vector<std::int32_t>{0})
      .node("MirrorPad", "wide", {"x", "widths"}, {{"mode", text_of("SYMMETRIC")}})
      .node("GatherV2", "taken", {"wide", "places", "one_axis"}, {{"batch_dims", {{"i", "1"}}}})
      .node("StatelessWhile", "loop", {"zero", "taken"},
            {{"cond", function_named("goes_on")}, {"body", function_named("turn")}})
      .node("TensorListFromTensor", "rows", {"taken", "widths"})
      .node("TensorListGetItem", "row", {"rows", "one_axis", "widths"})
      .node("TensorListSetItem", "written", {"rows", "zero", "row"})
      .node("TensorListStack", "stacked", {"written", "widths"})
      .node("AddV2", "y", {"loop:1", "stacked"});
  model.weight("turns", {}, std::vector<std::int32_t>{3}).weight("one", {}, std::vector<std::int32_t>{1});
  model.functions = {function_of("goes_on", {"i", "v"},
                                 {node_of("Const", "turns", {}), node_of("Less", "less", {"i", "turns:output:0"})},
                                 {{"out", "less:z:0"}}),
                     function_of("turn", {"i", "v"},
                                 {node_of("Const", "one", {}), node_of("AddV2", "next", {"i", "one:output:0"}),
                                  node_of("AddV2", "twice", {"v", "v"})},
                                 {{"i_out", "next:z:0"}, {"v_out", "twice:z:0"}})};
  return model;
}

TfjsModel recurrent_network() {
  const auto layer = [](const char* kind, const char* name, Json config) {
    config["name"] = name;
    return Json{{"class_name", kind}, {"config", config}};
  };
  TfjsModel model;
  model.topology["model_config"] = {
      {"class_name", "Sequential"},
      {"config",
       {{"layers",
         {layer("Conv1D", "conv",
                {{"batch_input_shape", {nullptr, 4, 2}}, {"kernel_size", {2}}, {"padding", "causal"}}),
          layer("MaxPooling1D", "pool", {{"pool_size", {2}}, {"strides", {2}}}),
          layer("Masking", "mask", {{"mask_value", 0.5}}),
          layer("Bidirectional", "both",
                {{"merge_mode", "sum"}, {"layer", layer("LSTM", "lstm", {{"units", 2}, {"return_sequences", true}})}}),
          layer("LayerNormalization", "norm", {{"axis", {2}}}),
          layer("GRU", "gru", {{"units", 2}, {"reset_after", true}, {"go_backwards", true}})}}}}};
  model.weight("conv/kernel", {2, 2, 2}, some(8)).weight("conv/bias", {2}, some(2));
  for (const std::string direction : {"both/forward_lstm", "both/backward_lstm"})
    model.weight(direction + "/kernel", {2, 8}, some(16))
        .weight(direction + "/recurrent_kernel", {2, 8}, some(16))
        .weight(direction + "/bias", {8}, some(8));
  model.weight("norm/gamma", {2}, some(2))
      .weight("gru/kernel", {2, 6}, some(12))
      .weight("gru/recurrent_kernel", {2, 6}, some(12))
      .weight("gru/bias", {2, 6}, some(12));
  return model;
}

TEST(TfjsReader, SurvivesDamagedFiles) {
  constexpr std::size_t count = 4;
  const TfjsModel models[count] = {image_graph(), layers_network(), looping_graph(), recurrent_network()};
  const Shape shapes[count] = {{1, 8, 6, 3}, {1, 4, 6, 2}, {2, 3}, {1, 4, 2}};
  const TemporaryFolder folders[count];
  std::string files[count];
  const auto build = [&](std::size_t which) {
    const Model model = Model::load(cpu_context(), folders[which] / "model.json");
    model.prepare({{model.inputs().at(0).name, shapes[which]}}).get();
  };
  for (std::size_t i = 0; i < count; ++i) {
    files[i] = bytes_of(models[i].saved(folders[i]));
    EXPECT_NO_THROW(build(i));
  }
  for (int i = 0; i < mutations_wanted(600); ++i) {
    const std::string seed = commit() + " tfjs " + std::to_string(i);
    SCOPED_TRACE("mutation " + seed);
    const std::size_t which = static_cast<std::size_t>(i) % count;
    std::ofstream(folders[which] / "model.json")
        << (i / static_cast<int>(count) % 2 == 0 ? Mutations(hash_of(seed)).mutated(files[which])
                                                 : with_other_values(files[which], hash_of(seed)));
    try {
      build(which);
    } catch (const Error&) {
    } catch (const std::out_of_range&) {  // without inputs
    }
  }
}

}  // namespace
}  // namespace tessera::test::tfjs_test

// Models as a user sees them: what they tell of themselves, how they run, and what goes wrong.
#include <tessera/model.h>

#include <gmock/gmock.h>

#include <set>
#include <sstream>

#include "support/devices.h"
#include "support/temporary_folder.h"
#include "tests/models/onnx_writer.h"

namespace tessera::test::model_test {
namespace {

using onnx::Type;

std::vector<float> numbers(std::int64_t count) {  // between -1 and 1, no two alike
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 37) % 101 - 50) / 50.0f);
  return values;
}

Model load(Context& context, const GraphParts& parts, const ModelOptions& options = {}) {
  const Message file = model_message(parts);
  return Model::load(context, file.bytes(), options);
}

const Message same_padding = attribute_message("pads", std::vector<std::int64_t>{1, 1, 1, 1});

// Two convolutions with what stands between them in networks: activations, a residual sum, a pool.
GraphParts image_network() {
  return {.nodes = {node_message("Conv", {"image", "w1", "b1"}, {"c1"}, {same_padding}),
                    node_message("Relu", {"c1"}, {"r1"}), node_message("Conv", {"r1", "w2"}, {"c2"}, {same_padding}),
                    node_message("Mul", {"c2", "gain"}, {"m2"}), node_message("Add", {"m2", "r1"}, {"sum"}),
                    node_message("MaxPool", {"sum"}, {"y"},
                                 {attribute_message("kernel_shape", std::vector<std::int64_t>{2, 2}),
                                  attribute_message("strides", std::vector<std::int64_t>{2, 2})})},
          .initializers = {tensor_message("w1", Type::float32, {4, 3, 3, 3}, numbers(108)),
                           tensor_message("b1", Type::float32, {4}, numbers(4)),
                           tensor_message("w2", Type::float32, {4, 4, 3, 3}, numbers(144)),
                           tensor_message("gain", Type::float32, {4, 1, 1}, numbers(4))},
          .inputs = {value_message("image", Type::float32, {"batch", "3", "height", "width"})},
          .outputs = {value_message("y", Type::float32, {"batch", "4", "h", "w"})}};
}

// The same as an expert writes it: channels last but at both ends.
Tensor image_network_by_hand(Context& context, const Tensor& image) {
  const Tensor w1 = transpose(context.tensor({4, 3, 3, 3}, numbers(108)), {2, 3, 1, 0});
  const Tensor w2 = transpose(context.tensor({4, 4, 3, 3}, numbers(144)), {2, 3, 1, 0});
  const Tensor b1 = context.tensor({4}, numbers(4)), gain = context.tensor({4}, numbers(4));
  const Conv2d same{.padding = Padding::same};
  const Tensor r1 = relu(conv2d(transpose(image, {0, 2, 3, 1}), w1, same) + b1);
  return transpose(max_pool(conv2d(r1, w2, same) * gain + r1, {.size = {2, 2}}), {0, 3, 1, 2});
}

class Models : public OnDevice {};
TESSERA_ON_EACH_BACKEND(Models);

TEST_P(Models, TellTheirInputsAndOutputs) {
  const Model model = load(context(), image_network());
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_EQ(model.inputs()[0].to_string(), "image: float [batch,3,height,width]");
  EXPECT_EQ(model.inputs()[0].dtype, DType::f32);
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs()[0].to_string(), "y: float [batch,4,h,w]");
}

TEST_P(Models, RunAsTheSameOperationsByHand) {
  const Model model = load(context(), image_network());
  for (const Shape& shape : {Shape{1, 3, 8, 6}, Shape{2, 3, 4, 10}, Shape{1, 3, 8, 6}}) {
    const Tensor image = context().tensor(shape, numbers(shape.size()));
    const std::vector<float> got = model({{"image", image}})["y"].read();
    const std::vector<float> wanted = image_network_by_hand(context(), image).read();
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-4);
  }
}

TEST_P(Models, HaveTheKernelsThatAnExpertWrites) {
  const Shape shape{1, 3, 8, 6};
  const Model model = load(context(), image_network());
  const Program by_hand = Program::record(context(), {{shape}}, [&](std::span<const Tensor> in) {
    return std::vector{image_network_by_hand(context(), in[0])};
  });
  const Tensor image = context().tensor(shape, numbers(shape.size())).compute();
  const auto dispatches = [&](const Tensor& result) {
    context().reset_stats();
    result.compute();
    return context().stats().dispatches;
  };
  model({{"image", image}})["y"].compute();
  by_hand({image})[0].compute();
  EXPECT_EQ(dispatches(model({{"image", image}})["y"]), dispatches(by_hand({image})[0]));
}

TEST_P(Models, MakeNormsPartOfConvolutions) {
  const Model model =
      load(context(), {.nodes = {node_message("Conv", {"x", "w"}, {"c"}),
                                 node_message("BatchNormalization", {"c", "gamma", "beta", "mean", "variance"}, {"n"}),
                                 node_message("Relu", {"n"}, {"r"}),
                                 node_message("ReduceMean", {"r"}, {"y"},
                                              {attribute_message("axes", std::vector<std::int64_t>{2, 3})})},
                       .initializers = {tensor_message("w", Type::float32, {2, 1, 1, 1}, std::vector<float>{1, 2}),
                                        tensor_message("gamma", Type::float32, {2}, std::vector<float>{3, 0.5f}),
                                        tensor_message("beta", Type::float32, {2}, std::vector<float>{1, -1}),
                                        tensor_message("mean", Type::float32, {2}, std::vector<float>{1, 2}),
                                        tensor_message("variance", Type::float32, {2}, std::vector<float>{4, 0.25f})},
                       .inputs = {value_message("x", Type::float32, {"1", "1", "1", "2"})},
                       .outputs = {value_message("y", Type::float32, {"1", "2", "1", "1"})}});
  const Tensor x = context().tensor({1, 1, 1, 2}, {1, 3}).compute();
  const std::vector<float> y = model({{"x", x}})["y"].read();  // (1 + 4) / 2, and (relu(-1) + relu(3)) / 2
  ASSERT_EQ(y.size(), 2u);
  EXPECT_NEAR(y[0], 2.5, 1e-4);
  EXPECT_NEAR(y[1], 1.5, 1e-3);
  const Tensor again = model({{"x", x}})["y"];
  context().reset_stats();
  again.compute();
  EXPECT_LE(context().stats().dispatches, 3u);  // the convolution with its norm and activation, and the mean
}

TEST_P(Models, AreLazyAndPreparedAhead) {
  const Model model = load(context(), image_network());
  const Shape shape{1, 3, 8, 6};
  model.prepare({{"image", shape}}).get();
  const Tensor image = context().tensor(shape, numbers(shape.size())).compute();
  context().wait();
  context().reset_stats();
  const Tensor y = model({{"image", image}})["y"];
  EXPECT_EQ(context().stats().submits, 0u);
  EXPECT_EQ(y.shape(), (Shape{1, 4, 4, 3}));
  y.compute();
  EXPECT_EQ(context().stats().submits, 1u);
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(Models, KeepTheirWeightsInAHub) {
  TensorHub hub(context());
  {
    const Model model = load(context(), image_network(), {.name = "net", .hub = hub});
    for (const std::int64_t width : {4, 6, 8}) model.prepare({{"image", {1, 3, 4, width}}}).get();
    EXPECT_EQ(model.name(), "net");
    std::vector<std::string> names;
    for (const SharedTensor& tensor : hub.list("net")) names.push_back(tensor.ref.name);
    EXPECT_EQ(names, (std::vector<std::string>{"b1", "gain", "w1.filter", "w2.filter"}));
    EXPECT_EQ(hub.get({"w1.filter", "net"}).shape(), (Shape{3, 3, 3, 4}));
  }
  EXPECT_TRUE(hub.list("net").empty());
}

TEST_P(Models, MoveWithTheirContext) {
  Context moving = open(GetParam());
  const Model model = load(moving, image_network());
  const Shape shape{1, 3, 8, 6};
  const Tensor image = moving.tensor(shape, numbers(shape.size()));
  const std::vector<float> before = model({{"image", image}})["y"].read();
  moving.switch_backend(BackendKind::cpu);
  const std::vector<float> after = model({{"image", image}})["y"].read();
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-4);
}

TEST_P(Models, UploadWeightsOnceForAllSizes) {  // those that are dropped and met again, too
  const Model model = load(context(), image_network(), {.max_programs = 2});
  const auto uploaded_for = [&](std::int64_t width) {
    context().reset_stats();
    model.prepare({{"image", {1, 3, 4, width}}}).get();
    return context().stats().bytes_uploaded;
  };
  uploaded_for(4);
  for (const std::int64_t width : {6, 8, 4, 8, 4}) EXPECT_EQ(uploaded_for(width), 0u) << width;
  const Tensor image = context().tensor({1, 3, 4, 6}, numbers(72));
  EXPECT_EQ(model({{"image", image}})["y"].read(), image_network_by_hand(context(), image).read());
}

TEST_P(Models, TakeBranchesByValues) {
  const auto branch = [](const char* op) {
    return graph_message(
        {.nodes = {node_message(op, {"x"}, {"r"})}, .outputs = {value_message("r", Type::float32, {"2"})}});
  };
  const Model model =
      load(context(), {.nodes = {node_message("If", {"c"}, {"y"},
                                              {Message().text(1, "then_branch").message(6, branch("Relu")),
                                               Message().text(1, "else_branch").message(6, branch("Neg"))})},
                       .inputs = {value_message("c", Type::boolean, {}), value_message("x", Type::float32, {"2"})},
                       .outputs = {value_message("y", Type::float32, {"2"})}});
  const Tensor x = context().tensor({2}, {-1, 2});
  EXPECT_EQ(model({{"c", context().full({}, 1, DType::boolean)}, {"x", x}})["y"].read(), (std::vector<float>{0, 2}));
  EXPECT_EQ(model({{"c", context().full({}, 0, DType::boolean)}, {"x", x}})["y"].read(), (std::vector<float>{1, -2}));
  EXPECT_NE(to_string(model.explain()).find("(If) has to know its input 0"), std::string::npos);
}

TEST_P(Models, ExplainGraphsInGraphs) {  // without a warning of tensors that nobody was told of
  const Message body =
      graph_message({.nodes = {node_message("Conv", {"x", "w"}, {"v_out"}), node_message("Identity", {"c"}, {"c_out"})},
                     .inputs = {value_message("i", Type::int64, {}), value_message("c", Type::boolean, {}),
                                value_message("v", Type::float32, {"1", "1", "2", "2"})},
                     .outputs = {value_message("c_out", Type::boolean, {}),
                                 value_message("v_out", Type::float32, {"1", "1", "2", "2"})}});
  const Model model =
      load(context(),
           {.nodes = {node_message("Loop", {"count", "", "x"}, {"y"}, {Message().text(1, "body").message(6, body)})},
            .initializers = {tensor_message("count", Type::int64, {}, std::vector<std::int64_t>{2}),
                             tensor_message("w", Type::float32, {1, 1, 1, 1}, std::vector{2.0f})},
            .inputs = {value_message("x", Type::float32, {"1", "1", "2", "2"})},
            .outputs = {value_message("y", Type::float32, {"1", "1", "2", "2"})}});
  std::vector<std::string> operators;
  for (const ModelNode& node : model.explain()) operators.push_back(node.op);
  EXPECT_EQ(operators, (std::vector<std::string>{"Loop", "Conv", "Identity", "Conv", "Identity"}));
}

// Each turn is built on the one before, and costs no more than that one did.
TEST_P(Models, LoopsWithoutEndAreErrors) {
  const Message body = graph_message(
      {.nodes = {node_message("Add", {"n", "nothing"}, {"n_out"}), node_message("Less", {"n_out", "last"}, {"c_out"})},
       .initializers = {tensor_message("nothing", Type::int64, {}, std::vector<std::int64_t>{0}),
                        tensor_message("last", Type::int64, {}, std::vector<std::int64_t>{1})},
       .inputs = {value_message("i", Type::int64, {}), value_message("c", Type::boolean, {}),
                  value_message("n", Type::int64, {})},
       .outputs = {value_message("c_out", Type::boolean, {}), value_message("n_out", Type::int64, {})}});
  const auto build = [&] {
    const Model model =
        load(context(),
             {.nodes = {node_message("Loop", {"", "", "zero"}, {"n"}, {Message().text(1, "body").message(6, body)}),
                        node_message("Add", {"x", "x"}, {"y"})},
              .initializers = {tensor_message("zero", Type::int64, {}, std::vector<std::int64_t>{0})},
              .inputs = {value_message("x", Type::float32, {"2"})},
              .outputs = {value_message("y", Type::float32, {"2"})}});
    model({{"x", context().tensor({2}, {1, -2})}});
  };
  EXPECT_TESSERA_ERROR(build(), unsupported, "nodes and turns of loops");
}

TEST_P(Models, ReadBackWhatDecidesSizes) {
  const Model model = load(context(), {.nodes = {node_message("NonZero", {"x"}, {"places"})},
                                       .inputs = {value_message("x", Type::float32, {"n"})},
                                       .outputs = {value_message("places", Type::int64, {"1", "count"})}});
  const auto places = [&](const std::vector<float>& x) {
    const Tensor result = model({{"x", context().tensor({static_cast<std::int64_t>(x.size())}, x)}})["places"];
    EXPECT_EQ(result.shape().rank(), 2);
    return result.read<std::int32_t>();
  };
  EXPECT_EQ(places({0, 2, 0, 4}), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(places({1, 2, 3, 0}), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_NE(to_string(model.explain({{"x", {4}}}))
                .find("'places_node' (NonZero) has to know its input 0, which is read back"),
            std::string::npos);
}

TEST_P(Models, ExplainWhatBecameOfNodes) {
  const Model model =
      load(context(), {.nodes = {node_message("Shape", {"x"}, {"s"}), node_message("Reshape", {"x", "s"}, {"r"}),
                                 node_message("Relu", {"r"}, {"y"})},
                       .inputs = {value_message("x", Type::float32, {"n", "3"})},
                       .outputs = {value_message("y", Type::float32, {"n", "3"})}});
  const std::vector<ModelNode> nodes = model.explain({{"x", {2, 3}}});
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].op, "Shape");
  EXPECT_EQ(nodes[0].result, "int64[2]");
  EXPECT_EQ(nodes[2].name, "y_node");
  EXPECT_EQ(nodes[2].result, "float[2,3]");
  EXPECT_EQ(nodes[2].became, "relu");
}

TEST_P(Models, ExplainInWhichKernelsNodesAre) {
  const Model model = load(context(), image_network());
  const Shape shape{1, 3, 8, 6};
  const std::vector<ModelNode> nodes = model.explain({{"image", shape}});
  std::vector<std::string> operators;
  std::set<std::string> kernels;
  for (const ModelNode& node : nodes) {
    operators.push_back(node.op);
    std::istringstream list(node.kernel);
    for (std::string kernel; std::getline(list, kernel, ',');) kernels.insert(kernel.substr(kernel.find('#')));
  }
  ASSERT_EQ(operators, (std::vector<std::string>{"Conv", "Relu", "Conv", "Mul", "Add", "MaxPool", "output"}));
  const Tensor image = context().tensor(shape, numbers(shape.size())).compute();
  model({{"image", image}})["y"].compute();
  context().reset_stats();
  model({{"image", image}})["y"].compute();
  EXPECT_EQ(kernels.size(), context().stats().dispatches);  // each is said, and no other

  constexpr std::int64_t pixels = 8 * 6, elements = 4 * pixels, size = sizeof(float);
  EXPECT_THAT(nodes[0].kernel, testing::HasSubstr(nodes[1].kernel));  // after one that turns the image
  EXPECT_THAT(nodes[1].kernel, testing::HasSubstr("conv"));
  EXPECT_THAT(nodes[1].kernel, testing::HasSubstr("relu"));
  EXPECT_EQ(nodes[3].kernel, nodes[4].kernel);
  EXPECT_EQ(nodes[0].flops, elements * 27 + elements);  // and the bias
  EXPECT_EQ(nodes[1].flops, elements);
  EXPECT_EQ(nodes[2].flops, elements * 36);
  EXPECT_EQ(nodes[0].bytes, (3 * 3 * pixels + 108 + 4) * size);  // the image is read, written and read
  EXPECT_EQ(nodes[1].bytes, elements * size);
  EXPECT_EQ(nodes[2].bytes, (2 * elements + 144) * size);
  EXPECT_EQ(nodes[3].bytes, (elements + 4) * size);
  EXPECT_EQ(nodes[4].bytes, elements * size);      // the residual
  EXPECT_EQ(nodes[5].bytes, elements / 4 * size);  // nothing is read but within the kernel
  EXPECT_EQ(nodes[6].bytes, 2 * elements / 4 * size);
}

TEST_P(Models, ExplainNothingOfKernelsForWhatIsDoneAtLoad) {
  const Model model =
      load(context(), {.nodes = {node_message("Exp", {"w"}, {"e"}), node_message("Mul", {"x", "e"}, {"y"})},
                       .initializers = {tensor_message("w", Type::float32, {50, 50}, numbers(2500))},
                       .inputs = {value_message("x", Type::float32, {"50", "50"})},
                       .outputs = {value_message("y", Type::float32, {"50", "50"})}});
  const std::vector<ModelNode> nodes = model.explain();
  ASSERT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes[0].kernel, "");
  EXPECT_EQ(nodes[0].flops, 0);
  EXPECT_EQ(nodes[0].bytes, 0);
  EXPECT_EQ(nodes[1].kernel, "#1 mul");
  EXPECT_EQ(nodes[1].flops, 2500);
  EXPECT_EQ(nodes[1].bytes, 3 * 2500 * 4);
  EXPECT_EQ(to_string(nodes),
            "node          result        flops  bytes  became  kernel\n"
            "Exp 'e_node'  float[50,50]      0      0  exp     -\n"
            "Mul 'y_node'  float[50,50]   2500  30.0k  mul     #1 mul\n");
}

TEST_P(Models, RefuseInputsThatDoNotFit) {
  Context& gpu = context();
  const Model model =
      load(gpu,
           {.nodes = {node_message("Add", {"a", "b"}, {"y"})},
            .inputs = {value_message("a", Type::float32, {"n", "3"}), value_message("b", Type::float32, {"n", "3"})},
            .outputs = {value_message("y", Type::float32, {"n", "3"})}},
           {.name = "sum"});
  const Tensor a = gpu.zeros({2, 3});
  EXPECT_TESSERA_ERROR(model({{"a", a}}), invalid_argument, "model sum", "'b' is not given");
  EXPECT_TESSERA_ERROR(model({{"a", a}, {"c", a}}), not_found, "'c'", "'a', 'b'");
  EXPECT_TESSERA_ERROR(model({{"a", a}, {"b", gpu.zeros({2, 3}, DType::i32)}}), dtype_mismatch, "'b'", "i32", "float",
                       "f32");
  EXPECT_TESSERA_ERROR(model({{"a", a}, {"b", gpu.zeros({2, 4})}}), shape_mismatch, "'b'", "[2,4]", "[n,3]");
  EXPECT_TESSERA_ERROR(model({{"a", a}, {"b", gpu.zeros({1, 3})}}), shape_mismatch, "[1,3]", "n = 2");
  EXPECT_TESSERA_ERROR(model.prepare({}), invalid_argument, "'a' needs a shape", "[n,3]");
}

TEST_P(Models, NameTheNodeThatCannotBe) {
  Context& gpu = context();
  const auto with = [&](const Message& node, std::vector<Message> initializers = {}) {
    const Model model = load(gpu, {.nodes = {node},
                                   .initializers = std::move(initializers),
                                   .inputs = {value_message("x", Type::float32, {"2", "3"})},
                                   .outputs = {value_message("y", Type::float32, {"2", "3"})}});
    model.prepare().get();
  };
  EXPECT_TESSERA_ERROR(with(node_message("Frobnicate", {"x"}, {"y"})), unsupported, "the node 'y_node' (Frobnicate)",
                       "no operator Frobnicate");
  EXPECT_TESSERA_ERROR(with(node_message("Relu", {"z"}, {"y"})), not_found, "(Relu)", "'z'");
  EXPECT_TESSERA_ERROR(with(node_message("Relu", {}, {"y"})), invalid_argument, "(Relu)", "input 0 is not given");
  EXPECT_TESSERA_ERROR(with(node_message("Softmax", {"x"}, {"y"}, {attribute_message("axis", 7)})), invalid_argument,
                       "(Softmax)", "axis 7");
  EXPECT_TESSERA_ERROR(with(node_message("Relu", {"x"}, {"other"})), not_found, "the output 'y'");
  EXPECT_TESSERA_ERROR(with(node_message("MatMul", {"x", "w"}, {"y"}),
                            {tensor_message("w", Type::float32, {2, 2}, std::vector<float>(4))}),
                       shape_mismatch, "(MatMul)", "[2,3]", "[2,2]");
  EXPECT_TESSERA_ERROR(with(node_message("Shape", {"x"}, {"y"})), dtype_mismatch, "'y' is int64", "float");
}

TEST(ModelFiles, ThatCannotBeReadAreErrors) {
  Context& cpu = cpu_context();
  const TemporaryFolder folder;
  EXPECT_TESSERA_ERROR(Model::load(cpu, folder / "none.onnx"), io, "none.onnx");
  EXPECT_TESSERA_ERROR(Model::load(cpu, folder.path()), io, "no regular file");
  std::ofstream(folder / "text.onnx") << "this is no model";
  EXPECT_TESSERA_ERROR(Model::load(cpu, folder / "text.onnx"), io, "text.onnx");
  const std::string file = model_message(image_network()).text();
  std::ofstream(folder / "net.onnx", std::ios::binary) << file;
  EXPECT_EQ(Model::load(cpu, folder / "net.onnx").name(), "net");
}

}  // namespace
}  // namespace tessera::test::model_test

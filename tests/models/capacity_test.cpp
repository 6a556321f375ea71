// Results whose number values decide, with the room that the caller gave them: nothing is read back.
#include <tessera/model.h>

#include "support/devices.h"
#include "tests/models/onnx_writer.h"
#include "tests/models/tfjs_writer.h"

namespace tessera::test::capacity_test {
namespace {

using onnx::Type;
using Integers = std::vector<std::int32_t>;
using Floats = std::vector<float>;

constexpr std::int32_t none = 2147483647;

class Capacities : public OnDevice {
 protected:
  Model load(const GraphParts& parts, const std::map<std::string, std::int64_t>& capacities) {
    const Message file = model_message(parts);
    return Model::load(context(), file.bytes(), {.capacities = capacities});
  }

  // Of a model that takes x: after the inputs are on the device, nothing is downloaded before results are asked for.
  std::map<std::string, Tensor> run(const Model& model, std::map<std::string, Tensor> inputs) {
    for (auto& [name, tensor] : inputs) tensor = tensor.compute();
    context().wait();
    context().reset_stats();
    std::map<std::string, Tensor> results = model(inputs);
    for (auto& [name, tensor] : results) tensor.compute();
    context().wait();
    EXPECT_EQ(context().stats().bytes_downloaded, 0u);
    return results;
  }
};
TESSERA_ON_EACH_BACKEND(Capacities);

TEST_P(Capacities, OfNonZero) {
  const GraphParts parts{.nodes = {node_message("NonZero", {"x"}, {"places"})},
                         .inputs = {value_message("x", Type::float32, {"2", "3"})},
                         .outputs = {value_message("places", Type::int64, {"2", "count"})}};
  const Model model = load(parts, {{"places_node", 4}});
  ASSERT_EQ(model.outputs().size(), 2u);
  EXPECT_EQ(model.outputs()[1].to_string(), "places.count: int64 []");
  auto results = run(model, {{"x", context().tensor({2, 3}, {0, 2, 0, 4, 0, -1})}});
  EXPECT_EQ(results["places"].shape(), (Shape{2, 4}));
  EXPECT_EQ(results["places"].read<std::int32_t>(), (Integers{0, 1, 1, none, 1, 0, 2, none}));
  EXPECT_EQ(results["places.count"].read<std::int32_t>(), Integers{3});
  // More than there is room for are counted; the first ones are there.
  results = run(model, {{"x", context().tensor({2, 3}, {1, 2, 3, 4, 5, 6})}});
  EXPECT_EQ(results["places"].read<std::int32_t>(), (Integers{0, 0, 0, 1, 0, 1, 2, 0}));
  EXPECT_EQ(results["places.count"].read<std::int32_t>(), Integers{6});
  const std::vector<ModelNode> nodes = model.explain();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_NE(nodes[0].became.find("room for 4, nothing is read back"), std::string::npos) << nodes[0].became;
}

// x[x > 0] = -1 as PyTorch writes it: the filler of the places changes nothing.
TEST_P(Capacities, AreLookedUpAndScatteredBy) {
  const Model model =
      load({.nodes = {node_message("Greater", {"x", "zero"}, {"mask"}), node_message("NonZero", {"mask"}, {"places"}),
                      node_message("Transpose", {"places"}, {"rows"},
                                   {attribute_message("perm", std::vector<std::int64_t>{1, 0})}),
                      node_message("GatherND", {"x", "rows"}, {"taken"}), node_message("Neg", {"taken"}, {"updates"}),
                      node_message("ScatterND", {"x", "rows", "updates"}, {"y"})},
            .initializers = {tensor_message("zero", Type::float32, {}, Floats{0})},
            .inputs = {value_message("x", Type::float32, {"2", "2"})},
            .outputs = {value_message("y", Type::float32, {"2", "2"})}},
           {{"places", 4}});
  EXPECT_EQ(run(model, {{"x", context().tensor({2, 2}, {1, -2, 3, 4})}})["y"].read(), (Floats{-1, -2, -3, -4}));
  EXPECT_EQ(run(model, {{"x", context().tensor({2, 2}, {-1, 2, -3, -4})}})["y"].read(), (Floats{-1, -2, -3, -4}));
}

TEST_P(Capacities, OfCompress) {
  const GraphParts parts{
      .nodes = {node_message("Compress", {"x", "c"}, {"rows"}, {attribute_message("axis", 1)}),
                node_message("Compress", {"x", "c"}, {"flat"})},
      .inputs = {value_message("x", Type::float32, {"2", "3"}), value_message("c", Type::boolean, {"3"})},
      .outputs = {value_message("rows", Type::float32, {"2", "n"}), value_message("flat", Type::float32, {"n"})}};
  const Model model = load(parts, {{"rows", 3}, {"flat_node", 1}});
  const Tensor x = context().tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor condition = context().tensor({3}, Integers{0, 1, 1}).cast(DType::boolean);
  auto results = run(model, {{"x", x}, {"c", condition}});
  EXPECT_EQ(results["rows"].read(), (Floats{2, 3, 0, 5, 6, 0}));
  EXPECT_EQ(results["rows.count"].read<std::int32_t>(), Integers{2});
  EXPECT_EQ(results["flat"].read(), Floats{2});
  EXPECT_EQ(results["flat.count"].read<std::int32_t>(), Integers{2});
}

TEST_P(Capacities, OfUnique) {
  const auto load_unique = [&](std::vector<Message> attributes) {
    return load(
        {.nodes = {node_message("Unique", {"x"}, {"values", "firsts", "kinds", "counts"}, std::move(attributes))},
         .inputs = {value_message("x", Type::float32, {"4", "2"})},
         .outputs = {value_message("values", Type::float32, {}), value_message("firsts", Type::int64, {"n"}),
                     value_message("kinds", Type::int64, {"m"}), value_message("counts", Type::int64, {"n"})}},
        {{"values", 5}});
  };
  const Tensor x = context().tensor({4, 2}, {3, 1, 2, 2, 3, 1, 2, 1});
  const auto expect_results = [&](std::map<std::string, Tensor> got, const Floats& values, const Integers& firsts,
                                  const Integers& kinds, const Integers& counts, std::int32_t count) {
    EXPECT_EQ(got["values"].read(), values);
    EXPECT_EQ(got["firsts"].read<std::int32_t>(), firsts);
    EXPECT_EQ(got["kinds"].read<std::int32_t>(), kinds);
    EXPECT_EQ(got["counts"].read<std::int32_t>(), counts);
    EXPECT_EQ(got["values.count"].read<std::int32_t>(), Integers{count});
  };
  expect_results(run(load_unique({}), {{"x", x}}), {1, 2, 3, 0, 0}, {1, 2, 0, none, none}, {2, 0, 1, 1, 2, 0, 1, 0},
                 {3, 3, 2, 0, 0}, 3);
  expect_results(run(load_unique({attribute_message("sorted", 0)}), {{"x", x}}), {3, 1, 2, 0, 0}, {0, 1, 2, none, none},
                 {0, 1, 2, 2, 0, 1, 2, 1}, {2, 3, 3, 0, 0}, 3);
  expect_results(run(load_unique({attribute_message("axis", 0)}), {{"x", x}}), {2, 1, 2, 2, 3, 1, 0, 0, 0, 0},
                 {3, 1, 0, none, none}, {2, 1, 2, 0}, {1, 1, 2, 0, 0}, 3);
}

GraphParts suppression(std::int64_t most) {
  return {.nodes = {node_message("NonMaxSuppression", {"boxes", "scores", "most", "overlap", "least"}, {"kept"})},
          .initializers = {tensor_message("most", Type::int64, {1}, std::vector<std::int64_t>{most}),
                           tensor_message("overlap", Type::float32, {1}, Floats{0.5f}),
                           tensor_message("least", Type::float32, {1}, Floats{0.1f})},
          .inputs = {value_message("boxes", Type::float32, {"n", "b", "4"}),
                     value_message("scores", Type::float32, {"n", "c", "b"})},
          .outputs = {value_message("kept", Type::int64, {"k", "3"})}};
}

// Beside the same model that reads back, for boxes that overlap in many ways.
TEST_P(Capacities, OfNonMaxSuppression) {
  constexpr int boxes = 12, batches = 2, classes = 2;
  Floats corners, scores;
  for (int i = 0; i < batches * boxes; ++i) {
    const float top = static_cast<float>(i * 7 % 5), left = static_cast<float>(i * 3 % 4);
    for (const float side : {top, left, top + 3, left + 2.5f}) corners.push_back(side);
    if (i % 3 == 0) std::swap(corners[corners.size() - 4], corners[corners.size() - 2]);  // other corners
  }
  for (int i = 0; i < batches * classes * boxes; ++i) scores.push_back(static_cast<float>(i * 37 % 101) / 101.0f);
  const std::map<std::string, Tensor> inputs{{"boxes", context().tensor({batches, boxes, 4}, corners)},
                                             {"scores", context().tensor({batches, classes, boxes}, scores)}};
  const Integers wanted = load(suppression(4), {})(inputs)["kept"].read<std::int32_t>();
  const auto count = static_cast<std::int32_t>(wanted.size()) / 3;
  ASSERT_GT(count, 6);
  for (const std::int64_t capacity : {std::int64_t{20}, std::int64_t{6}}) {
    auto results = run(load(suppression(4), {{"kept", capacity}}), inputs);
    Integers padded = wanted;
    padded.resize(static_cast<std::size_t>(capacity) * 3, none);
    EXPECT_EQ(results["kept"].read<std::int32_t>(), padded);
    EXPECT_EQ(results["kept.count"].read<std::int32_t>(), Integers{count});
  }
}

TEST_P(Capacities, OfTfjs) {
  TfjsModel file;
  file.input("boxes", {4, 4})
      .input("scores", {4})
      .constant("most", {}, Integers{3})
      .constant("overlap", {}, Floats{0.5f})
      .constant("least", {}, Floats{0.2f})
      .node("NonMaxSuppressionV5", "kept", {"boxes", "scores", "most", "overlap", "least"})
      .node("Identity", "kept_scores", {"kept:1"})
      .node("Identity", "kept_count", {"kept:2"})
      .constant("half", {}, Floats{0.5f})
      .node("Greater", "good", {"scores", "half"})
      .node("Where", "places", {"good"});
  for (const char* output : {"kept", "kept_scores", "kept_count", "places"})
    file.signature["outputs"][output] = {{"name", output}};
  file.signature["outputs"]["kept"]["dtype"] = file.signature["outputs"]["kept_count"]["dtype"] = "DT_INT32";
  file.signature["outputs"]["places"]["dtype"] = "DT_INT32";
  const TemporaryFolder folder;
  const Model model = Model::load(context(), file.saved(folder), {.capacities = {{"kept", 5}, {"places", 2}}});
  auto results = run(model, {{"boxes", context().tensor({4, 4}, {0, 0, 2, 2, 0, 0, 2, 2.25f, 4, 4, 6, 6, 8, 8, 9, 9})},
                             {"scores", context().tensor({4}, {0.5f, 0.75f, 0.625f, 0.125f})}});
  EXPECT_EQ(results["kept"].read<std::int32_t>(), (Integers{1, 2, none, none, none}));
  EXPECT_EQ(results["kept_scores"].read(), (Floats{0.75f, 0.625f, 0, 0, 0}));
  EXPECT_EQ(results["kept_count"].read<std::int32_t>(), Integers{2});
  EXPECT_EQ(results["kept.count"].read<std::int32_t>(), Integers{2});
  EXPECT_EQ(results["places"].shape(), (Shape{2, 1}));
  EXPECT_EQ(results["places"].read<std::int32_t>(), (Integers{1, 2}));
  EXPECT_EQ(results["places.count"].read<std::int32_t>(), Integers{2});
}

TEST_P(Capacities, ThatCannotBeAreErrors) {
  const GraphParts parts{.nodes = {node_message("Relu", {"x"}, {"y"}), node_message("NonZero", {"y"}, {"places"})},
                         .inputs = {value_message("x", Type::float32, {"n"})},
                         .outputs = {value_message("places", Type::int64, {"1", "count"})}};
  EXPECT_TESSERA_ERROR(load(parts, {{"y", 4}}), not_found, "a capacity is given for 'y'");
  EXPECT_TESSERA_ERROR(load(parts, {{"places", 0}}), invalid_argument, "(NonZero) is 0");
  EXPECT_TESSERA_ERROR(load(parts, {{"places", 4}, {"places_node", 4}}), invalid_argument, "two capacities");
}

}  // namespace
}  // namespace tessera::test::capacity_test

// The reader of ONNX files: element types, external files, and files that are damaged.
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <limits>

#include "models/elements.h"
#include "support/commit.h"
#include "support/devices.h"
#include "support/temporary_folder.h"
#include "tests/models/mutations.h"
#include "tests/models/onnx_node_tests.h"
#include "tests/models/written_patterns.h"
#include <tessera/model.h>

namespace tessera::test::onnx_reader_test {
namespace {

using onnx::Type;

// Elements of a tensor message as floats, and the type they are kept in.
std::pair<std::vector<float>, DType> decoded(const Message& message, const std::filesystem::path& folder = "") {
  onnx::ExternalFiles files(folder);
  const onnx::TensorProto proto = onnx::read_tensor(message.bytes());
  const onnx::Elements elements = onnx::elements_of(proto, files);
  return {cpu_context().tensor(elements.shape, elements.dtype, elements.bytes).read(), elements.dtype};
}

using Decoded = std::pair<std::vector<float>, DType>;

TEST(OnnxReader, KeepsTypesThatTesseraHas) {
  EXPECT_EQ(decoded(tensor_message("t", Type::float32, {2}, std::vector{1.5f, -2.0f})),
            (Decoded{{1.5f, -2}, DType::f32}));
  EXPECT_EQ(decoded(tensor_message("t", Type::int8, {2}, std::vector<std::int8_t>{-128, 7})),
            (Decoded{{-128, 7}, DType::i8}));
  EXPECT_EQ(decoded(tensor_message("t", Type::uint8, {1, 1}, std::vector<std::uint8_t>{255})),
            (Decoded{{255}, DType::u8}));
  EXPECT_EQ(decoded(tensor_message("t", Type::float16, {1}, std::vector{half(0.1f)})),
            (Decoded{{half(0.1f)}, DType::f16}));
  EXPECT_EQ(decoded(tensor_message("t", Type::boolean, {2}, std::vector<std::uint8_t>{0, 2})),
            (Decoded{{0, 1}, DType::boolean}));
}

TEST(OnnxReader, ClampsIntegersInto32Bits) {
  const float low = -2147483648.0f, high = 2147483648.0f;  // what f32 makes of the largest i32
  EXPECT_EQ(decoded(tensor_message("t", Type::int64, {3}, std::vector<std::int64_t>{INT64_MIN, -5, INT64_MAX})),
            (Decoded{{low, -5, high}, DType::i32}));
  EXPECT_EQ(decoded(tensor_message("t", Type::uint64, {2}, std::vector<std::uint64_t>{UINT64_MAX, 9})),
            (Decoded{{high, 9}, DType::i32}));
  EXPECT_EQ(decoded(tensor_message("t", Type::uint32, {1}, std::vector<std::uint32_t>{UINT32_MAX})),
            (Decoded{{high}, DType::i32}));
  EXPECT_EQ(decoded(tensor_message("t", Type::int16, {1}, std::vector<std::int16_t>{-3})), (Decoded{{-3}, DType::i32}));
  EXPECT_EQ(decoded(tensor_message("t", Type::uint16, {1}, std::vector<std::uint16_t>{65535})),
            (Decoded{{65535}, DType::i32}));
}

TEST(OnnxReader, WidensAndNarrowsFloats) {
  EXPECT_EQ(decoded(tensor_message("t", Type::float64, {1}, std::vector{0.1})), (Decoded{{0.1f}, DType::f32}));
  EXPECT_EQ(decoded(tensor_message("t", Type::bfloat16, {2}, std::vector<std::uint16_t>{0x3f80, 0xc040})),
            (Decoded{{1, -3}, DType::f32}));
}

TEST(OnnxReader, UnpacksFourBits) {
  const std::vector<std::uint8_t> packed{0x8f, 0x07};  // the lower half first
  EXPECT_EQ(decoded(tensor_message("t", Type::int4, {3}, packed)), (Decoded{{-1, -8, 7}, DType::i8}));
  EXPECT_EQ(decoded(tensor_message("t", Type::uint4, {3}, packed)), (Decoded{{15, 8, 7}, DType::u8}));
}

TEST(OnnxReader, TakesNumbersInFieldsOfTheirOwn) {
  Message packed;
  packed.number(1, std::int64_t{2})
      .number(2, std::int64_t{7})
      .tag(7, 2)
      .varint(11)
      .varint(3)
      .varint(static_cast<std::uint64_t>(-1));
  EXPECT_EQ(decoded(packed), (Decoded{{3, -1}, DType::i32}));
  Message single;
  single.number(1, std::int64_t{2}).number(2, std::int64_t{1}).number(4, 1.5f).number(4, 2.5f);
  EXPECT_EQ(decoded(single), (Decoded{{1.5f, 2.5f}, DType::f32}));
  Message halves;  // as their bits
  halves.number(1, std::int64_t{1}).number(2, std::int64_t{10}).number(5, std::int64_t{half(2.0f).bits()});
  EXPECT_EQ(decoded(halves), (Decoded{{2}, DType::f16}));
}

Message external_tensor(std::string_view location, std::string_view offset, std::string_view length) {
  Message tensor;
  tensor.number(1, std::int64_t{2}).number(2, std::int64_t{1}).text(8, "weights").number(14, std::int64_t{1});
  for (const auto& [key, value] :
       {std::pair{"location", location}, std::pair{"offset", offset}, std::pair{"length", length}})
    tensor.message(13, Message().text(1, key).text(2, value));
  return tensor;
}

TEST(OnnxReader, ReadsExternalFilesBesideTheModel) {
  const TemporaryFolder folder;
  const std::vector<float> numbers{9, 1.5f, -2, 9};
  std::ofstream(folder / "weights.bin", std::ios::binary).write(reinterpret_cast<const char*>(numbers.data()), 16);
  EXPECT_EQ(decoded(external_tensor("weights.bin", "4", "8"), folder.path()), (Decoded{{1.5f, -2}, DType::f32}));
  EXPECT_TESSERA_ERROR(decoded(external_tensor("weights.bin", "12", "8"), folder.path()), io, "weights", "12", "16");
  EXPECT_TESSERA_ERROR(decoded(external_tensor("weights.bin", "18446744073709551615", "8"), folder.path()), io,
                       "weights");
  EXPECT_TESSERA_ERROR(decoded(external_tensor("weights.bin", "x", "8"), folder.path()), io, "offset", "'x'");
  EXPECT_TESSERA_ERROR(decoded(external_tensor("../weights.bin", "4", "8"), folder.path()), io, "not beside the model");
  EXPECT_TESSERA_ERROR(decoded(external_tensor("/etc/passwd", "0", "8"), folder.path()), io, "not beside the model");
  EXPECT_TESSERA_ERROR(decoded(external_tensor("none.bin", "4", "8"), folder.path()), io, "none.bin");
  EXPECT_TESSERA_ERROR(decoded(external_tensor("weights.bin", "4", "8")), io, "from memory");
}

TEST(OnnxReader, RefusesTensorsThatDoNotFitTheirBytes) {
  EXPECT_TESSERA_ERROR(decoded(tensor_message("t", Type::float32, {3}, std::vector{1.0f})), io, "'t'", "[3]",
                       "12 bytes", "4");
  EXPECT_TESSERA_ERROR(decoded(tensor_message("t", Type::float32, {-3}, std::vector{1.0f})), io, "-3");
  EXPECT_TESSERA_ERROR(decoded(tensor_message("t", Type::float32, {1 << 30, 1 << 30}, std::vector{1.0f})),
                       out_of_memory, "'t'");
  EXPECT_TESSERA_ERROR(decoded(tensor_message("t", Type::float32, std::vector<std::int64_t>(9, 1), std::vector{1.0f})),
                       unsupported, "9 axes");
  EXPECT_TESSERA_ERROR(decoded(tensor_message("t", Type::string, {1}, std::vector{1.0f})), unsupported, "string");
  EXPECT_TESSERA_ERROR(decoded(tensor_message("t", static_cast<Type>(77), {1}, std::vector{1.0f})), unsupported,
                       "type 77");
}

onnx::ModelProto read(const Message& message) { return onnx::read_model(message.bytes()); }

TEST(OnnxReader, SaysWhereAFileIsDamaged) {
  EXPECT_TESSERA_ERROR(read(Message()), io, "no graph");
  EXPECT_TESSERA_ERROR(read(Message().text(7, std::string("\x0a\xff", 2))), io, "in the model");
  EXPECT_TESSERA_ERROR(read(Message().tag(7, 2).varint(UINT64_MAX)), io, "18446744073709551615 bytes");
  EXPECT_TESSERA_ERROR(read(Message().tag(7, 3)), io, "wire type 3");
  EXPECT_TESSERA_ERROR(read(Message().number(7, std::int64_t{1})), io, "field 7");
  const Message node = node_message("Relu", {"x"}, {"y"}, {Message().number(3, std::int64_t{1})});
  EXPECT_TESSERA_ERROR(read(model_message({.nodes = {node}})), io, "the node 'y_node' (Relu)", "no name");
  EXPECT_TESSERA_ERROR(read(model_message({.nodes = {Message().text(2, "y")}})), io, "no operator");
  Message nested = node_message("Relu", {"x"}, {"y"});
  for (int depth = 0; depth < 40; ++depth)
    nested = node_message("If", {"c"}, {"y"},
                          {Message().text(1, "then_branch").message(6, graph_message({.nodes = {nested}}))});
  EXPECT_TESSERA_ERROR(read(model_message({.nodes = {nested}})), io, "32 deep");
}

std::vector<std::string> small_models() {
  std::vector<std::string> files;
  const auto add = [&](const GraphParts& parts, std::int64_t opset = 13) {
    files.push_back(model_message(parts, opset).text());
  };
  add({.nodes = {node_message("Conv", {"x", "w", "b"}, {"c"},
                              {attribute_message("pads", std::vector<std::int64_t>{1, 1, 1, 1})}),
                 node_message("Relu", {"c"}, {"r"}),
                 node_message("MaxPool", {"r"}, {"y"},
                              {attribute_message("kernel_shape", std::vector<std::int64_t>{2, 2}),
                               attribute_message("strides", std::vector<std::int64_t>{2, 2})})},
       .initializers = {tensor_message("w", Type::float32, {2, 1, 3, 3}, std::vector<float>(18, 0.5f)),
                        tensor_message("b", Type::float32, {2}, std::vector<float>{1, 2})},
       .inputs = {value_message("x", Type::float32, {"1", "1", "6", "6"})},
       .outputs = {value_message("y", Type::float32, {"1", "2", "3", "3"})}});
  add({.nodes = {node_message("Shape", {"x"}, {"s"}),
                 node_message("Gather", {"s", "zero"}, {"n"}, {attribute_message("axis", 0)}),
                 node_message("Concat", {"n", "rest"}, {"sizes"}, {attribute_message("axis", 0)}),
                 node_message("Reshape", {"x", "sizes"}, {"f"}),
                 node_message("Gemm", {"f", "w"}, {"y"}, {attribute_message("transB", 1)})},
       .initializers = {tensor_message("zero", Type::int64, {1}, std::vector<std::int64_t>{0}),
                        tensor_message("rest", Type::int64, {1}, std::vector<std::int64_t>{-1}),
                        tensor_message("w", Type::float32, {2, 4}, std::vector<float>(8, 0.25f))},
       .inputs = {value_message("x", Type::float32, {"3", "2", "2"})},
       .outputs = {value_message("y", Type::float32, {"3", "2"})}});
  const GraphParts body{
      .nodes = {node_message("Add", {"v", "one"}, {"v_out"}), node_message("Identity", {"c"}, {"c_out"})},
      .initializers = {tensor_message("one", Type::float32, {}, std::vector{1.0f})},
      .inputs = {value_message("i", Type::int64, {}), value_message("c", Type::boolean, {}),
                 value_message("v", Type::float32, {"2"})},
      .outputs = {value_message("c_out", Type::boolean, {}), value_message("v_out", Type::float32, {"2"})}};
  add({.nodes = {node_message("Loop", {"count", "", "x"}, {"y"},
                              {Message().text(1, "body").message(6, graph_message(body))})},
       .initializers = {tensor_message("count", Type::int64, {}, std::vector<std::int64_t>{3})},
       .inputs = {value_message("x", Type::float32, {"2"})},
       .outputs = {value_message("y", Type::float32, {"2"})}});
  add({.nodes = {node_message("ConstantOfShape", {"s"}, {"z"}), node_message("Range", {"a", "b", "d"}, {"r"}),
                 node_message("Slice", {"r", "a1", "b1"}, {"p"}), node_message("Add", {"z", "x"}, {"q"}),
                 node_message("Tile", {"q", "s"}, {"y"})},
       .initializers = {tensor_message("s", Type::int64, {1}, std::vector<std::int64_t>{4}),
                        tensor_message("a", Type::int64, {}, std::vector<std::int64_t>{0}),
                        tensor_message("b", Type::int64, {}, std::vector<std::int64_t>{9}),
                        tensor_message("d", Type::int64, {}, std::vector<std::int64_t>{2}),
                        tensor_message("a1", Type::int64, {1}, std::vector<std::int64_t>{1}),
                        tensor_message("b1", Type::int64, {1}, std::vector<std::int64_t>{INT64_MAX})},
       .inputs = {value_message("x", Type::float32, {"4"})},
       .outputs = {value_message("y", Type::float32, {"16"})}});
  const std::vector<std::int64_t> two{2, 2};
  const auto integers = [](const char* name, const std::vector<std::int64_t>& numbers) {
    return tensor_message(name, Type::int64, {static_cast<std::int64_t>(numbers.size())}, numbers);
  };
  add({.nodes = {node_message(
                     "Resize", {"x", "", "", "size"}, {"a"},
                     {attribute_message("antialias", 1), attribute_message("axes", std::vector<std::int64_t>{3}),
                      Message().text(1, "mode").number(20, std::int64_t{3}).text(4, "cubic")}),
                 node_message("CenterCropPad", {"a", "all"}, {"b"}),
                 node_message("DeformConv", {"b", "w", "offset"}, {"c"}),
                 node_message("AffineGrid", {"theta", "plane"}, {"g"}), node_message("GridSample", {"c", "g"}, {"d"}),
                 node_message("Reshape", {"d", "matrix"}, {"e"}),
                 node_message("Col2Im", {"e", "image", "block"}, {"f"}, {attribute_message("strides", two)}),
                 node_message("Pad", {"f", "pads"}, {"h"},
                              {Message().text(1, "mode").number(20, std::int64_t{3}).text(4, "wrap")}),
                 node_message("QuantizeLinear", {"h", "scale", "zero"}, {"q"},
                              {attribute_message("axis", 3), attribute_message("block_size", 4)}),
                 node_message("DequantizeLinear", {"q", "scale", "zero"}, {"y"},
                              {attribute_message("axis", 3), attribute_message("block_size", 4)})},
       .initializers = {integers("size", {5}), integers("all", {1, 1, 3, 3}),
                        tensor_message("w", Type::float32, {1, 1, 2, 2}, std::vector<float>(4, 0.5f)),
                        tensor_message("offset", Type::float32, {1, 8, 2, 2}, std::vector<float>(32, 0.25f)),
                        tensor_message("theta", Type::float32, {1, 2, 3}, std::vector<float>(6, 0.5f)),
                        integers("plane", {1, 1, 4, 4}), integers("matrix", {1, 4, 4}), integers("image", {4, 4}),
                        integers("block", {2, 2}), integers("pads", {0, 0, 0, 1, 0, 0, 0, 2}),
                        tensor_message("scale", Type::float32, {1, 1, 4, 2}, std::vector<float>(8, 0.5f)),
                        tensor_message("zero", Type::int4, {1, 1, 4, 2}, std::vector<std::uint8_t>(4, 0x21))},
       .inputs = {value_message("x", Type::float32, {"1", "1", "6", "9"})},
       .outputs = {value_message("y", Type::float32, {"1", "1", "4", "7"})}},
      21);
  add({.nodes = {node_message("NonZero", {"x"}, {"places"}), node_message("GatherND", {"x", "rows"}, {"values"}),
                 node_message("Transpose", {"places"}, {"rows_of_places"}),
                 node_message("Unique", {"x"}, {"kinds", "", "which"}, {attribute_message("axis", 1)}),
                 node_message("Compress", {"x", "flags"}, {"some"}, {attribute_message("axis", 0)}),
                 node_message("NonMaxSuppression", {"boxes", "scores", "most"}, {"kept"})},
       .initializers = {integers("most", {3}), tensor_message("rows", Type::int64, {1, 2}, two),
                        tensor_message("flags", Type::boolean, {3}, std::vector<std::uint8_t>{1, 0, 1})},
       .inputs = {value_message("x", Type::float32, {"3", "4"}), value_message("boxes", Type::float32, {"1", "5", "4"}),
                  value_message("scores", Type::float32, {"1", "2", "5"})},
       .outputs = {value_message("values", Type::float32, {"1"}),
                   value_message("rows_of_places", Type::int64, {"n", "2"}), value_message("which", Type::int64, {"4"}),
                   value_message("some", Type::float32, {"n", "4"}), value_message("kept", Type::int64, {"n", "3"})}},
      18);
  for (const bool either : {false, true}) {
    files.push_back(written_layer_norm(either, either).text());
    files.push_back(written_gelu(either, either).text());
  }
  return files;
}

// Whatever is in a file, loading and building it ends, soon, with a model or an Error.
void load_and_build(const std::string& file, bool with_capacities) {
  ModelOptions options;
  if (with_capacities) options.capacities = {{"places", 5}, {"kinds", 3}, {"some", 2}, {"kept", 4}};
  try {
    const Model model = Model::load(cpu_context(), std::as_bytes(std::span(file)), options);
    model.prepare().get();
  } catch (const Error&) {
  }
}

TEST(OnnxReader, SurvivesDamagedFiles) {
  const int mutations = mutations_wanted(4000);
  std::vector<std::string> files = small_models();
  for (const std::string& file : files)
    EXPECT_NO_THROW(Model::load(cpu_context(), std::as_bytes(std::span(file))).prepare().get());
  for (const NodeTest& test : all_node_tests()) {
    const std::uint64_t hash = hash_of(commit() + test.name);
    std::string file = bytes_of(test.folder / "model.onnx");
    if (hash % 32 == 0 && file.size() < 2000 && reason_not_to_ask(test).empty()) files.push_back(std::move(file));
  }
  for (int i = 0; i < mutations; ++i) {
    const std::string seed = commit() + " " + std::to_string(i);
    SCOPED_TRACE("mutation " + seed);
    const std::string& file = files[static_cast<std::size_t>(i) % files.size()];
    load_and_build(Mutations(hash_of(seed)).mutated(file), file.find("kept_node") != std::string::npos && i % 3 != 0);
  }
}

}  // namespace
}  // namespace tessera::test::onnx_reader_test

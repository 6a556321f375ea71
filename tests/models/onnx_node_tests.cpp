#include "tests/models/onnx_node_tests.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "models/elements.h"
#include <tessera/model.h>

namespace tessera::test {

namespace {

namespace fs = std::filesystem;
const fs::path package_folder = "/usr/share/libonnx-testdata/data";

struct NotAsked {
  const char* begins_with;  // the test's name does
  const char* contains;     // and contains this
  const char* reason;
};
constexpr NotAsked not_asked[] = {
    {"test_strnorm", "", "strings"},
    {"test_cast", "STRING", "strings"},
    {"test_sequence", "", "sequences"},
    {"test_identity_sequence", "", "sequences"},
    {"test_if_seq", "", "sequences"},
    {"test_loop13_seq", "", "sequences"},
    {"test_loop16_seq_none", "", "sequences"},
    {"test_optional", "", "optionals"},
    {"test_identity_opt", "", "optionals"},
    {"test_if_opt", "", "optionals"},
    {"test_gradient", "", "training"},
    {"test_adagrad", "", "training"},
    {"test_adam", "", "training"},
    {"test_momentum", "", "training"},
    {"test_nesterov_momentum", "", "training"},
    {"test_bernoulli", "", "expects certain random numbers"},
    {"test_training_dropout", "default", "expects certain random numbers"},
};

struct TensorFile {
  MappedFile file;
  onnx::TensorProto proto;
  onnx::ExternalFiles others{""};

  // bfloat16 was saved as uint16: the declaration in the model counts.
  TensorFile(const fs::path& path, const std::string& declared) : file(path), proto(onnx::read_tensor(file.bytes())) {
    if (declared == "bfloat16" && proto.type == onnx::Type::uint16) proto.type = onnx::Type::bfloat16;
  }
  Tensor tensor(Context& context) {
    const onnx::Elements elements = onnx::elements_of(proto, others);
    return context.tensor(elements.shape, elements.dtype, elements.bytes);
  }
};

std::vector<NodeTest> tests_in(std::initializer_list<const char*> suites) {
  std::vector<NodeTest> tests;
  for (const char* suite : suites) {
    if (!fs::is_directory(package_folder / suite)) return {};
    for (const fs::directory_entry& entry : fs::directory_iterator(package_folder / suite))
      tests.push_back({entry.path().filename().string(), entry.path()});
  }
  std::ranges::sort(tests, {}, &NodeTest::name);
  return tests;
}

// Four tests of CastLike have one number for an input of which only the type counts, and declare another shape.
Tensor as_declared(const Tensor& given, const ModelValue& declared) {
  if (!declared.shape || given.shape().size() != 1) return given;
  std::vector<std::int64_t> sizes;
  for (const ModelSize& size : *declared.shape) sizes.push_back(size.size.value_or(1));
  return broadcast_to(given.reshape({}), Shape(sizes));
}

std::string difference(const Tensor& got, const Tensor& wanted) {
  std::ostringstream text;
  if (got.shape() != wanted.shape() || got.dtype() != wanted.dtype()) {
    text << "is " << to_string(got.dtype()) << got.shape().to_string() << ", not " << to_string(wanted.dtype())
         << wanted.shape().to_string();
    return text.str();
  }
  const std::vector<float> values = got.read(), expected = wanted.read();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double a = values[i], b = expected[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b || std::fabs(a - b) <= 1e-5 + 1e-3 * std::fabs(b)) continue;
    text << "has " << a << " at " << i << ", not " << b;
    return text.str();
  }
  return {};
}

}  // namespace

std::vector<NodeTest> all_node_tests() { return tests_in({"node"}); }
std::vector<NodeTest> other_onnx_tests() { return tests_in({"simple", "pytorch-operator", "pytorch-converted"}); }

std::string reason_not_to_ask(const NodeTest& test) {
  if (test.name == "test_training_dropout" || test.name == "test_training_dropout_mask")
    return "expects certain random numbers";
  for (const NotAsked& row : not_asked)
    if (test.name.starts_with(row.begins_with) && test.name.find(row.contains) != std::string::npos) return row.reason;
  return {};
}

std::string failure_of(const NodeTest& test, Context& context) {
  try {
    const Model model = Model::load(context, test.folder / "model.onnx", {.name = test.name});
    for (const fs::directory_entry& set : fs::directory_iterator(test.folder)) {
      if (!set.is_directory()) continue;
      std::map<std::string, Tensor> inputs;
      for (std::size_t i = 0; i < model.inputs().size(); ++i) {
        TensorFile file(set.path() / ("input_" + std::to_string(i) + ".pb"), model.inputs()[i].type);
        inputs[model.inputs()[i].name] = as_declared(file.tensor(context), model.inputs()[i]);
      }
      const std::map<std::string, Tensor> outputs = model(inputs);
      for (std::size_t i = 0; i < model.outputs().size(); ++i) {
        const ModelValue& declared = model.outputs()[i];
        TensorFile file(set.path() / ("output_" + std::to_string(i) + ".pb"), declared.type);
        if (onnx::to_string(file.proto.type) != declared.type)
          return declared.name + " is declared as " + declared.type;
        const std::string wrong = difference(outputs.at(declared.name), file.tensor(context));
        if (!wrong.empty()) return declared.name + " " + wrong;
      }
    }
  } catch (const Error& error) {
    return std::string(to_string(error.code())) + ": " + error.what();
  }
  return {};
}

}  // namespace tessera::test

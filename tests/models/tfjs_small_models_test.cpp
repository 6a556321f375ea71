// Small TF.js models beside what TF.js itself computes with them (expect_small_models.mjs).
#include <tessera/model.h>

#include <fstream>

#include "support/devices.h"
#include "tests/models/tfjs_writer.h"

namespace tessera::test::tfjs_small_models_test {
namespace {

class TfjsSmallModels : public OnDevice {
 protected:
  static Json cases() {
    std::ifstream file(TESSERA_SMALL_MODELS);
    return Json::parse(file);
  }
  static TfjsModel model_of(const Json& row) {
    TfjsModel model;
    model.topology = row["topology"];
    for (const Json& each : row["weights"]) {
      const auto name = each["name"].get<std::string>();
      const auto shape = each["shape"].get<std::vector<int>>();
      if (each["dtype"] == "int32") model.weight(name, shape, each["values"].get<std::vector<std::int32_t>>());
      else model.weight(name, shape, each["values"].get<std::vector<float>>());
    }
    if (row["weights"].empty()) model.weight("unused", {1}, std::vector<float>{0});
    return model;
  }
  Tensor tensor_of(const Json& x) {
    return context().tensor(Shape(x["shape"].get<std::vector<std::int64_t>>()), x["values"].get<std::vector<float>>());
  }
};
TESSERA_ON_EACH_BACKEND(TfjsSmallModels);

TEST_P(TfjsSmallModels, GiveWhatTfjsGives) {
  const Json rows = cases();
  ASSERT_GE(rows.size(), 9u);
  for (const Json& row : rows) {
    SCOPED_TRACE(row["name"].get<std::string>());
    const TemporaryFolder folder;
    const Model model = Model::load(context(), model_of(row).saved(folder));
    EXPECT_EQ(model.inputs().size(), 1u);
    for (std::size_t call = 0; call < row["calls"].size(); ++call) {
      if (row.contains("resets") && row["resets"][call].get<bool>()) model.reset_states();
      std::map<std::string, Tensor> results = model({{model.inputs().at(0).name, tensor_of(row["calls"][call])}});
      for (const auto& [name, wanted] : row["results"][call].items()) {
        const Tensor result = results.at(name.empty() ? model.outputs().at(0).name : name).cast(DType::f32);
        const std::vector<float> got = result.read(), expected = wanted.get<std::vector<float>>();
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-4) << name << " " << i;
      }
    }
  }
}

TEST_P(TfjsSmallModels, ThatCannotBeReadSayWhy) {
  const auto load = [&](TfjsModel file) {
    const TemporaryFolder folder;
    file.weight("two", {2}, std::vector<std::int32_t>{2, 2}).weight("place", {}, std::vector<std::int32_t>{7});
    const Model model = Model::load(context(), file.saved(folder));
    return model({{"x", context().zeros({3, 2, 2})}})["y"].read();
  };
  const auto list = [] {
    TfjsModel file;
    file.input("x", {3, 2, 2})
        .node("Const", "two", {})
        .node("Const", "place", {})
        .node("TensorListFromTensor", "list", {"x", "two"});
    return file;
  };
  EXPECT_TESSERA_ERROR(load(list().node("TensorListGetItem", "y", {"list", "place", "two"})), invalid_argument,
                       "TensorListGetItem", "place 7", "a list of 3");
  EXPECT_TESSERA_ERROR(load(list().node("Relu", "y", {"list"})), unsupported, "a list of tensors");
  EXPECT_TESSERA_ERROR(load(list().node("TensorListStack", "y", {"x", "two"})), invalid_argument, "not a list");
  EXPECT_TESSERA_ERROR(
      load(list().node("TensorListReserve", "empty", {"two", "place"}).node("TensorListStack", "y", {"empty", "two"})),
      invalid_argument, "nothing has been written to the place 0");
  EXPECT_TESSERA_ERROR(load(list().node("TensorListStack", "y", {"list", "two"}, {{"num_elements", {{"i", "5"}}}})),
                       invalid_argument, "list of 3", "5");
}

TEST_P(TfjsSmallModels, StatesNeedABatch) {
  TfjsModel file;
  file.topology["model_config"] = {
      {"class_name", "Sequential"},
      {"config",
       {{"layers",
         {{{"class_name", "SimpleRNN"},
           {"config", {{"name", "r"}, {"units", 2}, {"stateful", true}, {"batch_input_shape", {nullptr, 3, 2}}}}}}}}}};
  file.weight("r/kernel", {2, 2}, std::vector<float>(4)).weight("r/recurrent_kernel", {2, 2}, std::vector<float>(4));
  const TemporaryFolder folder;
  EXPECT_TESSERA_ERROR(Model::load(context(), file.saved(folder)), unsupported, "stateful", "no batch");
}

}  // namespace
}  // namespace tessera::test::tfjs_small_models_test

// Weights of models in a hub: how loads and builds tell of themselves, what cancelled ones leave, and what models
// share.
#include <tessera/model.h>

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "support/devices.h"
#include "support/temporary_folder.h"
#include "tests/models/onnx_writer.h"
#include "tests/models/tfjs_writer.h"

namespace tessera::test::model_weights_test {
namespace {

using onnx::Type;

std::vector<float> weights_from(int first, int count) {
  std::vector<float> values;
  for (int i = first; i < first + count; ++i) values.push_back(static_cast<float>((i * 37) % 101 - 50) / 50.0f);
  return values;
}

// A filter, which is turned, and a factor, which is not.
Message small_network(int first_factor = 0) {
  return model_message(
      {.nodes = {node_message("Conv", {"image", "w"}, {"c"}), node_message("Mul", {"c", "factor"}, {"y"})},
       .initializers = {tensor_message("w", Type::float32, {16, 8, 3, 3}, weights_from(0, 16 * 72)),
                        tensor_message("factor", Type::float32, {1, 1, 16, 16}, weights_from(first_factor, 256))},
       .inputs = {value_message("image", Type::float32, {"1", "8", "18", "18"})},
       .outputs = {value_message("y", Type::float32, {"1", "16", "16", "16"})}});
}

struct Told {
  std::vector<double> shares;
  std::vector<std::string> texts;
  std::size_t cancelled_at = 1'000'000;

  ModelProgress callback() {
    return [this](double share, const std::string& doing) {
      shares.push_back(share);
      texts.push_back(doing);
      return shares.size() - 1 != cancelled_at;
    };
  }
};

class ModelWeights : public OnDevice {
 protected:
  std::uint64_t bytes_in_use() {
    context().wait();
    return context().memory().bytes_in_use;
  }
  // The thread that compiled a program holds it for a moment longer than the future tells.
  std::uint64_t bytes_settled_at(std::uint64_t expected) {
    for (int i = 0; i < 200 && bytes_in_use() != expected; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return bytes_in_use();
  }
  std::vector<std::string> names_in(const TensorHub& hub) {
    std::vector<std::string> names;
    for (const SharedTensor& tensor : hub.list())
      names.push_back(tensor.ref.model + "/" + tensor.ref.name + " " + std::to_string(tensor.references));
    return names;
  }
};
TESSERA_ON_EACH_BACKEND(ModelWeights);

void expect_from_0_to_1(const Told& told) {
  ASSERT_GE(told.shares.size(), 3u);
  EXPECT_EQ(told.shares.front(), 0);
  EXPECT_EQ(told.shares.back(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(told.shares));
}

TEST_P(ModelWeights, TellHowFarTheyAre) {
  Told told;
  const Message file = small_network();
  const Model model = Model::load(context(), file.bytes(), {.progress = told.callback()});
  expect_from_0_to_1(told);
  told = {};
  model.prepare().get();
  expect_from_0_to_1(told);
  EXPECT_THAT(told.texts, testing::Contains("building the node 'c_node' (Conv)"));
  told = {};
  model.prepare().get();
  EXPECT_TRUE(told.texts.empty());  // the Program is there
}

TEST_P(ModelWeights, OfCancelledWorkAreGone) {
  const Message file = small_network();
  TensorHub hub(context());
  const std::uint64_t before = bytes_in_use();
  Told told;
  const auto load = [&] {
    return Model::load(context(), file.bytes(), {.name = "net", .hub = hub, .progress = told.callback()});
  };
  const std::size_t steps_of_load = (load(), told.shares.size());
  for (std::size_t step = 0; step < steps_of_load; ++step) {
    told = {.shares = {}, .texts = {}, .cancelled_at = step};
    EXPECT_TESSERA_ERROR(load(), cancelled, "model net", "cancelled while");
    EXPECT_EQ(told.shares.size(), step + 1);
  }
  told = {};
  const Model model = load();
  std::size_t steps_of_build = 1;
  for (std::size_t step = 0; step < steps_of_build; ++step) {
    told = {.shares = {}, .texts = {}, .cancelled_at = step};
    EXPECT_TESSERA_ERROR(model.prepare(), cancelled, "model net", "cancelled while");
    EXPECT_TRUE(hub.list().empty()) << step;
    EXPECT_EQ(bytes_settled_at(before), before) << step;
    if (told.shares.back() < 1) ++steps_of_build;
  }
  EXPECT_EQ(steps_of_build, 5u);  // begin, two nodes, planning, end
  told = {};
  const Tensor image = context().tensor({1, 8, 18, 18}, weights_from(0, 8 * 18 * 18));
  EXPECT_EQ(model({{"image", image}})["y"].read(),
            Model::load(context(), file.bytes())({{"image", image}})["y"].read());
  EXPECT_EQ(names_in(hub), (std::vector<std::string>{"net/factor 1", "net/w.filter 1"}));
}

TEST_P(ModelWeights, OfOtherSizesStayWhereABuildIsCancelled) {
  const Message file =
      model_message({.nodes = {node_message("Mul", {"x", "factor"}, {"y"})},
                     .initializers = {tensor_message("factor", Type::float32, {64}, weights_from(0, 64))},
                     .inputs = {value_message("x", Type::float32, {"n", "64"})},
                     .outputs = {value_message("y", Type::float32, {"n", "64"})}});
  TensorHub hub(context());
  Told told;
  const Model model = Model::load(context(), file.bytes(), {.name = "net", .hub = hub, .progress = told.callback()});
  model.prepare({{"x", {1, 64}}}).get();
  const std::uint64_t before = bytes_in_use();
  told = {.shares = {}, .texts = {}, .cancelled_at = 2};
  EXPECT_TESSERA_ERROR(model.prepare({{"x", {2, 64}}}), cancelled, "planning");
  EXPECT_EQ(names_in(hub), (std::vector<std::string>{"net/factor 1"}));
  EXPECT_EQ(bytes_settled_at(before), before);
}

TEST_P(ModelWeights, OfTfjsTellHowFarTheyAre) {
  const TemporaryFolder folder;
  TfjsModel network;
  network.input("x", {1, 4}).constant("w", {4}, weights_from(0, 4)).node("Mul", "y", {"x", "w"});
  Told told;
  const auto file = network.saved(folder);
  Model::load(context(), file, {.progress = told.callback()});
  expect_from_0_to_1(told);
  EXPECT_THAT(told.texts, testing::Contains("reading weight files"));
  const auto place = std::ranges::find(told.texts, "reading weight files") - told.texts.begin();
  told = {.shares = {}, .texts = {}, .cancelled_at = static_cast<std::size_t>(place)};
  EXPECT_TESSERA_ERROR(Model::load(context(), file, {.progress = told.callback()}), cancelled, "reading weight files");
}

TEST_P(ModelWeights, AreOneTensorWhereTheyAreEqual) {
  const Message file = small_network(), other_file = small_network(1);
  TensorHub hub(context());
  const std::uint64_t empty = bytes_in_use();
  const auto load = [&](const Message& message, const char* name) {
    Model model = Model::load(context(), message.bytes(), {.name = name, .hub = hub});
    model.prepare().get();
    return model;
  };
  std::optional<Model> first = load(file, "net");
  const std::uint64_t one = bytes_in_use();
  EXPECT_GE(one - empty, (16u * 72 + 256) * sizeof(float));
  std::optional<Model> second = load(file, "net");
  EXPECT_EQ(second->name(), "net (2)");
  EXPECT_EQ(bytes_settled_at(one), one);
  EXPECT_EQ(names_in(hub),
            (std::vector<std::string>{"net/factor 2", "net/w.filter 2", "net (2)/factor 2", "net (2)/w.filter 2"}));
  std::optional<Model> other = load(other_file, "other");  // the filter is equal, the factor is not
  std::uint64_t factor_bytes = 0;
  for (const SharedTensor& tensor : hub.list("other"))
    if (tensor.ref.name == "factor") factor_bytes = tensor.device_bytes;
  EXPECT_GE(factor_bytes, 256 * sizeof(float));
  EXPECT_EQ(bytes_settled_at(one + factor_bytes), one + factor_bytes);
  EXPECT_EQ(hub.references({"w.filter", "other"}), 3);
  EXPECT_EQ(hub.references({"factor", "other"}), 1);

  first.reset();  // whose file the others were compared with
  EXPECT_EQ(bytes_settled_at(one + factor_bytes), one + factor_bytes);
  EXPECT_EQ(hub.references({"w.filter", "other"}), 2);
  first = load(file, "net");
  EXPECT_EQ(first->name(), "net");
  EXPECT_EQ(bytes_settled_at(one + factor_bytes), one + factor_bytes);
  first.reset();
  second.reset();
  EXPECT_EQ(names_in(hub), (std::vector<std::string>{"other/factor 1", "other/w.filter 1"}));
  EXPECT_EQ(bytes_settled_at(one), one);
  const Tensor image = context().tensor({1, 8, 18, 18}, weights_from(0, 8 * 18 * 18));
  EXPECT_EQ((*other)({{"image", image}})["y"].read(),
            Model::load(context(), other_file.bytes())({{"image", image}})["y"].read());
  other.reset();
  EXPECT_TRUE(hub.list().empty());
}

// OpenGL ES lays filters out for its kernels. For all sizes of the input, that takes no more than the filters did
// before.
TEST_P(ModelWeights, AreOnTheDeviceOnceForAllSizes) {
  const Message file = model_message(
      {.nodes = {node_message("Conv", {"image", "w"}, {"c"}), node_message("Conv", {"c", "point"}, {"y"})},
       .initializers = {tensor_message("w", Type::float32, {64, 16, 3, 3}, weights_from(0, 64 * 16 * 9)),
                        tensor_message("point", Type::float32, {64, 64, 1, 1}, weights_from(1, 64 * 64))},
       .inputs = {value_message("image", Type::float32, {"1", "16", "h", "w"})},
       .outputs = {value_message("y", Type::float32, {"1", "64", "a", "b"})}});
  TensorHub hub(context());
  const Model model = Model::load(context(), file.bytes(), {.name = "net", .hub = hub});
  const auto run = [&](std::int64_t side) {
    const Shape shape{1, 16, side, side};
    return model({{"image", context().tensor(shape, weights_from(0, static_cast<int>(shape.size())))}})["y"].read();
  };
  model.prepare({{"image", {1, 16, 34, 34}}}).get();
  const std::uint64_t weights = hub.gpu_memory_usage(), before = bytes_in_use();
  EXPECT_GE(weights, (64u * 16 * 9 + 64 * 64) * sizeof(float));
  const std::vector<float> first = run(34);
  for (const std::int64_t side : {50, 34, 42, 50}) {
    EXPECT_EQ(run(side).size(), static_cast<std::size_t>(64 * (side - 2) * (side - 2)));
    EXPECT_EQ(bytes_settled_at(before), before) << side;
    EXPECT_EQ(hub.gpu_memory_usage(), weights) << side;
  }
  context().reset_stats();
  EXPECT_EQ(run(34), first);
  EXPECT_EQ(context().stats().bytes_uploaded, 16u * 34 * 34 * sizeof(float));  // the image
}

TEST_P(ModelWeights, AreNotSharedByTypeShapeOrHub) {
  const auto with = [](Type type, const std::vector<std::int64_t>& dims) {
    return model_message({.nodes = {node_message("Mul", {"x", "w"}, {"y"})},
                          .initializers = {tensor_message("w", type, dims, std::vector<std::int32_t>(64, 5))},
                          .inputs = {value_message("x", type, {"8", "8"})},
                          .outputs = {value_message("y", type, {"a", "b"})}});
  };
  TensorHub hub(context()), other_hub(context());
  EXPECT_TRUE(hub == TensorHub(hub));
  EXPECT_FALSE(hub == other_hub);
  std::vector<Model> models;
  const auto load = [&](const Message& message, const TensorHub& where) {
    models.push_back(Model::load(context(), message.bytes(), {.name = "net", .hub = where}));
    models.back().prepare().get();
  };
  load(with(Type::float32, {8, 8}), hub);
  load(with(Type::int32, {8, 8}), hub);
  load(with(Type::float32, {1, 8, 8}), hub);
  load(with(Type::float32, {8, 8}), other_hub);
  EXPECT_EQ(names_in(hub), (std::vector<std::string>{"net/w 1", "net (2)/w 1", "net (3)/w 1"}));
  EXPECT_EQ(names_in(other_hub), (std::vector<std::string>{"net/w 1"}));
  load(with(Type::float32, {8, 8}), hub);
  EXPECT_EQ(hub.references({"w", "net"}), 2);
}

}  // namespace
}  // namespace tessera::test::model_weights_test

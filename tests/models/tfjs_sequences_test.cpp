// TF.js layers for sequences, and operators that look up and mirror, by values that formulas give.
#include <tessera/model.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/devices.h"
#include "tests/models/tfjs_writer.h"

namespace tessera::test::tfjs_sequences_test {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int32_t>;

constexpr int batch = 2, steps = 2, features = 2, units = 2;

Floats waves(int count, float phase) {  // between -1 and 1
  Floats values;
  for (int i = 0; i < count; ++i) values.push_back(std::sin(static_cast<float>(i) * 1.7f + phase));
  return values;
}

void expect_near(const Floats& got, const Floats& wanted, double tolerance = 1e-4) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], tolerance) << i;
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
double hard_sigmoid_of(double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }

struct Weights {
  Floats kernel, recurrent, bias;
  Weights(int gates, float phase, int biases = 1)
      : kernel(waves(features * gates * units, phase)),
        recurrent(waves(units * gates * units, phase + 1)),
        bias(waves(biases * gates * units, phase + 2)) {}
};

// The rows of results as Keras computes them, one for each step in the order of its work.
class Reference {
 public:
  Reference(std::string kind, const Weights& weights, bool resets_after = false)
      : kind_(std::move(kind)), weights_(weights), resets_after_(resets_after) {}

  std::vector<std::vector<double>> outputs(const Floats& x, int row, bool is_backwards) {
    std::vector<std::vector<double>> all;
    std::vector<double> h(units, 0), c(units, 0);
    for (int i = 0; i < steps; ++i) {
      const int t = is_backwards ? steps - 1 - i : i;
      step({x.begin() + (row * steps + t) * features, x.begin() + (row * steps + t + 1) * features}, h, c);
      all.push_back(h);
    }
    return all;
  }

 private:
  double sum(const std::vector<double>& from, const Floats& matrix, int column) const {
    const auto columns = static_cast<int>(matrix.size()) / static_cast<int>(from.size());
    double total = 0;
    for (std::size_t i = 0; i < from.size(); ++i)
      total += from[i] *
               static_cast<double>(matrix[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)]);
    return total;
  }
  void step(const std::vector<double>& x, std::vector<double>& h, std::vector<double>& c) const {
    const std::vector<double> before = h;
    const auto input = [&](int gate, int i) {
      const int column = gate * units + i;
      return sum(x, weights_.kernel, column) + static_cast<double>(weights_.bias[static_cast<std::size_t>(column)]);
    };
    const auto state = [&](const std::vector<double>& of, int gate, int i) {
      return sum(of, weights_.recurrent, gate * units + i);
    };
    const auto whole = [&](int gate, int i) { return input(gate, i) + state(before, gate, i); };
    if (kind_ == "SimpleRNN") {
      for (int i = 0; i < units; ++i) h[static_cast<std::size_t>(i)] = std::tanh(whole(0, i));
    } else if (kind_ == "LSTM") {  // input, forget, cell, output
      for (int i = 0; i < units; ++i) {
        double& cell = c[static_cast<std::size_t>(i)];
        cell = sigmoid_of(whole(1, i)) * cell + sigmoid_of(whole(0, i)) * std::tanh(whole(2, i));
        h[static_cast<std::size_t>(i)] = sigmoid_of(whole(3, i)) * std::tanh(cell);
      }
    } else {  // update, reset, new
      const auto second_bias = [&](int gate, int i) {
        return resets_after_ ? static_cast<double>(weights_.bias[static_cast<std::size_t>((3 + gate) * units + i)]) : 0;
      };
      const auto gate = [&](int which, int i) { return hard_sigmoid_of(whole(which, i) + second_bias(which, i)); };
      std::vector<double> kept = before;
      for (int i = 0; i < units; ++i) kept[static_cast<std::size_t>(i)] *= gate(1, i);
      for (int i = 0; i < units; ++i) {
        const double past = resets_after_ ? gate(1, i) * (state(before, 2, i) + second_bias(2, i)) : state(kept, 2, i);
        const double z = gate(0, i);
        h[static_cast<std::size_t>(i)] =
            z * before[static_cast<std::size_t>(i)] + (1 - z) * std::tanh(input(2, i) + past);
      }
    }
  }

  std::string kind_;
  const Weights& weights_;
  bool resets_after_;
};

class TfjsSequences : public OnDevice {
 protected:
  // Layers one after the other, the first of which says what goes in.
  static TfjsModel sequence(Json layers, const Json& shape) {
    layers[0]["config"]["batch_input_shape"] = shape;
    TfjsModel model;
    model.topology["model_config"] = {{"class_name", "Sequential"}, {"config", {{"layers", layers}}}};
    return model;
  }
  static Json layer(const char* kind, Json config) {
    if (!config.contains("name")) config["name"] = "l";
    return {{"class_name", kind}, {"config", config}};
  }
  static void add_weights(TfjsModel& model, const std::string& prefix, const Weights& weights, int gates,
                          bool has_two = false) {
    model.weight(prefix + "/kernel", {features, gates * units}, weights.kernel)
        .weight(prefix + "/recurrent_kernel", {units, gates * units}, weights.recurrent)
        .weight(prefix + "/bias", has_two ? std::vector<int>{2, gates * units} : std::vector<int>{gates * units},
                weights.bias);
  }
  Tensor run(const TfjsModel& file, const Tensor& x) {
    const TemporaryFolder folder;
    const Model model = Model::load(context(), file.saved(folder));
    return model({{model.inputs()[0].name, x}})[model.outputs()[0].name];
  }
  const Floats x_ = waves(batch * steps * features, 0.5f);
  Tensor x() { return context().tensor({batch, steps, features}, x_); }
};
TESSERA_ON_EACH_BACKEND(TfjsSequences);

TEST_P(TfjsSequences, RecurrentLayers) {
  const struct {
    const char* kind;
    int gates;
    bool resets_after, is_backwards;
  } kinds[] = {
      {"SimpleRNN", 1, false, false}, {"LSTM", 4, false, true}, {"GRU", 3, false, true}, {"GRU", 3, true, false}};
  for (const auto& [kind, gates, resets_after, is_backwards] : kinds) {
    const Weights weights(gates, 0.25f, resets_after ? 2 : 1);
    Json config{{"units", units}, {"return_sequences", is_backwards}, {"go_backwards", is_backwards}};
    if (std::string(kind) == "LSTM") config["recurrent_activation"] = "sigmoid";
    if (resets_after) config["reset_after"] = true;
    TfjsModel file = sequence(Json::array({layer(kind, config)}), {nullptr, steps, features});
    add_weights(file, "l", weights, gates, resets_after);
    Reference reference(kind, weights, resets_after);
    Floats wanted;
    for (int row = 0; row < batch; ++row) {
      const auto all = reference.outputs(x_, row, is_backwards);
      for (std::size_t i = is_backwards ? 0 : steps - 1; i < steps; ++i)
        for (const double number : all[i]) wanted.push_back(static_cast<float>(number));
    }
    SCOPED_TRACE(kind);
    expect_near(run(file, x()).read(), wanted);
  }
}

TEST_P(TfjsSequences, RecurrentLayersInBothDirections) {
  const Weights forward(4, 0.25f), backward(4, 0.75f);
  for (const char* mode : {"concat", "ave"}) {
    const Json inner = layer(
        "LSTM", {{"name", "inner"}, {"units", units}, {"return_sequences", true}, {"recurrent_activation", "sigmoid"}});
    TfjsModel file = sequence(Json::array({layer("Bidirectional", {{"layer", inner}, {"merge_mode", mode}})}),
                              {nullptr, steps, features});
    add_weights(file, "l/forward_inner/cell", forward, 4);
    add_weights(file, "l/backward_inner/cell", backward, 4);
    Floats wanted;
    for (int row = 0; row < batch; ++row) {
      const auto there = Reference("LSTM", forward).outputs(x_, row, false),
                 back = Reference("LSTM", backward).outputs(x_, row, true);
      for (std::size_t t = 0; t < steps; ++t) {
        const std::vector<double>&a = there[t], &b = back[steps - 1 - t];
        if (std::string(mode) == "concat") {
          for (const std::vector<double>* part : {&a, &b})
            for (const double number : *part) wanted.push_back(static_cast<float>(number));
        } else {
          for (std::size_t i = 0; i < units; ++i) wanted.push_back(static_cast<float>((a[i] + b[i]) / 2));
        }
      }
    }
    expect_near(run(file, x()).read(), wanted);
  }
}

TEST_P(TfjsSequences, ConvolutionsThatSeeThePastOnly) {
  TfjsModel file = sequence(
      Json::array(
          {layer("Conv1D", {{"kernel_size", {2}}, {"strides", {1}}, {"dilation_rate", {1}}, {"padding", "causal"}}),
           layer("MaxPooling1D", {{"name", "p"}, {"pool_size", {2}}, {"strides", {1}}, {"padding", "valid"}})}),
      {nullptr, steps, features});
  const Floats kernel = waves(2 * features, 1);
  file.weight("l/kernel", {2, features, 1}, kernel).weight("l/bias", {1}, Floats{0.5f});
  Floats wanted;
  for (int row = 0; row < batch; ++row) {
    Floats sums;
    for (int t = 0; t < steps; ++t) {
      float sum = 0.5f;
      for (int k = 0; k < 2; ++k)
        for (int f = 0; f < features; ++f)
          if (const int from = t - 1 + k; from >= 0)
            sum += x_[static_cast<std::size_t>((row * steps + from) * features + f)] *
                   kernel[static_cast<std::size_t>(k * features + f)];
      sums.push_back(sum);
    }
    for (std::size_t t = 0; t + 1 < sums.size(); ++t) wanted.push_back(std::max(sums[t], sums[t + 1]));
  }
  expect_near(run(file, x()).read(), wanted);
}

TEST_P(TfjsSequences, SizesThatNoSequenceHasAreErrors) {
  for (const std::int64_t dilation : {std::int64_t{INT64_MIN}, std::int64_t{-1}, std::int64_t{INT32_MAX} + 1}) {
    TfjsModel file = sequence(
        Json::array({layer("Conv1D", {{"kernel_size", {2}}, {"dilation_rate", {dilation}}, {"padding", "causal"}})}),
        {nullptr, steps, features});
    file.weight("l/kernel", {2, features, 1}, waves(2 * features, 1)).weight("l/bias", {1}, Floats{0.5f});
    EXPECT_TESSERA_ERROR(run(file, x()), io, "'dilation_rate' is", std::to_string(dilation).c_str());
  }
}

TEST_P(TfjsSequences, WordsThatAreLookedUpAndNormalised) {
  TfjsModel file = sequence(
      Json::array(
          {layer("Embedding", {{"name", "words"}, {"input_dim", 3}, {"output_dim", 2}}),
           layer("LayerNormalization", {{"name", "norm"}, {"axis", {2}}, {"epsilon", 1.0}}),
           layer("TimeDistributed", {{"name", "each"}, {"layer", layer("Dense", {{"name", "d"}, {"units", 1}})}}),
           layer("GlobalAveragePooling1D", {{"name", "mean"}})}),
      {nullptr, 2});
  file.weight("words/embeddings", {3, 2}, Floats{0, 0, 1, 3, 5, 1})
      .weight("norm/gamma", {2}, Floats{1, 2})
      .weight("norm/beta", {2}, Floats{0, 0})
      .weight("each/kernel", {2, 1}, Floats{1, 10})
      .weight("each/bias", {1}, Floats{0.5f});
  // Deviations of 1 and 2, over the roots of 1 + 1 and 4 + 1, times 20 - 1 and 1 - 20.
  const float a = 19 / std::sqrt(2.0f), b = -38 / std::sqrt(5.0f);
  expect_near(run(file, context().tensor({1, 2}, {1, 2})).read(), {(a + b) / 2 + 0.5f}, 1e-3);
}

TEST_P(TfjsSequences, StepsThatAreRepeated) {
  TfjsModel file = sequence(Json::array({layer("RepeatVector", {{"n", 2}})}), {nullptr, 2});
  file.weight("unused", {1}, Floats{0});
  const Tensor y = run(file, context().tensor({1, 2}, {1, 2}));
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2}));
  EXPECT_EQ(y.read(), (Floats{1, 2, 1, 2}));
}

// ---- operators of graphs

TEST_P(TfjsSequences, MirrorsWithTheEdgeTwice) {
  TfjsModel file;
  file.input("x", {2, 3})
      .constant("widths", {2, 2}, Integers{1, 0, 2, 3})
      .node("MirrorPad", "y", {"x", "widths"}, {{"mode", text_of("SYMMETRIC")}});
  const Tensor y = run(file, context().tensor({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(y.shape(), (Shape{3, 8}));
  EXPECT_EQ(y.read(), (Floats{2, 1, 1, 2, 3, 3, 2, 1, 2, 1, 1, 2, 3, 3, 2, 1, 5, 4, 4, 5, 6, 6, 5, 4}));
}

TEST_P(TfjsSequences, LookUpsInEachPartOfABatch) {
  TfjsModel file;
  file.input("x", {2, 2, 3})
      .constant("places", {2, 2}, Integers{2, 0, 1, 1})
      .constant("axis", {}, Integers{2})
      .node("GatherV2", "y", {"x", "places", "axis"}, {{"batch_dims", {{"i", "1"}}}});
  Floats x(12);
  std::iota(x.begin(), x.end(), 0.0f);
  const Tensor y = run(file, context().tensor({2, 2, 3}, x));
  EXPECT_EQ(y.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(y.read(), (Floats{2, 0, 5, 3, 7, 7, 10, 10}));
}

TEST_P(TfjsSequences, DistinctNumbers) {
  TfjsModel file;
  file.input("x", {5}).node("Unique", "y", {"x"}).node("Identity", "which", {"y:1"}, {{"T", type_of("DT_INT32")}});
  file.signature["outputs"] = {{"y", {{"name", "y"}}}, {"which", {{"name", "which"}, {"dtype", "DT_INT32"}}}};
  const TemporaryFolder folder;
  const std::filesystem::path path = file.saved(folder);
  const Tensor x = context().tensor({5}, {7, 2, 7, 9, 2});
  for (const bool has_room : {false, true}) {
    ModelOptions options;
    if (has_room) options.capacities = {{"y", 4}};
    auto results = Model::load(context(), path, options)({{"x", x}});
    EXPECT_EQ(results["y"].read(), (has_room ? Floats{7, 2, 9, 0} : Floats{7, 2, 9}));
    EXPECT_EQ(results["which"].read<std::int32_t>(), (Integers{0, 1, 0, 2, 1}));
    if (has_room) {
      EXPECT_EQ(results["y.count"].read<std::int32_t>(), Integers{3});
    }
  }
}

}  // namespace
}  // namespace tessera::test::tfjs_sequences_test

// MatMulInteger and ConvInteger with every kind of zero points, against plain loops. ONNX's own tests have the QLinear
// forms, which are made of the same sums.
#include <tessera/model.h>

#include <map>

#include "support/devices.h"
#include "tests/models/onnx_writer.h"

namespace tessera::test::integer_products_test {
namespace {

using onnx::Type;
using Bytes = std::vector<std::uint8_t>;
using Sums = std::vector<std::int32_t>;

Bytes bytes(std::int64_t count, int step) {
  Bytes made;
  for (std::int64_t i = 0; i < count; ++i) made.push_back(static_cast<std::uint8_t>(i * step % 256));
  return made;
}

struct ZeroPoints {
  std::vector<std::int64_t> shape;  // of the tensor; see `are_given`
  Bytes values;
  bool are_given = true;     // else there is no such input
  bool are_constant = true;  // else each call has them
};

class IntegerProducts : public OnDevice {
 protected:
  // Of x, which each call has, and constant weights, with their zero points.
  Model load(std::string_view op, const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& weights,
             const Bytes& weight_bytes, const ZeroPoints& of_x, const ZeroPoints& of_weights,
             const std::vector<Message>& attributes) {
    const auto texts = [](const std::vector<std::int64_t>& shape) {
      std::vector<std::string> sizes;
      for (const std::int64_t size : shape) sizes.push_back(std::to_string(size));
      return sizes;
    };
    GraphParts parts{.initializers = {tensor_message("weights", Type::uint8, weights, weight_bytes)},
                     .inputs = {value_message("x", Type::uint8, texts(x))},
                     .outputs = {value_message("y", Type::int32, {"?"})}};
    std::vector<std::string> inputs{"x", "weights"};
    const auto add = [&](const std::string& name, const ZeroPoints& zeros) {
      inputs.push_back(zeros.are_given ? name : "");
      if (!zeros.are_given) return;
      if (zeros.are_constant)
        parts.initializers.push_back(tensor_message(name, Type::uint8, zeros.shape, zeros.values));
      else parts.inputs.push_back(value_message(name, Type::uint8, texts(zeros.shape)));
    };
    add("x_zero", of_x);
    add("weights_zero", of_weights);
    parts.nodes = {node_message(op, inputs, {"y"}, attributes)};
    return Model::load(context(), model_message(parts, 10).bytes());
  }

  std::map<std::string, Tensor> inputs_of(const Tensor& x, const ZeroPoints& of_x, const ZeroPoints& of_weights) {
    std::map<std::string, Tensor> inputs{{"x", x}};
    for (const auto& [name, zeros] : {std::pair("x_zero", of_x), std::pair("weights_zero", of_weights)})
      if (zeros.are_given && !zeros.are_constant) inputs[name] = context().tensor(Shape(zeros.shape), zeros.values);
    return inputs;
  }

  static int zero_at(const ZeroPoints& zeros, std::int64_t index) {
    if (!zeros.are_given) return 0;
    return zeros.values[zeros.values.size() == 1 ? 0 : static_cast<std::size_t>(index)];
  }
};
TESSERA_ON_EACH_BACKEND(IntegerProducts);

const ZeroPoints none{{}, {}, false}, zero{{}, {0}}, middle{{}, {128}}, other{{}, {100}}, later{{}, {77}, true, false};

TEST_P(IntegerProducts, OfMatrices) {
  constexpr std::int64_t m = 5, k = 12, n = 7;
  const Bytes a = bytes(m * k, 91), b = bytes(k * n, 57);
  const auto check = [&](const ZeroPoints& of_a, const ZeroPoints& of_b) {
    Sums wanted;
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t column = 0; column < n; ++column) {
        std::int32_t total = 0;
        for (std::int64_t i = 0; i < k; ++i)
          total += (a[static_cast<std::size_t>(row * k + i)] - zero_at(of_a, row)) *
                   (b[static_cast<std::size_t>(i * n + column)] - zero_at(of_b, column));
        wanted.push_back(total);
      }
    const Model model = load("MatMulInteger", {m, k}, {k, n}, b, of_a, of_b, {});
    EXPECT_EQ(model(inputs_of(context().tensor({m, k}, a), of_a, of_b))["y"].read<std::int32_t>(), wanted);
  };
  const ZeroPoints rows{{m}, bytes(m, 31)}, later_rows{{m}, bytes(m, 31), true, false}, columns{{n}, bytes(n, 43)};
  check(none, middle);
  check(zero, other);
  check(other, none);
  check(other, columns);
  check(later, middle);
  check(rows, later);
  check(later_rows, columns);
}

// Where the weights are constant, one kernel on the bytes of x; one before it where zero points of x are not.
TEST_P(IntegerProducts, AreOneKernel) {
  const auto dispatches = [&](const ZeroPoints& of_a) {
    const Model model = load("MatMulInteger", {5, 12}, {12, 7}, bytes(84, 57), of_a, middle, {});
    const auto inputs = inputs_of(context().tensor({5, 12}, bytes(60, 91)), of_a, middle);
    for (const auto& [name, input] : inputs) input.compute();
    model(inputs)["y"].compute();
    context().reset_stats();
    model(inputs)["y"].compute();
    return context().stats().dispatches;
  };
  EXPECT_EQ(dispatches(zero), 1u);
  EXPECT_EQ(dispatches(other), 1u);
  EXPECT_EQ(dispatches(later), 2u);
}

TEST_P(IntegerProducts, OfImages) {
  constexpr std::int64_t channels = 3, size = 5, results = 4;
  const Bytes x = bytes(channels * size * size, 91), weights = bytes(results * channels * 9, 57);
  const auto check = [&](const ZeroPoints& of_x, const ZeroPoints& of_weights, std::int64_t pad) {
    Sums wanted;
    const std::int64_t side = size + 2 * pad - 2;
    for (std::int64_t result = 0; result < results; ++result)
      for (std::int64_t row = 0; row < side; ++row)
        for (std::int64_t column = 0; column < side; ++column) {
          std::int32_t total = 0;
          for (std::int64_t tap = 0; tap < channels * 9; ++tap) {
            const std::int64_t channel = tap / 9, y = row + tap / 3 % 3 - pad, along = column + tap % 3 - pad;
            if (y < 0 || y >= size || along < 0 || along >= size) continue;
            total += (x[static_cast<std::size_t>((channel * size + y) * size + along)] - zero_at(of_x, 0)) *
                     (weights[static_cast<std::size_t>(result * channels * 9 + tap)] - zero_at(of_weights, result));
          }
          wanted.push_back(total);
        }
    const Model model = load("ConvInteger", {1, channels, size, size}, {results, channels, 3, 3}, weights, of_x,
                             of_weights, {attribute_message("pads", std::vector<std::int64_t>{pad, pad, pad, pad})});
    const Tensor image = context().tensor({1, channels, size, size}, x);
    EXPECT_EQ(model(inputs_of(image, of_x, of_weights))["y"].read<std::int32_t>(), wanted);
  };
  const ZeroPoints channels_apart{{results}, bytes(results, 43)};
  check(none, middle, 1);
  check(other, none, 1);
  check(other, middle, 0);
  check(later, middle, 1);
  check(later, channels_apart, 1);
}

}  // namespace
}  // namespace tessera::test::integer_products_test

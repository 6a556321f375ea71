// Keras's recurrent layers, as ONNX's operators with weights of another order.
#include <map>

#include "models/tfjs/operators.h"

namespace tessera::tfjs {

namespace {

struct Kind {
  const char* op;
  std::vector<std::int64_t> gates;  // of Keras, in ONNX's order
  std::size_t states;
};

const Kind& kind_of(const Call& call) {
  static const std::map<std::string, Kind> kinds{
      {"SimpleRNN", {"RNN", {0}, 1}}, {"GRU", {"GRU", {0, 1, 2}, 1}}, {"LSTM", {"LSTM", {0, 3, 1, 2}, 2}}};
  const auto kind = kinds.find(call.text("kind", ""));
  if (kind == kinds.end()) call.unsupported("there is no recurrent layer '" + call.text("kind", "") + "'.");
  return kind->second;
}

std::string activation_of(const Call& call, const char* attribute) {
  static const std::map<std::string, std::string> names{
      {"tanh", "Tanh"}, {"sigmoid", "Sigmoid"},   {"hard_sigmoid", "HardSigmoid"},
      {"relu", "Relu"}, {"softsign", "Softsign"}, {"softplus", "Softplus"},
      {"elu", "Elu"},   {"linear", "Affine"}};
  const auto name = names.find(call.text(attribute, ""));
  if (name == names.end()) call.unsupported("there is no activation '" + call.text(attribute, "") + "'.");
  return name->second;
}

// x [batch,steps,features], kernel [features,gates * units], recurrent kernel [units,gates * units], bias [gates *
// units], or two of them for a GRU that resets after its product; states [batch,units]. Results: the steps or the last
// one, and the states.
Results recurrent_layer(const Call& call) {
  const Kind& kind = kind_of(call);
  call.expect_rank(0, 3, 3);
  call.expect_rank(1, 2, 2);
  call.expect_rank(2, 2, 2);
  const std::int64_t units = call.shape(2)[0];
  const auto gates = static_cast<std::int64_t>(kind.gates.size());
  call.expect(call.shape(1)[1] == gates * units && call.shape(2)[1] == gates * units && units > 0,
              "its weights " + call.shape(1).to_string() + " and " + call.shape(2).to_string() + " do not fit.");
  const auto value = [&](const Tensor& tensor) { return call.give(tensor, call.type()); };
  const auto in_order = [&](const Tensor& x) {  // of the gates, along the last axis of two
    if (kind.gates.size() < 4) return x;
    std::vector<Tensor> parts;
    for (const std::int64_t gate : kind.gates) parts.push_back(slice(x, {0, gate * units}, {-1, units}));
    return concat(parts, 1);
  };
  const auto weights = [&](int input) {
    return value(expand_dims(transpose(in_order(call.tensor(input)), {1, 0}), 0));
  };
  onnx::NodeProto node;
  node.op = kind.op;
  node.outputs.assign(1 + kind.states, "");
  const auto attribute = [&](const char* name) -> onnx::AttributeProto& {
    node.attributes.emplace_back().name = name;
    return node.attributes.back();
  };
  const bool goes_back = call.integer("go_backwards", 0) != 0, resets_after = call.integer("reset_after", 0) != 0;
  attribute("layout").integer = 1;
  attribute("direction").text = goes_back ? "reverse" : "forward";
  attribute("linear_before_reset").integer = resets_after;
  const std::string inner = activation_of(call, "activation");
  std::vector<std::string>& activations = attribute("activations").texts;
  if (gates > 1) activations.push_back(activation_of(call, "recurrent_activation"));
  activations.insert(activations.end(), kind.states, inner);

  std::vector<Value> inputs{call.value(0), weights(1), weights(2)};
  if (call.has(3)) {
    const std::int64_t rows = resets_after && gates == 3 ? 2 : 1;
    call.expect(call.shape(3).size() == rows * gates * units,
                "its bias " + call.shape(3).to_string() + " does not fit.");
    Tensor bias = in_order(call.tensor(3).reshape({rows, gates * units}));
    if (rows == 1) bias = concat({bias, call.context().zeros(bias.shape(), bias.dtype())}, 0);
    inputs.push_back(value(bias.reshape({1, 2 * gates * units})));
  }
  if (call.inputs() > 4) {
    inputs.resize(5);
    for (std::size_t i = 0; i < kind.states; ++i) {
      const Tensor state = call.tensor(static_cast<int>(4 + i));
      call.expect(state.shape() == Shape{call.shape(0)[0], units},
                  "a state " + state.shape().to_string() + " does not fit.");
      inputs.push_back(value(expand_dims(state, 1)));
    }
  }
  const Results made =
      onnx::onnx_operator(kind.op, 17).run(Call(call.trace(), node, call.names(), std::move(inputs), call.on_host()));
  const auto without_direction = [&](const Value& result, int axis) {
    return squeeze(call.trace().tensor(result, Order::plain, call.on_host()), {axis});
  };
  Results results;
  for (std::size_t i = 1; i < made.size(); ++i) results.push_back(value(without_direction(made[i], 1)));
  Value output = results.front();
  if (call.integer("return_sequences", 0) != 0) {
    const Tensor steps = without_direction(made.front(), 2);
    output = value(goes_back && call.integer("in_order", 0) == 0 ? reverse(steps, {1}) : steps);
  }
  results.insert(results.begin(), output);
  return results;
}

Results layer_normalised(const Call& call) {
  const Sizes axes = call.integers("axis").value_or(Sizes{-1});
  call.expect(!axes.empty(), "it has no axis.");
  const int begin = call.axis(axes.front(), call.rank());
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (call.axis(axes[i], call.rank()) != begin + static_cast<int>(i) ||
        begin + static_cast<int>(axes.size()) != call.rank())
      call.unsupported("a norm along other axes than the last ones.");
  RowNorm how{.begin_axis = begin, .epsilon = call.number("epsilon", 1e-3f)};
  if (call.has(1)) how.gamma = call.tensor(1);
  if (call.has(2)) how.beta = call.tensor(2);
  return {call.give(layer_norm(call.tensor(0), how))};
}

}  // namespace

const Operators& sequence_operators() {
  static const Operators rows{{"KerasRecurrent", 1, recurrent_layer}, {"KerasLayerNorm", 1, layer_normalised}};
  return rows;
}

}  // namespace tessera::tfjs

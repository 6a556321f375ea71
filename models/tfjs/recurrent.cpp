// Keras's recurrent layers, as ONNX's operators with weights of another order.
#include <algorithm>
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

// The layer as an ONNX operator: its node, and the inputs after the sequence.
struct Recurrence {
  onnx::NodeProto node;
  std::vector<Value> inputs;  // the first one, and the states from 5 on, are whoever calls it's

  Results run(const Call& call) const {
    return onnx::onnx_operator(node.op, 17).run(Call(call.trace(), node, call.names(), inputs, call.on_host()));
  }
};

Value value_of(const Call& call, const Tensor& tensor) { return call.give(tensor, call.type()); }

Recurrence recurrence_of(const Call& call, const Kind& kind, bool goes_back) {
  const std::int64_t units = call.shape(2)[0];
  const auto gates = static_cast<std::int64_t>(kind.gates.size());
  call.expect(call.shape(1)[1] == gates * units && call.shape(2)[1] == gates * units && units > 0,
              "its weights " + call.shape(1).to_string() + " and " + call.shape(2).to_string() + " do not fit.");
  const auto in_order = [&](const Tensor& x) {  // of the gates, along the last axis of two
    if (kind.gates.size() < 4) return x;
    std::vector<Tensor> parts;
    for (const std::int64_t gate : kind.gates) parts.push_back(slice(x, {0, gate * units}, {-1, units}));
    return concat(parts, 1);
  };
  const auto weights = [&](int input) {
    return value_of(call, expand_dims(transpose(in_order(call.tensor(input)), {1, 0}), 0));
  };
  Recurrence made;
  made.node.op = kind.op;
  made.node.outputs.assign(1 + kind.states, "");
  const auto attribute = [&](const char* name) -> onnx::AttributeProto& {
    made.node.attributes.emplace_back().name = name;
    return made.node.attributes.back();
  };
  const bool resets_after = call.integer("reset_after", 0) != 0;
  attribute("layout").integer = 1;
  attribute("direction").text = goes_back ? "reverse" : "forward";
  attribute("linear_before_reset").integer = resets_after;
  const std::string inner = activation_of(call, "activation");
  std::vector<std::string>& activations = attribute("activations").texts;
  if (gates > 1) activations.push_back(activation_of(call, "recurrent_activation"));
  activations.insert(activations.end(), kind.states, inner);
  made.inputs = {call.value(0), weights(1), weights(2)};
  if (call.has(3)) {
    const std::int64_t rows = resets_after && gates == 3 ? 2 : 1;
    call.expect(call.shape(3).size() == rows * gates * units,
                "its bias " + call.shape(3).to_string() + " does not fit.");
    Tensor bias = in_order(call.tensor(3).reshape({rows, gates * units}));
    if (rows == 1) bias = concat({bias, call.context().zeros(bias.shape(), bias.dtype())}, 0);
    made.inputs.push_back(value_of(call, bias.reshape({1, 2 * gates * units})));
  }
  return made;
}

Tensor without_axis(const Call& call, const Value& result, int axis) {  // that of the direction
  return squeeze(call.trace().tensor(result, Order::plain, call.on_host()), {axis});
}

// Step by step: where the mask is false, output and states are those of the step before.
Results masked_steps(const Call& call, Recurrence recurrence, std::vector<Tensor> states, bool goes_back) {
  const Tensor x = call.tensor(0), mask = call.tensor(4).cast(DType::boolean);
  const std::int64_t steps = x.shape()[1];
  call.expect(mask.shape() == Shape{x.shape()[0], steps} && steps > 0,
              "its mask " + mask.shape().to_string() + " does not fit " + x.shape().to_string() + ".");
  recurrence.inputs.resize(5 + states.size());
  std::vector<Tensor> outputs;
  for (std::int64_t i = 0; i < steps; ++i) {
    const std::int64_t t = goes_back ? steps - 1 - i : i;
    recurrence.inputs[0] = value_of(call, slice(x, {0, t, 0}, {-1, 1, -1}));
    for (std::size_t s = 0; s < states.size(); ++s)
      recurrence.inputs[5 + s] = value_of(call, expand_dims(states[s], 1));
    const Results made = recurrence.run(call);
    const Tensor counts = slice(mask, {0, t}, {-1, 1});
    for (std::size_t s = 0; s < states.size(); ++s)
      states[s] = where(counts, without_axis(call, made[1 + s], 1), states[s]);
    outputs.push_back(states[0]);
  }
  if (goes_back && call.integer("in_order", 0) != 0) std::reverse(outputs.begin(), outputs.end());
  Results results{value_of(call, call.integer("return_sequences", 0) != 0 ? stack(outputs, 1) : states.front())};
  for (const Tensor& state : states) results.push_back(value_of(call, state));
  return results;
}

// x [batch,steps,features], kernel [features,gates * units], recurrent kernel [units,gates * units], bias [gates *
// units], or two of them for a GRU that resets after its product; mask [batch,steps], states [batch,units]. Results:
// the steps or the last one, and the states.
Results recurrent_layer(const Call& call) {
  const Kind& kind = kind_of(call);
  call.expect_rank(0, 3, 3);
  call.expect_rank(1, 2, 2);
  call.expect_rank(2, 2, 2);
  const bool goes_back = call.integer("go_backwards", 0) != 0, is_masked = call.has(4);
  Recurrence recurrence = recurrence_of(call, kind, goes_back && !is_masked);
  const Shape of_state{call.shape(0)[0], call.shape(2)[0]};
  std::vector<Tensor> states;
  for (std::size_t i = 0; call.inputs() > 5 && i < kind.states; ++i) {
    states.push_back(call.tensor(static_cast<int>(5 + i)));
    call.expect(states.back().shape() == of_state, "a state " + states.back().shape().to_string() + " does not fit.");
  }
  if (is_masked) {
    states.resize(kind.states, call.context().zeros(of_state, call.tensor(0).dtype()));
    return masked_steps(call, std::move(recurrence), std::move(states), goes_back);
  }
  if (!states.empty()) recurrence.inputs.resize(5);
  for (const Tensor& state : states) recurrence.inputs.push_back(value_of(call, expand_dims(state, 1)));
  const Results made = recurrence.run(call);
  Results results;
  for (std::size_t i = 1; i < made.size(); ++i) results.push_back(value_of(call, without_axis(call, made[i], 1)));
  Value output = results.front();
  if (call.integer("return_sequences", 0) != 0) {
    const Tensor steps = without_axis(call, made.front(), 2);
    output = value_of(call, goes_back && call.integer("in_order", 0) == 0 ? reverse(steps, {1}) : steps);
  }
  results.insert(results.begin(), output);
  return results;
}

// The sequence, with zeros in steps all of whose features are the value; and the steps that are not.
Results masked(const Call& call) {
  call.expect_rank(0, 2);
  const Tensor x = call.tensor(0);
  const Tensor counts = any(x != call.number("mask_value", 0), {.axes = {-1}, .keep_dims = true});
  return {call.give(where(counts, x, 0)), call.give(squeeze(counts, {-1}), Type::boolean)};
}

Results not_zero(const Call& call) { return {call.give(call.tensor(0) != 0, Type::boolean)}; }

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
  static const Operators rows{{"KerasRecurrent", 1, recurrent_layer},
                              {"KerasLayerNorm", 1, layer_normalised},
                              {"KerasMasking", 1, masked},
                              {"KerasNotZero", 1, not_zero}};
  return rows;
}

}  // namespace tessera::tfjs

// RNN, GRU and LSTM, unrolled over the steps of the sequence.
#include <algorithm>
#include <cctype>
#include <functional>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

using Activate = std::function<Tensor(const Tensor&)>;

Tensor rows_of(const Tensor& x, std::int64_t begin, std::int64_t count) {  // of the first axis
  Sizes at(static_cast<std::size_t>(x.shape().rank()), 0), size(x.shape().dims().begin(), x.shape().dims().end());
  at[0] = begin, size[0] = count;
  return slice(x, at, size);
}

Tensor row_of(const Tensor& x, std::int64_t row) { return squeeze(rows_of(x, row, 1), {0}); }

Tensor columns_of(const Tensor& x, std::int64_t begin, std::int64_t count) { return slice(x, {0, begin}, {-1, count}); }

struct Cell {  // one direction
  const Call& call;
  std::int64_t hidden;
  std::vector<Activate> activations;
  Tensor weights, recurrence;                // [gates * hidden,...]
  Tensor bias, recurrent_bias, peepholes{};  // empty: none

  Tensor product(const Tensor& x, const Tensor& matrix) const { return matmul(x, matrix, {.transpose_b = true}); }
  // Of all steps at once, since no state takes part in it.
  Tensor of_input(const Tensor& x) const { return bias.is_empty() ? product(x, weights) : product(x, weights) + bias; }
  // Of the gates from `first` on.
  Tensor of_state(const Tensor& h, std::int64_t first, std::int64_t gates) const {
    const Tensor part = product(h, rows_of(recurrence, first * hidden, gates * hidden));
    return recurrent_bias.is_empty() ? part : part + rows_of(recurrent_bias, first * hidden, gates * hidden);
  }
};

struct State {
  Tensor h, c;
};

// Steps get what the input gives to their gates. A step of an RNN is one kernel: a product with all that comes after
// it.
State rnn_step(const Cell& cell, const Tensor& in, const State& before) {
  return {cell.activations[0](in + cell.of_state(before.h, 0, 1)), before.c};
}

// Two kernels where the reset comes after the product; else three.
State gru_step(const Cell& cell, const Tensor& in, const State& before) {
  const std::int64_t size = cell.hidden;
  const bool resets_after = cell.call.integer("linear_before_reset", 0) != 0;
  const Tensor gates = cell.of_state(before.h, 0, resets_after ? 3 : 2);
  const Tensor update = cell.activations[0](columns_of(in, 0, size) + columns_of(gates, 0, size));
  const Tensor reset = cell.activations[0](columns_of(in, size, size) + columns_of(gates, size, size));
  const Tensor past = resets_after ? reset * columns_of(gates, 2 * size, size) : cell.of_state(reset * before.h, 2, 1);
  const Tensor candidate = cell.activations[1](columns_of(in, 2 * size, size) + past);
  return {(1 - update) * candidate + update * before.h, before.c};
}

// Two kernels: a product, and all that is pointwise. One kernel has one result, so h and c are the halves of one; each
// finds c by itself.
State lstm_step(const Cell& cell, const Tensor& in, const State& before) {
  const std::int64_t size = cell.hidden;
  const Tensor all = in + cell.of_state(before.h, 0, 4);
  const auto gate = [&](std::int64_t index) { return columns_of(all, index * size, size); };
  const bool has_peepholes = !cell.peepholes.is_empty();
  const auto peephole = [&](std::int64_t index) { return rows_of(cell.peepholes, index * size, size); };
  const auto next_c = [&] {
    const Tensor into = cell.activations[0](has_peepholes ? gate(0) + before.c * peephole(0) : gate(0));
    const Tensor kept = cell.call.integer("input_forget", 0)
                            ? 1 - into
                            : cell.activations[0](has_peepholes ? gate(2) + before.c * peephole(2) : gate(2));
    return kept * before.c + into * cell.activations[1](gate(3));
  };
  const Tensor c = next_c();
  const Tensor out = cell.activations[0](has_peepholes ? gate(1) + c * peephole(1) : gate(1));
  const Tensor both = stack({out * cell.activations[2](c), next_c()}, 0);
  return {row_of(both, 0), row_of(both, 1)};
}

Activate activation(const Call& call, std::string name, std::size_t place) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto parameter = [&](const char* attribute, float otherwise) {
    const AttributeProto* given = call.attribute(attribute);
    return given && place < given->numbers.size() ? given->numbers[place] : otherwise;
  };
  if (name == "sigmoid") return [](const Tensor& x) { return sigmoid(x); };
  if (name == "tanh") return [](const Tensor& x) { return tanh(x); };
  if (name == "relu") return [](const Tensor& x) { return relu(x); };
  if (name == "softsign") return [](const Tensor& x) { return softsign(x); };
  if (name == "softplus") return [](const Tensor& x) { return softplus(x); };
  if (name == "affine") {
    const float factor = parameter("activation_alpha", 1), summand = parameter("activation_beta", 0);
    return [factor, summand](const Tensor& x) { return x * factor + summand; };
  }
  const float alpha = parameter("activation_alpha", name == "leakyrelu"     ? 0.01f
                                                    : name == "hardsigmoid" ? 0.2f
                                                                            : 1),
              beta = parameter("activation_beta", 0.5f);
  if (name == "leakyrelu") return [alpha](const Tensor& x) { return leaky_relu(x, alpha); };
  if (name == "elu") return [alpha](const Tensor& x) { return elu(x, alpha); };
  if (name == "hardsigmoid") return [alpha, beta](const Tensor& x) { return clip(x * alpha + beta, 0, 1); };
  call.unsupported("there is no activation '" + name + "'.");
}

using Step = State (*)(const Cell&, const Tensor&, const State&);

Results recurrent(const Call& call, std::int64_t gates, const std::vector<std::string>& usual, Step step) {
  for (const int input : {0, 1, 2}) call.expect_rank(input, 3, 3);
  constexpr std::pair<int, int> ranks_of_others[] = {{3, 2}, {5, 3}, {6, 3}, {7, 2}};
  for (const auto& [input, rank] : ranks_of_others)
    if (call.has(input)) call.expect_rank(input, rank, rank);
  if (call.attribute("clip")) call.unsupported("a limit on what goes into activations.");
  const bool has_c = call.node().op == "LSTM", batch_first = call.integer("layout", 0) != 0;
  const auto in_order = [&](const Tensor& x) { return batch_first ? permuted(x, {1, 0, 2}) : x; };
  const Tensor x = in_order(call.tensor(0));
  const std::int64_t steps = x.shape()[0], batch = x.shape()[1], hidden = call.shape(2)[2],
                     directions = call.shape(1)[0];
  const std::string direction = call.text("direction", "forward");
  call.expect(directions == (direction == "bidirectional" ? 2 : 1) && steps >= 1,
              "its weights " + call.shape(1).to_string() + " are not those of the direction " + direction + ".");
  call.expect(call.shape(1)[1] == gates * hidden && call.shape(2)[1] == gates * hidden,
              "its weights " + call.shape(1).to_string() + " do not fit " + std::to_string(hidden) + " hidden units.");
  std::vector<std::string> names = usual;
  if (const AttributeProto* given = call.attribute("activations"); given && !given->texts.empty()) names = given->texts;
  else if (directions == 2) names.insert(names.end(), usual.begin(), usual.end());
  call.expect(names.size() == usual.size() * static_cast<std::size_t>(directions),
              "it has " + std::to_string(names.size()) + " activations.");
  std::optional<Tensor> lengths;
  if (call.has(4)) lengths = call.tensor(4).cast(DType::i32).reshape({batch, 1});
  std::vector<Tensor> all, last_h, last_c;
  for (std::int64_t d = 0; d < directions; ++d) {
    const bool is_reverse = direction == "reverse" || d == 1;
    if (is_reverse && lengths) call.unsupported("sequences of different lengths backwards.");
    Cell cell{call, hidden, {}, row_of(call.tensor(1), d), row_of(call.tensor(2), d), {}, {}};
    for (std::size_t i = 0; i < usual.size(); ++i) {
      const std::size_t place = static_cast<std::size_t>(d) * usual.size() + i;
      cell.activations.push_back(activation(call, names[place], place));
    }
    if (call.has(3)) {
      const Tensor both = row_of(call.tensor(3), d);
      cell.bias = rows_of(both, 0, gates * hidden), cell.recurrent_bias = rows_of(both, gates * hidden, gates * hidden);
    }
    if (has_c && call.has(7)) cell.peepholes = row_of(call.tensor(7), d);
    const auto first = [&](int input) {
      return call.has(input) ? row_of(in_order(call.tensor(input)), d)
                             : call.context().zeros({batch, hidden}, x.dtype());
    };
    State state{first(5), has_c ? first(6) : Tensor()};
    const Tensor in = cell.of_input(x);
    std::vector<Tensor> outputs(static_cast<std::size_t>(steps));
    for (std::int64_t i = 0; i < steps; ++i) {
      call.trace().count_step();
      const std::int64_t t = is_reverse ? steps - 1 - i : i;
      State next = step(cell, row_of(in, t), state);
      Tensor& output = outputs[static_cast<std::size_t>(t)] = next.h;
      if (lengths) {  // sequences that have ended keep their state
        const Tensor is_on = *lengths > static_cast<double>(t);
        output = where(is_on, next.h, 0);
        next.h = where(is_on, next.h, state.h);
        if (has_c) next.c = where(is_on, next.c, state.c);
      }
      state = next;
    }
    all.push_back(stack(outputs, 0));
    last_h.push_back(state.h);
    if (has_c) last_c.push_back(state.c);
  }
  const Tensor outputs = stack(all, 1);  // [steps,directions,batch,hidden]
  Results results{call.give(batch_first ? permuted(outputs, {2, 0, 1, 3}) : outputs),
                  call.give(in_order(stack(last_h, 0)))};
  if (has_c) results.push_back(call.give(in_order(stack(last_c, 0))));
  return results;
}

}  // namespace

const Operators& recurrent_operators() {
  static const Operators rows{
      {"RNN", 1, [](const Call& call) { return recurrent(call, 1, {"Tanh"}, rnn_step); }},
      {"GRU", 1,
       [](const Call& call) {
         return recurrent(call, 3, {"Sigmoid", "Tanh"}, gru_step);
       }},
      {"LSTM", 1,
       [](const Call& call) {
         return recurrent(call, 4, {"Sigmoid", "Tanh", "Tanh"}, lstm_step);
       }},
  };
  return rows;
}

}  // namespace tessera::onnx

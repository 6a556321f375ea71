// Control flow: branches are taken and loops unrolled while the graph is built, by what is known then.
#include <algorithm>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

Results branch(const Call& call) {
  const GraphProto& graph = call.graph(call.number_of(0) != 0 ? "then_branch" : "else_branch");
  Names names{.outer = &call.names()};
  call.trace().run(graph, names);
  return call.trace().outputs_of(graph, names);
}

Value stacked(const Call& call, const std::vector<Value>& values, int axis = 0) {
  const bool on_host = std::ranges::all_of(values, &Value::is_known);
  std::vector<Tensor> tensors;
  for (const Value& value : values) tensors.push_back(call.trace().tensor(value, Order::plain, on_host));
  return call.trace().result(stack(tensors, axis), values.front().type(), Order::plain, on_host);
}

bool is_true(const Call& call, const Value& value) {
  if (value.shape().size() != 1)
    call.fail(ErrorCode::shape_mismatch, "a condition of shape " + value.shape().to_string() + " is not one.");
  return call.trace().known(value, description(call.node()) + " has to know whether it goes on").read().front() != 0;
}

Results loop(const Call& call) {
  const GraphProto& body = call.graph("body");
  const std::int64_t most = call.has(0) ? call.integer_of(0) : INT32_MAX;
  bool goes_on = !call.has(1) || is_true(call, call.value(1));
  std::vector<Value> state;
  for (int i = 2; i < static_cast<int>(call.node().inputs.size()); ++i)
    state.push_back(call.has(i) ? call.value(i) : Value());
  call.expect(body.inputs.size() == state.size() + 2 && body.outputs.size() >= state.size() + 1,
              "its body does not take what it carries.");
  std::vector<std::vector<Value>> scans(body.outputs.size() - 1 - state.size());
  Context& host = call.trace().context(true);
  for (std::int64_t turn = 0; turn < most && goes_on; ++turn) {
    call.trace().count_step();
    Names names{.outer = &call.names()};
    names.values[body.inputs[0].name] =
        call.trace().result(host.full({}, static_cast<double>(turn), DType::i32), Type::int64, Order::plain, true);
    names.values[body.inputs[1].name] =
        call.trace().result(host.full({}, 1, DType::boolean), Type::boolean, Order::plain, true);
    for (std::size_t i = 0; i < state.size(); ++i) names.values[body.inputs[i + 2].name] = state[i];
    call.trace().run(body, names);
    const std::vector<Value> outputs = call.trace().outputs_of(body, names);
    goes_on = is_true(call, outputs[0]);
    std::copy_n(outputs.begin() + 1, state.size(), state.begin());
    call.trace().compute_carried(state, !outputs[0].is_known());
    for (std::size_t i = 0; i < scans.size(); ++i) scans[i].push_back(outputs[1 + state.size() + i]);
  }
  Results results = state;
  for (const std::vector<Value>& scan : scans) {
    if (scan.empty()) call.unsupported("a loop that makes no turn has no shape for what it collects.");
    results.push_back(stacked(call, scan));
  }
  return results;
}

// Element `place` along an axis, which the result lacks.
Value element(const Call& call, const Value& value, std::int64_t place, int axis) {
  const Tensor x = call.trace().tensor(value, Order::plain, value.is_known());
  Sizes begin(static_cast<std::size_t>(value.rank()), 0),
      size(value.shape().dims().begin(), value.shape().dims().end());
  begin[static_cast<std::size_t>(axis)] = place, size[static_cast<std::size_t>(axis)] = 1;
  return call.trace().result(squeeze(slice(x, begin, size), {axis}), value.type(), Order::plain, value.is_known());
}

Results scan(const Call& call) {
  const GraphProto& body = call.graph("body");
  std::vector<Value> inputs;
  const bool has_batch = call.opset() < 9;  // sequence lengths first, and a batch axis before all others
  for (int i = has_batch ? 1 : 0; i < call.inputs(); ++i) {
    Value value = call.value(i);
    if (has_batch) {
      if (value.rank() < 1 || value.shape()[0] != 1) call.unsupported("a batch of a Scan of opset 8.");
      value = element(call, value, 0, 0);
    }
    inputs.push_back(value);
  }
  const std::int64_t scanned = call.integer("num_scan_inputs");
  call.expect(scanned >= 1 && static_cast<std::size_t>(scanned) <= inputs.size() && body.inputs.size() == inputs.size(),
              "its body does not take what it scans.");
  const std::size_t states = inputs.size() - static_cast<std::size_t>(scanned);
  call.expect(body.outputs.size() >= states, "its body gives less than its state.");
  const auto listed = [&](const char* name, std::size_t place) {
    const std::optional<Sizes> numbers = call.integers(name);
    return numbers && place < numbers->size() ? (*numbers)[place] : 0;
  };
  const char* directions = has_batch ? "directions" : "scan_input_directions";
  std::vector<int> axes;
  std::optional<std::int64_t> length;
  for (std::size_t i = states; i < inputs.size(); ++i) {
    axes.push_back(call.axis(listed("scan_input_axes", i - states), inputs[i].rank()));
    const std::int64_t size = inputs[i].shape()[axes.back()];
    call.expect(!length || *length == size, "what it scans is not of one length.");
    length = size;
  }
  std::vector<Value> state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(states));
  std::vector<std::vector<Value>> scans(body.outputs.size() - states);
  for (std::int64_t turn = 0; turn < *length; ++turn) {
    call.trace().count_step();
    Names names{.outer = &call.names()};
    for (std::size_t i = 0; i < states; ++i) names.values[body.inputs[i].name] = state[i];
    for (std::size_t i = states; i < inputs.size(); ++i)
      names.values[body.inputs[i].name] =
          element(call, inputs[i], listed(directions, i - states) ? *length - 1 - turn : turn, axes[i - states]);
    call.trace().run(body, names);
    const std::vector<Value> outputs = call.trace().outputs_of(body, names);
    std::copy_n(outputs.begin(), states, state.begin());
    call.trace().compute_carried(state, false);
    for (std::size_t i = 0; i < scans.size(); ++i) scans[i].push_back(outputs[states + i]);
  }
  Results results = state;
  for (std::size_t i = 0; i < scans.size(); ++i) {
    if (scans[i].empty()) call.unsupported("a scan of nothing has no shape for what it collects.");
    if (listed("scan_output_directions", i)) std::ranges::reverse(scans[i]);
    results.push_back(stacked(call, scans[i], call.axis(listed("scan_output_axes", i), scans[i].front().rank() + 1)));
  }
  if (has_batch)
    for (Value& value : results)
      value = call.trace().result(expand_dims(call.trace().tensor(value, Order::plain, value.is_known()), 0),
                                  value.type(), Order::plain, value.is_known());
  return results;
}

}  // namespace

const Operators& control_operators() {
  static const Operators rows{{"If", 1, branch}, {"Loop", 1, loop}, {"Scan", 1, scan}};
  return rows;
}

}  // namespace tessera::onnx

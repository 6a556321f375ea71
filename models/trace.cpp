#include "models/trace.h"

#include <algorithm>
#include <numeric>

#include "models/operators.h"
#include <tessera/scope.h>

namespace tessera::onnx {

namespace {

// Limits such that a damaged file can neither hang nor take all memory.
constexpr std::int64_t max_steps = 100'000;       // nodes and turns of loops
constexpr std::int64_t max_host_elements = 1024;  // larger values are computed on the device though they are constant
constexpr std::int64_t max_computed_constants = 1LL << 24;  // elements, and four times as many as the file has

Tensor element_copy(const Tensor& tensor, Context& to) {  // a tensor of one context on another, through the host
  const auto copy = [&]<class T>(T) { return to.tensor(tensor.shape(), tensor.read<T>()); };
  switch (tensor.dtype()) {
    case DType::f32: return copy(float{});
    case DType::f16: return copy(half{});
    case DType::i32: return copy(std::int32_t{});
    case DType::i8: return copy(std::int8_t{});
    case DType::u8: return copy(std::uint8_t{});
    case DType::boolean: return copy(bool{});
  }
  return {};
}

std::string shapes_of(const std::vector<Value>& values) {
  std::string text;
  for (const Value& value : values)
    if (value) text += (text.empty() ? "" : " ") + to_string(value.type()) + value.shape().to_string();
  return text;
}

// How many operations were made since the scope began, and those that give the results.
std::string operations_in(const Scope& scope) {
  if (scope.made() == 0) return "nothing: another name for its input";
  std::string names;
  for (const Survivor& survivor : scope.survivors())
    if (names.find(survivor.op) == std::string::npos) names += (names.empty() ? "" : ", ") + survivor.op;
  return scope.made() == 1 ? names : std::to_string(scope.made()) + " operations that end in " + names;
}

}  // namespace

std::vector<int> to_channels_last(int rank) {
  std::vector<int> permutation(static_cast<std::size_t>(rank));
  std::iota(permutation.begin(), permutation.end(), 0);
  if (rank > 2) std::rotate(permutation.begin() + 1, permutation.begin() + 2, permutation.end());
  return permutation;
}

std::vector<int> to_channels_first(int rank) {
  std::vector<int> permutation(static_cast<std::size_t>(rank));
  std::iota(permutation.begin(), permutation.end(), 0);
  if (rank > 2) std::rotate(permutation.begin() + 1, permutation.end() - 1, permutation.end());
  return permutation;
}

Tensor permuted(const Tensor& tensor, const std::vector<int>& permutation) {
  if (std::ranges::is_sorted(permutation)) return tensor;
  std::vector<std::int64_t> sizes;
  int last = -1;
  bool keeps_order = true;
  for (const int axis : permutation) {
    sizes.push_back(tensor.shape()[axis]);
    if (sizes.back() == 1) continue;
    keeps_order = keeps_order && axis > last;
    last = axis;
  }
  return keeps_order ? tensor.reshape(Shape(sizes)) : transpose(tensor, permutation);
}

const Value* Names::find(const std::string& name) const {
  for (const Names* names = this; names; names = names->outer)
    if (const auto place = names->values.find(name); place != names->values.end()) return &place->second;
  return nullptr;
}

Constants::Constants(Context device_, TensorHub hub_, const std::string& model_, std::filesystem::path folder)
    : device(std::move(device_)),
      host(Context::create({.prefer = {BackendKind::cpu}})),
      hub(std::move(hub_)),
      weights(SharedWeights::of(hub)),
      model(weights->take_name(model_)),
      files_(std::move(folder)) {}

Constants::~Constants() {
  for (const auto& [name, tensor] : published_) release(name);
  weights->give_back_name(model);
}

void Constants::release(const std::string& name) {
  try {
    if (hub.contains({name, model})) hub.release({name, model});
  } catch (const Error&) {  // a closed context has let go of it
  }
}

Constants::Mark Constants::mark() const {
  Mark mark{.published = published_, .forms = {}, .uses = uses_.size()};
  for (const auto& [source, value] : values_) mark.forms[source] = value.state().device;
  return mark;
}

void Constants::go_back_to(const Mark& mark) {
  for (const auto& [name, tensor] : published_)
    if (!mark.published.contains(name)) release(name);
  published_ = mark.published;
  for (const auto& [name, tensor] : published_) hub.publish({name, model}, tensor);
  for (const auto& [source, value] : values_) {
    const auto before = mark.forms.find(source);
    value.state().device = before == mark.forms.end() ? DeviceForms{} : before->second;
  }
  uses_.resize(mark.uses);
}

Value Constants::value(const TensorProto& source, const std::string& name) {
  if (const auto known = values_.find(&source); known != values_.end()) return known->second;
  auto state = std::make_shared<ValueState>();
  state->shape = shape_of(source);
  state->type = source.type;
  if (!dtype_for(source.type))
    throw Error(ErrorCode::unsupported,
                "the tensor '" + name + "' has elements of type " + to_string(source.type) + ".");
  state->is_known = true;
  state->source = &source;
  state->name = name;
  elements_ += state->shape.size();
  return values_.emplace(&source, Value(std::move(state))).first->second;
}

Tensor Constants::uploaded(const TensorProto& source, Context& context) {
  const Elements elements = elements_of(source, files_);
  return context.tensor(elements.shape, elements.dtype, elements.bytes);
}

Tensor Constants::on_device(const TensorProto& source, const std::vector<int>& permutation, const std::string& name) {
  auto [tensor, use] = weights->get(source, stored_elements_of(source, files_), permutation, [&] {
    if (permutation.empty()) return uploaded(source, device);
    // On the host: an upload has a copy there, and so need not stay on the device beside what is laid out of it.
    return element_copy(permuted(uploaded(source, host), permutation), device);
  });
  uses_.push_back(std::move(use));
  publish(name, tensor);
  return tensor;
}

void Constants::publish(const std::string& name, const Tensor& tensor) {
  if (name.empty()) return;
  hub.publish({name, model}, tensor);
  published_[name] = tensor;
}

Value Trace::input(const Tensor& tensor, Type type) const { return result(tensor, type, Order::plain, false); }

Value Trace::result(Tensor tensor, Type type, Order order, bool on_host) const {
  auto state = std::make_shared<ValueState>();
  const Shape& shape = tensor.shape();
  if (order == Order::plain) {
    state->shape = shape;
  } else {
    std::vector<std::int64_t> sizes;
    for (const int axis : to_channels_first(shape.rank())) sizes.push_back(shape[axis]);
    state->shape = Shape(sizes);
  }
  state->type = type;
  state->is_known = on_host;
  (on_host ? state->host : state->device.orders)[static_cast<std::size_t>(order)] = std::move(tensor);
  return Value(std::move(state));
}

Tensor Trace::tensor(const Value& value, Order order, bool on_host) const {
  ValueState& state = value.state();
  if (state.list) throw Error(ErrorCode::unsupported, "a list of tensors is given where a tensor is wanted.");
  std::array<Tensor, 2>& tensors = on_host ? state.host : state.device.orders;
  Tensor &wanted = tensors[static_cast<std::size_t>(order)], &plain = tensors[0], &last = tensors[1];
  if (!wanted.is_empty()) return wanted;
  if (plain.is_empty() && last.is_empty()) {
    if (state.source) {
      plain = on_host ? constants_.uploaded(*state.source, constants_.host)
                      : constants_.on_device(*state.source, {}, state.name);
    } else {
      plain = element_copy(tensor(value, Order::plain, true), constants_.device);
    }
  }
  if (wanted.is_empty())
    wanted = order == Order::plain ? permuted(last, to_channels_first(value.rank()))
                                   : permuted(plain, to_channels_last(value.rank()));
  return wanted;
}

Tensor Trace::filter(const Value& value, const std::vector<int>& permutation) const {
  ValueState& state = value.state();
  if (!state.source) return permuted(tensor(value, Order::plain, false), permutation);
  Tensor& filter = state.device.filters[permutation];
  if (filter.is_empty()) filter = constants_.on_device(*state.source, permutation, state.name + ".filter");
  return filter;
}

Tensor Trace::known(const Value& value, const std::string& reason) {
  if (value.is_known()) return tensor(value, Order::plain, true);
  if (mode_ == Mode::recording && !value.is_constant()) throw NeedsValue{reason};
  ValueState& state = value.state();
  if (state.host[0].is_empty()) state.host[0] = element_copy(tensor(value, Order::plain, false), constants_.host);
  if (!value.is_constant()) read_back_ = reason;
  return state.host[0];
}

void Trace::count_step() {
  if (++steps_ > max_steps)
    throw Error(ErrorCode::unsupported, "more than " + std::to_string(max_steps) + " nodes and turns of loops.");
}

void Trace::compute_carried(std::span<const Value> carried, bool on_device) {
  for (const Value& value : carried) {
    if (!value || value.state().list) continue;
    const bool can_be_computed = value.is_known() || (on_device && (mode_ == Mode::computing || value.is_constant()));
    if (!can_be_computed) continue;
    for (const Tensor& tensor : value.is_known() ? value.state().host : value.state().device.orders)
      if (!tensor.is_empty()) tensor.compute();
  }
}

void Trace::run(const GraphProto& graph, Names& names) {
  for (const TensorProto& source : graph.initializers)
    if (!names.values.contains(source.name)) names.values[source.name] = constants_.value(source, source.name);
  for (const NodeProto& node : graph.nodes) {
    if (progress && *progress) tell_progress(graph, node, names);
    try {
      run_node(node, names);
    } catch (const Error& error) {
      throw Error(error.code(), "in " + description(node) + ": " + error.what());
    }
  }
}

// Nodes of graphs in the graph count as a part of the node that they are in.
void Trace::tell_progress(const GraphProto& graph, const NodeProto& node, const Names& names) {
  if (!names.outer)
    share_built_ =
        share_of_building * static_cast<double>(&node - graph.nodes.data()) / static_cast<double>(graph.nodes.size());
  progress->tell(share_built_, "building " + description(node));
}

void Trace::run_node(const NodeProto& node, Names& names) {
  count_step();
  const Operator& row = operator_for(node, opset_);
  std::vector<Value> inputs;
  std::int64_t elements = 0;
  bool is_known = true, is_constant = true;
  for (const std::string& name : node.inputs) {
    inputs.emplace_back();
    if (name.empty()) continue;
    const Value* value = names.find(name);
    if (!value) throw Error(ErrorCode::not_found, "there is no value '" + name + "' before it.");
    inputs.back() = *value;
    if (!*value) continue;
    is_known = is_known && value->is_known();
    is_constant = is_constant && value->is_constant();
    elements += value->shape().size();
  }
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();

  const std::size_t first_report = report ? report->size() : 0;
  std::optional<Scope> scope;
  if (report) scope.emplace(constants_.device);
  read_back_.clear();
  bool on_host = is_known && elements <= max_host_elements;
  const auto run_row = [&] {
    try {
      return row.run(Call(*this, node, names, inputs, on_host));
    } catch (const NeedsValue&) {
      if (scope) scope->keep_all();  // the report has tensors of graphs in the node
      throw;
    }
  };
  Results results = run_row();
  if (on_host && std::ranges::any_of(results, [](const Value& value) {
        return value && value.is_known() && !value.state().source && value.shape().size() > max_host_elements;
      })) {
    on_host = false;
    results = run_row();
  }
  const bool has_graphs =
      std::ranges::any_of(node.attributes, [](const AttributeProto& attribute) { return attribute.graph != nullptr; });
  if (is_constant && !has_graphs) mark_constant(results);  // graphs in it see more than its inputs
  if (report) {
    ModelNode entry{.name = node.name.empty() && !node.outputs.empty() ? node.outputs.front() : node.name,
                    .op = node.op,
                    .result = shapes_of(results),
                    .became = on_host ? "folded on the host" : operations_in(*scope)};
    if (node.capacity) entry.became += "; room for " + std::to_string(*node.capacity) + ", nothing is read back";
    if (!read_back_.empty()) entry.became += "; " + read_back_ + ", which is read back";
    scope->keep_all();  // the tensors live on in the values
    Reported reported{.node = std::move(entry), .results = {}, .turn = report->size()};
    for (const Value& value : results)
      for (const Tensor& tensor : value ? value.state().device.orders : std::array<Tensor, 2>{})
        if (!tensor.is_empty()) reported.results.push_back(tensor);
    report->insert(report->begin() + static_cast<std::ptrdiff_t>(first_report), std::move(reported));
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    if (i >= results.size() || !results[i])
      throw Error(ErrorCode::unsupported, "its output " + std::to_string(i) + " is not there.");
    names.values[node.outputs[i]] = results[i];
  }
}

void Trace::mark_constant(const std::vector<Value>& results) {
  for (const Value& value : results) {
    if (!value || value.is_constant()) continue;
    value.state().is_constant = true;
    constant_elements_ += value.shape().size();
    if (constant_elements_ > max_computed_constants + 4 * constants_.elements())
      throw Error(ErrorCode::out_of_memory, "a constant of shape " + value.shape().to_string() +
                                                " is made of few numbers of the file, and there are " +
                                                std::to_string(constant_elements_) + " such elements already.");
  }
}

std::vector<Value> Trace::outputs_of(const GraphProto& graph, const Names& names) const {
  std::vector<Value> outputs;
  for (const ValueInfoProto& info : graph.outputs) {
    const Value* value = names.find(info.name);
    if (!value || !*value) throw Error(ErrorCode::not_found, "nothing computes the output '" + info.name + "'.");
    outputs.push_back(*value);
  }
  return outputs;
}

}  // namespace tessera::onnx

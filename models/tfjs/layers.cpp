#include "models/tfjs/layers.h"

#include <algorithm>
#include <utility>

namespace tessera::tfjs {

namespace {

constexpr int deepest_nesting = 16;  // of models in models
constexpr int most_calls = 100'000;  // of layers

std::string name_of_call(const std::string& layer, std::int64_t call) {
  return call == 0 ? layer : layer + "/call_" + std::to_string(call);
}

// ["layer", call, result] or with more behind
std::string value_at(const Json& source) {
  if (!source.is_array() || source.size() < 3) fail_reading("a layer's input is not its name and two numbers.");
  const std::int64_t call = whole_number(source[1], "the call of a layer"),
                     result = whole_number(source[2], "a result");
  if (result < 0) fail_reading("a result is " + std::to_string(result) + ".");
  const std::string name = name_of_call(text(source[0], "the name of a layer"), call);
  return result == 0 ? name : name + ":" + std::to_string(result);
}

std::vector<std::string> ends_of(const Json& config, const char* which, const std::string& prefix) {
  const Json& list = list_in(config, which);
  std::vector<std::string> names;
  if (!list.empty() && list[0].is_string()) return {prefix + value_at(list)};  // a single one
  for (const Json& end : list) names.push_back(prefix + value_at(end));
  return names;
}

std::string class_of(const Json& layer) { return text(needed(layer, "class_name"), "the class of a layer"); }

std::string name_of(const Json& layer) {
  const Json* name = member(layer, "name");
  return text(name ? *name : needed(needed(layer, "config"), "name"), "the name of a layer");
}

}  // namespace

using onnx::NodeProto;
using onnx::TensorProto;
using onnx::Type;

LayersReader::LayersReader(std::shared_ptr<Weights> weights) {
  draft_.weights = std::move(weights);
  // Some writers have the name of a scope before the last part: a/b/kernel is a's kernel, too.
  for (const auto& [name, tensor] : draft_.weights->tensors) {
    const std::size_t last = name.rfind('/'), before = last == std::string::npos ? last : name.rfind('/', last - 1);
    if (last > 0 && before != std::string::npos) aliases_.emplace(name.substr(0, before) + name.substr(last), name);
  }
}

Draft LayersReader::draft(const Json& model) && {
  for (std::string& name : read(model, "", nullptr, 0)) {
    Draft::End end{.info = {}, .result = name};
    end.info.name = std::move(name);
    draft_.outputs.push_back(std::move(end));
  }
  draft_.states = states_in_.size();
  draft_.inputs.insert(draft_.inputs.end(), states_in_.begin(), states_in_.end());
  draft_.outputs.insert(draft_.outputs.end(), states_out_.begin(), states_out_.end());
  return std::move(draft_);
}

LayersReader::Names LayersReader::read(const Json& model, const std::string& prefix, const Names* given, int depth) {
  if (depth > deepest_nesting)
    fail_reading("models are in models, more than " + std::to_string(deepest_nesting) + " deep.");
  const std::string kind = text(needed(model, "class_name"), "the class of the model");
  const Json& config = needed(model, "config");
  if (kind == "Sequential") return read_sequence(config, prefix, given, depth);
  if (kind == "Functional" || kind == "Model") return read_functional(config, prefix, given, depth);
  throw Error(ErrorCode::unsupported, "there is no class of models '" + kind + "'.");
}

LayersReader::Names LayersReader::read_sequence(const Json& config, const std::string& prefix, const Names* given,
                                                int depth) {
  const Json& layers = config.is_array() ? config : list_in(config, "layers");
  Names values = given ? *given : Names{};
  for (const Json& layer : layers) {
    const Json& settings = needed(layer, "config");
    const std::string name = prefix + name_of(layer), kind = class_of(layer);
    if (values.empty()) {
      values = {kind == "InputLayer" ? name : name + "_input"};
      if (const Json* inner = member(settings, "layers"); inner && inner->is_array() && !inner->empty())
        add_input(values[0], needed((*inner)[0], "config"));  // the model in it says what goes into it
      else add_input(values[0], settings);
    }
    if (kind != "InputLayer") values = apply(layer, name, values, depth);
  }
  return values;
}

LayersReader::Names LayersReader::read_functional(const Json& config, const std::string& prefix, const Names* given,
                                                  int depth) {
  const Names inputs = ends_of(config, "input_layers", prefix);
  if (given && given->size() != inputs.size())
    fail_reading("a model with " + std::to_string(inputs.size()) + " inputs is given " + std::to_string(given->size()) +
                 ".");
  for (const Json& layer : list_in(config, "layers")) {
    const std::string name = prefix + name_of(layer);
    if (class_of(layer) == "InputLayer") {
      const auto place = std::ranges::find(inputs, name);
      if (given && place != inputs.end())
        node("Identity", name, {(*given)[static_cast<std::size_t>(place - inputs.begin())]});
      else add_input(name, needed(layer, "config"));
      continue;
    }
    std::int64_t call = 0;
    for (const Json& inbound : list_in(layer, "inbound_nodes")) {
      if (!inbound.is_array())
        throw Error(ErrorCode::unsupported, "the layer '" + name + "' is called in a way that only Keras 3 writes.");
      Names values;
      for (const Json& source : inbound) values.push_back(prefix + value_at(source));
      apply(layer, name_of_call(name, call), values, depth);
      ++call;
    }
  }
  return ends_of(config, "output_layers", prefix);
}

void LayersReader::add_input(const std::string& name, const Json& config) {
  Draft::End end{.info = {}, .result = name};
  end.info.name = name;
  const Json* dtype = member(config, "dtype");
  const std::string type = dtype && dtype->is_string() ? dtype->text() : "float32";
  end.info.type = type == "int32" || type == "int64" ? Type::int32 : type == "bool" ? Type::boolean : Type::float32;
  const Json* shape = member(config, "batch_input_shape");
  if (!shape) shape = member(config, "batch_shape");
  if (shape && shape->is_array()) {
    end.info.has_shape = true;
    for (const Json& size : *shape) {
      std::optional<std::int64_t> given;
      if (!size.is_null()) given = whole_number(size, "a size of the input '" + name + "'");
      end.info.dims.push_back({given, ""});
    }
  }
  draft_.inputs.push_back(std::move(end));
  node("Placeholder", name, {});
}

NodeProto& LayersReader::node(const std::string& op, const std::string& name, Names inputs) {
  NodeProto& made = draft_.nodes.emplace_back();
  made.op = op;
  made.name = name;
  made.inputs = std::move(inputs);
  return made;
}

std::string LayersReader::integers(const std::string& name, const std::vector<std::int64_t>& numbers, bool is_scalar) {
  TensorProto tensor;
  tensor.name = name;
  if (!is_scalar) tensor.dims = {static_cast<std::int64_t>(numbers.size())};
  tensor.type = Type::int32;
  tensor.integers = numbers;
  if (draft_.weights->tensors.emplace(name, std::move(tensor)).second) node("Const", name, {});
  return name;
}

std::string LayersReader::weight(const std::string& layer, const std::string& name, bool is_needed) {
  const std::string wanted = layer + "/" + name;
  const auto alias = aliases_.find(wanted);
  const bool is_there = draft_.weights->tensors.contains(wanted);
  if (!is_there && alias == aliases_.end()) {
    if (!is_needed) return "";
    throw Error(ErrorCode::not_found, "there is no weight '" + wanted + "'.");
  }
  const std::string found = is_there ? wanted : alias->second;
  if (constants_.insert(found).second) node("Const", found, {});
  return found;
}

LayersReader::Names LayersReader::apply(const Json& layer, const std::string& name, const Names& inputs, int depth) {
  const std::string kind = class_of(layer);
  if (++calls_ > most_calls) fail_reading("there are more than " + std::to_string(most_calls) + " layers.");
  if (kind == "Sequential" || kind == "Functional" || kind == "Model") {
    const std::map<std::string, std::string> outside = std::exchange(masks_, {});  // a model's begin and end lose them
    Names results = read(layer, name + "/", &inputs, depth + 1);
    node("IdentityN", name, std::move(results));
    masks_ = outside;
    return {name};
  }
  try {
    if (inputs.empty()) fail_reading("it has no input.");
    const Layer made{*this, kind, name_of(layer), name, needed(layer, "config"), inputs};
    make(made);
    pass_mask(made);
  } catch (const Error& error) {
    throw Error(error.code(), "in the layer '" + name + "' (" + kind + "): " + error.what());
  }
  return {name};
}

Draft draft_of_layers(const Json& model, std::shared_ptr<Weights> weights) {
  const Json& topology = needed(model, "modelTopology");
  const Json* config = member(topology, "model_config");
  return LayersReader(std::move(weights)).draft(config ? *config : topology);
}

}  // namespace tessera::tfjs

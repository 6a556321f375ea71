// Layers for sequences [batch,steps,features]: convolutions and pools along one axis, look-ups, and recurrent ones.
#include <cstdint>
#include <functional>
#include <optional>

#include "models/tfjs/layers.h"

namespace tessera::tfjs {

using onnx::NodeProto;

// Along the one axis: a number, or a list of one.
std::int64_t LayersReader::along_steps(const Layer& layer, const char* key, std::int64_t otherwise) {
  const Json* given = layer.setting(key);
  if (!given) return otherwise;
  const std::vector<std::int64_t> numbers =
      given->is_array() ? whole_numbers(*given, key) : std::vector{whole_number(*given, key)};
  if (numbers.size() != 1) fail_reading("its '" + std::string(key) + "' is not one number.");
  if (numbers[0] < 0 || numbers[0] > INT32_MAX)
    fail_reading("its '" + std::string(key) + "' is " + std::to_string(numbers[0]) + ", which no sequence has.");
  return numbers[0];
}

void LayersReader::conv_of_sequence(const Layer& layer) {
  layer.expect_channels_last();
  const std::int64_t dilation = along_steps(layer, "dilation_rate", 1);
  std::string input = layer.inputs[0];
  if (layer.text_or("padding", "valid") == "causal") {  // a step sees none that follow
    const std::int64_t before = (along_steps(layer, "kernel_size", 1) - 1) * dilation;
    const std::string widths = integers(layer.name + "/paddings", {0, 0, before, 0, 0, 0});
    node("Pad", layer.name + "/causal", {input, widths});
    input = layer.name + "/causal";
  }
  NodeProto made;
  made.op = "Conv1D";
  made.inputs = {input, layer.weight("kernel", true)};
  Attributes attributes{made};
  attributes.text("padding", layer.padding());
  attributes.integer("stride", along_steps(layer, "strides", 1));
  attributes.integer("dilation", dilation);
  finish(layer, std::move(made));
}

void LayersReader::pool_of_sequence(const Layer& layer, const char* op) {
  layer.expect_channels_last();
  const std::int64_t size = along_steps(layer, "pool_size", 2);
  Attributes attributes{node(op, layer.name, {layer.inputs[0]})};
  attributes.text("padding", layer.padding());
  attributes.integers("ksize", {1, size, 1});
  attributes.integers("strides", {1, along_steps(layer, "strides", size), 1});
}

void LayersReader::reduce_sequence(const Layer& layer, const char* op) {
  layer.expect_channels_last();
  Attributes{node(op, layer.name, {layer.inputs[0], integers(layer.name + "/axes", {1})})}.integer(
      "keep_dims", layer.is_set("keepdims", false));
}

// The node of one direction: `weights` is where its weights are.
NodeProto& LayersReader::recurrence(const Layer& layer, const std::string& weights, const std::string& name) {
  if (layer.is_set("time_major", false)) throw Error(ErrorCode::unsupported, "it is 'time_major'.");
  Names inputs{layer.inputs[0], weight(weights, "kernel", true), weight(weights, "recurrent_kernel", true),
               layer.is_set("use_bias", true) ? weight(weights, "bias", false) : "", mask_of(layer)};
  inputs.insert(inputs.end(), layer.inputs.begin() + 1, layer.inputs.end());  // states to begin with
  NodeProto& made = node("KerasRecurrent", name, std::move(inputs));
  Attributes attributes{made};
  attributes.text("kind", layer.kind);
  attributes.text("activation", layer.text_or("activation", "tanh"));
  // TF.js and Keras 1 have hard_sigmoid where nothing is said; files of Keras 2 say what they have.
  attributes.text("recurrent_activation", layer.text_or("recurrent_activation", "hard_sigmoid"));
  attributes.integer("reset_after", layer.is_set("reset_after", false));
  attributes.integer("return_sequences", layer.is_set("return_sequences", false));
  return made;
}

LayersReader::Names LayersReader::kept_states(const Layer& layer) {
  const onnx::TensorProto& kernel = draft_.weights->tensors.at(weight(layer.weights, "recurrent_kernel", true));
  std::optional<std::int64_t> batch;
  if (!draft_.inputs.empty() && !draft_.inputs[0].info.dims.empty()) batch = draft_.inputs[0].info.dims[0].size;
  if (!batch || *batch < 0 || kernel.dims.empty())
    throw Error(ErrorCode::unsupported, "it is stateful, and the input of the model has no batch of a fixed size.");
  if (!stateful_.insert(layer.weights).second) throw Error(ErrorCode::unsupported, "it is stateful, and called twice.");
  Names names;
  for (int i = 0; i < (layer.kind == "LSTM" ? 2 : 1); ++i) {
    names.push_back(layer.name + "/state_" + std::to_string(i));
    node("Placeholder", names.back(), {});
    Draft::End before{.info = {}, .result = names.back()};
    before.info.name = names.back();
    before.info.type = onnx::Type::float32;
    before.info.has_shape = true;
    before.info.dims = {{batch, ""}, {kernel.dims[0], ""}};
    Draft::End after = before;
    after.info.name = layer.name + "/next_state_" + std::to_string(i);
    after.result = layer.name + ":" + std::to_string(1 + i);
    states_in_.push_back(std::move(before));
    states_out_.push_back(std::move(after));
  }
  return names;
}

void LayersReader::recurrent(const Layer& layer) {
  Names inputs = layer.inputs;
  if (layer.is_set("stateful", false)) {
    if (inputs.size() > 1) throw Error(ErrorCode::unsupported, "it is stateful, and is given states to begin with.");
    const Names states = kept_states(layer);
    inputs.insert(inputs.end(), states.begin(), states.end());
  }
  const Layer with_states{*this, layer.kind, layer.weights, layer.name, layer.config, inputs};
  Attributes attributes{recurrence(with_states, layer.weights, layer.name)};
  attributes.integer("go_backwards", layer.is_set("go_backwards", false));
}

void LayersReader::bidirectional(const Layer& layer) {
  if (layer.inputs.size() != 1) throw Error(ErrorCode::unsupported, "it is given states to begin with.");
  const Json& inner = needed(layer.config, "layer");
  const Json& config = needed(inner, "config");
  const std::string kind = text(needed(inner, "class_name"), "the class of its layer"),
                    inner_name = text(needed(config, "name"), "the name of its layer");
  if (kind != "SimpleRNN" && kind != "GRU" && kind != "LSTM")
    throw Error(ErrorCode::unsupported, "its layer is a " + kind + ".");
  const Layer part{*this, kind, layer.weights, layer.name, config, layer.inputs};
  if (part.is_set("return_state", false)) throw Error(ErrorCode::unsupported, "it returns its states.");
  if (part.is_set("stateful", false)) throw Error(ErrorCode::unsupported, "it is stateful.");
  Names both;
  for (const char* direction : {"forward", "backward"}) {
    const bool is_forward = both.empty();
    std::string weights = layer.weights + "/" + direction + "_" + inner_name;
    if (weight(weights, "kernel", false).empty()) weights = std::string(direction) + "_" + inner_name;
    both.push_back(layer.name + "/" + direction);
    Attributes attributes{recurrence(part, weights, both.back())};
    attributes.integer("go_backwards", part.is_set("go_backwards", false) == is_forward);
    attributes.integer("in_order", 1);  // of time, the results of both
  }
  const std::string mode = layer.text_or("merge_mode", "concat");
  if (mode == "concat") {
    both.push_back(integers(layer.name + "/axis", {-1}, true));
    node("ConcatV2", layer.name, std::move(both));
  } else if (mode == "sum" || mode == "mul") {
    node(mode == "sum" ? "AddV2" : "Mul", layer.name, std::move(both));
  } else if (mode == "ave") {
    node("AddV2", layer.name + "/sum", std::move(both));
    Attributes{node("KerasScale", layer.name, {layer.name + "/sum"})}.number("scale", 0.5);
  } else {
    throw Error(ErrorCode::unsupported, "its merge_mode is '" + mode + "'.");
  }
}

bool LayersReader::make_of_sequence(const Layer& layer) {
  using Maker = std::function<void(LayersReader&, const Layer&)>;
  static const std::map<std::string, Maker> makers{
      {"Conv1D", [](LayersReader& self, const Layer& of) { self.conv_of_sequence(of); }},
      {"MaxPooling1D", [](LayersReader& self, const Layer& of) { self.pool_of_sequence(of, "MaxPool"); }},
      {"AveragePooling1D", [](LayersReader& self, const Layer& of) { self.pool_of_sequence(of, "AvgPool"); }},
      {"GlobalMaxPooling1D", [](LayersReader& self, const Layer& of) { self.reduce_sequence(of, "Max"); }},
      {"GlobalAveragePooling1D", [](LayersReader& self, const Layer& of) { self.reduce_sequence(of, "Mean"); }},
      {"Embedding",
       [](LayersReader& self, const Layer& of) {
         if (of.is_set("mask_zero", false)) self.mask_zeros(of);
         self.node("GatherV2", of.name,
                   {of.weight("embeddings", true), of.inputs[0], self.integers(of.name + "/axis", {0}, true)});
       }},
      {"Masking", [](LayersReader& self, const Layer& of) { self.make_masking(of); }},
      {"LayerNormalization",
       [](LayersReader& self, const Layer& of) {
         const Json* axis = of.setting("axis");
         Attributes attributes{
             self.node("KerasLayerNorm", of.name, {of.inputs[0], of.weight("gamma", false), of.weight("beta", false)})};
         if (axis)
           attributes.integers(
               "axis", axis->is_array() ? whole_numbers(*axis, "axis") : std::vector{whole_number(*axis, "axis")});
         attributes.number("epsilon", of.number_or("epsilon", 1e-3));
       }},
      {"RepeatVector",
       [](LayersReader& self, const Layer& of) {
         self.node("ExpandDims", of.name + "/step", {of.inputs[0], self.integers(of.name + "/axis", {1}, true)});
         self.node("Tile", of.name,
                   {of.name + "/step", self.integers(of.name + "/multiples", {1, of.integer("n", 1), 1})});
       }},
      {"TimeDistributed",
       [](LayersReader& self, const Layer& of) {
         const Json& inner = needed(of.config, "layer");
         const std::string kind = text(needed(inner, "class_name"), "the class of its layer");
         if (kind != "Dense" && kind != "Activation" && kind != "Dropout")  // those see the last axis only
           throw Error(ErrorCode::unsupported, "its layer is a " + kind + ".");
         self.make(Layer{self, kind, of.weights, of.name, needed(inner, "config"), of.inputs});
       }},
      {"SimpleRNN", [](LayersReader& self, const Layer& of) { self.recurrent(of); }},
      {"GRU", [](LayersReader& self, const Layer& of) { self.recurrent(of); }},
      {"LSTM", [](LayersReader& self, const Layer& of) { self.recurrent(of); }},
      {"Bidirectional", [](LayersReader& self, const Layer& of) { self.bidirectional(of); }},
  };
  const auto maker = makers.find(layer.kind);
  if (maker == makers.end()) return false;
  maker->second(*this, layer);
  return true;
}

}  // namespace tessera::tfjs

// Keras's layers, as the operators of TensorFlow that they are made of.
#include <algorithm>
#include <functional>
#include <map>

#include "models/tfjs/draft.h"
#include <tessera/error.h>

namespace tessera::tfjs {

namespace {

using onnx::NodeProto;
using onnx::TensorProto;
using onnx::Type;

constexpr int deepest = 16;  // of models in models

class LayersReader {
 public:
  explicit LayersReader(std::shared_ptr<Weights> weights) {
    draft_.weights = std::move(weights);
    // Some writers have the name of a scope before the last part: a/b/kernel is a's kernel, too.
    for (const auto& [name, tensor] : draft_.weights->tensors) {
      const std::size_t last = name.rfind('/'), before = last == std::string::npos ? last : name.rfind('/', last - 1);
      if (last > 0 && before != std::string::npos) aliases_.emplace(name.substr(0, before) + name.substr(last), name);
    }
  }

  Draft draft(const Json& model) && {
    for (std::string& name : read(model, "", nullptr, 0)) {
      Draft::End end{.info = {}, .result = name};
      end.info.name = std::move(name);
      draft_.outputs.push_back(std::move(end));
    }
    return std::move(draft_);
  }

 private:
  using Names = std::vector<std::string>;

  // The names of the model's outputs. Where it is part of another one, `given` are the values that go into it, and
  // `prefix` stands before the names of its nodes.
  Names read(const Json& model, const std::string& prefix, const Names* given, int depth) {
    if (depth > deepest) fail_reading("models are in models, more than " + std::to_string(deepest) + " deep.");
    const std::string kind = text(needed(model, "class_name"), "the class of the model");
    const Json& config = needed(model, "config");
    if (kind == "Sequential") return read_sequence(config, prefix, given, depth);
    if (kind == "Functional" || kind == "Model") return read_functional(config, prefix, given, depth);
    throw Error(ErrorCode::unsupported, "there is no class of models '" + kind + "'.");
  }

  Names read_sequence(const Json& config, const std::string& prefix, const Names* given, int depth) {
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

  Names read_functional(const Json& config, const std::string& prefix, const Names* given, int depth) {
    const Names inputs = ends_of(config, "input_layers", prefix);
    if (given && given->size() != inputs.size())
      fail_reading("a model with " + std::to_string(inputs.size()) + " inputs is given " +
                   std::to_string(given->size()) + ".");
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
        const Names results = apply(layer, name_of_call(name, call), values, depth);
        for (std::size_t i = 0; i < results.size(); ++i)
          models_[name_of_call(name, call) + ":" + std::to_string(i)] = results[i];
        ++call;
      }
    }
    Names outputs;
    for (const std::string& output : ends_of(config, "output_layers", prefix)) outputs.push_back(output);
    for (NodeProto& any : draft_.nodes)
      for (std::string& input : any.inputs) input = through_models(input);
    for (std::string& output : outputs) output = through_models(output);
    return outputs;
  }

  // A model's results are those of its last layers.
  std::string through_models(std::string name) const {
    for (int turns = 0; turns < deepest; ++turns) {
      const auto place = models_.find(name.find(':') == std::string::npos ? name + ":0" : name);
      if (place == models_.end() || place->second == name) break;
      name = place->second;
    }
    return name;
  }

  static std::string name_of_call(const std::string& layer, std::int64_t call) {
    return call == 0 ? layer : layer + "/call_" + std::to_string(call);
  }

  // ["layer", call, result] or with more behind
  static std::string value_at(const Json& source) {
    if (!source.is_array() || source.size() < 3) fail_reading("a layer's input is not its name and two numbers.");
    const std::int64_t call = whole_number(source[1], "the call of a layer"),
                       result = whole_number(source[2], "a result");
    if (result < 0) fail_reading("a result is " + std::to_string(result) + ".");
    const std::string name = name_of_call(text(source[0], "the name of a layer"), call);
    return result == 0 ? name : name + ":" + std::to_string(result);
  }

  static Names ends_of(const Json& config, const char* which, const std::string& prefix) {
    const Json& list = list_in(config, which);
    Names names;
    if (!list.empty() && list[0].is_string()) return {prefix + value_at(list)};  // a single one
    for (const Json& end : list) names.push_back(prefix + value_at(end));
    return names;
  }

  static std::string class_of(const Json& layer) { return text(needed(layer, "class_name"), "the class of a layer"); }
  static std::string name_of(const Json& layer) {
    const Json* name = member(layer, "name");
    return text(name ? *name : needed(needed(layer, "config"), "name"), "the name of a layer");
  }

  void add_input(const std::string& name, const Json& config) {
    Draft::End end{.info = {}, .result = name};
    end.info.name = name;
    const Json* dtype = member(config, "dtype");
    const std::string type = dtype && dtype->is_string() ? dtype->get<std::string>() : "float32";
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

  NodeProto& node(const std::string& op, const std::string& name, Names inputs) {
    NodeProto& made = draft_.nodes.emplace_back();
    made.op = op;
    made.name = name;
    made.inputs = std::move(inputs);
    return made;
  }

  std::string integers(const std::string& name, const std::vector<std::int64_t>& numbers, bool is_scalar = false) {
    TensorProto tensor;
    tensor.name = name;
    if (!is_scalar) tensor.dims = {static_cast<std::int64_t>(numbers.size())};
    tensor.type = Type::int32;
    tensor.integers = numbers;
    if (draft_.weights->tensors.emplace(name, std::move(tensor)).second) node("Const", name, {});
    return name;
  }

  // A weight of the layer; empty where there is none and none is needed.
  std::string weight(const std::string& layer, const std::string& name, bool is_needed) {
    const std::string wanted = layer + "/" + name;
    const auto alias = aliases_.find(wanted);
    const bool is_there = draft_.weights->tensors.contains(wanted);
    if (!is_there && alias == aliases_.end()) {
      if (!is_needed) return "";
      throw Error(ErrorCode::not_found, "there is no weight '" + wanted + "'.");
    }
    const std::string found = is_there ? wanted : alias->second;
    if (constants_.emplace(found, true).second) node("Const", found, {});
    return found;
  }

  // ---- one layer, called with some values
  Names apply(const Json& layer, const std::string& name, const Names& inputs, int depth) {
    const std::string kind = class_of(layer), own_name = name_of(layer);
    if (kind == "Sequential" || kind == "Functional" || kind == "Model")
      return read(layer, name + "/", &inputs, depth + 1);
    try {
      if (draft_.nodes.size() > 100'000) fail_reading("there are more than 100000 layers.");
      if (inputs.empty()) fail_reading("it has no input.");
      make(Layer{*this, kind, own_name, name, needed(layer, "config"), inputs});
    } catch (const Error& error) {
      throw Error(error.code(), "in the layer '" + name + "' (" + kind + "): " + error.what());
    }
    return {name};
  }

  struct Layer {
    LayersReader& reader;
    std::string kind, weights, name;  // where its weights are, and how its last node is called
    const Json& config;
    const Names& inputs;

    const Json* setting(const char* key) const { return member(config, key); }
    std::int64_t integer(const char* key, std::int64_t otherwise) const {
      return setting(key) ? whole_number(*setting(key), key) : otherwise;
    }
    double number_or(const char* key, double otherwise) const {
      return setting(key) ? number(*setting(key), key) : otherwise;
    }
    std::string text_or(const char* key, const std::string& otherwise) const {
      return setting(key) ? text(*setting(key), key) : otherwise;
    }
    bool is_set(const char* key, bool otherwise) const { return setting(key) ? truth(*setting(key), key) : otherwise; }
    std::vector<std::int64_t> pair(const char* key, std::int64_t otherwise) const {  // or one number for both
      if (!setting(key)) return {otherwise, otherwise};
      if (!setting(key)->is_array()) return std::vector<std::int64_t>(2, whole_number(*setting(key), key));
      std::vector<std::int64_t> numbers = whole_numbers(*setting(key), key);
      if (numbers.size() != 2) fail_reading("its '" + std::string(key) + "' is not two numbers.");
      return numbers;
    }
    std::vector<std::int64_t> window(const char* key, std::int64_t otherwise) const {  // as TensorFlow writes it
      const std::vector<std::int64_t> given = pair(key, otherwise);
      return {1, given[0], given[1], 1};
    }
    std::string weight(const char* key, bool is_needed) const { return reader.weight(weights, key, is_needed); }
    std::string padding() const { return text_or("padding", "valid") == "same" ? "SAME" : "VALID"; }
    void expect_channels_last() const {
      if (text_or("data_format", "channels_last") != "channels_last")
        throw Error(ErrorCode::unsupported, "its channels are first.");
    }
  };

  // The operator of an activation, which may be a name or a layer of its own.
  static std::string activation_of(const Layer& layer, const char* key) {
    const Json* given = layer.setting(key);
    if (!given) return "";
    const std::string name =
        given->is_string() ? given->get<std::string>() : text(needed(*given, "class_name"), "an activation");
    static const std::map<std::string, std::string> operators{{"linear", ""},
                                                              {"relu", "Relu"},
                                                              {"relu6", "Relu6"},
                                                              {"elu", "Elu"},
                                                              {"selu", "Selu"},
                                                              {"sigmoid", "Sigmoid"},
                                                              {"tanh", "Tanh"},
                                                              {"softmax", "Softmax"},
                                                              {"softplus", "Softplus"},
                                                              {"softsign", "Softsign"},
                                                              {"swish", "KerasSilu"},
                                                              {"silu", "KerasSilu"},
                                                              {"gelu", "KerasGelu"},
                                                              {"mish", "KerasMish"},
                                                              {"exponential", "Exp"},
                                                              {"log_softmax", "LogSoftmax"},
                                                              {"ReLU", "Relu"},
                                                              {"Softmax", "Softmax"},
                                                              {"hard_sigmoid", "KerasHardSigmoid"}};
    const auto known = operators.find(name);
    if (known == operators.end()) throw Error(ErrorCode::unsupported, "there is no activation '" + name + "'.");
    return known->second;
  }

  // The layer's operation, with a bias and an activation where it has them. The last node has the layer's name.
  void finish(const Layer& layer, NodeProto operation) {
    const std::string bias = layer.is_set("use_bias", true) ? layer.weight("bias", false) : "";
    const std::string activation = activation_of(layer, "activation");
    const auto add = [&](NodeProto made, bool is_last) {
      made.name = is_last ? layer.name : layer.name + "/" + made.op;
      draft_.nodes.push_back(std::move(made));
      return draft_.nodes.back().name;
    };
    std::string value = add(std::move(operation), bias.empty() && activation.empty());
    if (!bias.empty()) {
      NodeProto sum;
      sum.op = "BiasAdd";
      sum.inputs = {value, bias};
      value = add(std::move(sum), activation.empty());
    }
    if (!activation.empty()) {
      NodeProto activated;
      activated.op = activation;
      activated.inputs = {value};
      add(std::move(activated), true);
    }
  }

  static NodeProto windowed(const Layer& layer, const char* op, Names inputs) {
    layer.expect_channels_last();
    NodeProto made;
    made.op = op;
    made.inputs = std::move(inputs);
    Attributes attributes{made};
    attributes.text("padding", layer.padding());
    attributes.integers("strides", layer.window("strides", 1));
    attributes.integers("dilations", layer.window("dilation_rate", 1));
    return made;
  }

  void pool(const Layer& layer, const char* op) {
    layer.expect_channels_last();
    Attributes attributes{node(op, layer.name, {layer.inputs[0]})};
    attributes.text("padding", layer.padding());
    attributes.integers("ksize", layer.window("pool_size", 2));
    attributes.integers("strides", layer.window(layer.setting("strides") ? "strides" : "pool_size", 2));
  }

  void reduce_image(const Layer& layer, const char* op) {
    layer.expect_channels_last();
    const std::string axes = integers(layer.name + "/axes", {1, 2});
    Attributes{node(op, layer.name, {layer.inputs[0], axes})}.integer("keep_dims", layer.is_set("keepdims", false));
  }

  // [[top,bottom],[left,right]], [vertical,horizontal] or one number
  static std::vector<std::int64_t> margins(const Layer& layer, const char* key) {
    const Json* given = layer.setting(key);
    if (given && given->is_array() && given->size() == 2 && (*given)[0].is_array()) {
      std::vector<std::int64_t> all = whole_numbers((*given)[0], key);
      for (const std::int64_t width : whole_numbers((*given)[1], key)) all.push_back(width);
      if (all.size() != 4) fail_reading("its '" + std::string(key) + "' is not two pairs of numbers.");
      return all;
    }
    const std::vector<std::int64_t> both = layer.pair(key, 1);
    return {both[0], both[0], both[1], both[1]};
  }

  void chain(const Layer& layer, const char* op) {  // of two inputs at a time
    std::string value = layer.inputs[0];
    for (std::size_t i = 1; i < layer.inputs.size(); ++i) {
      const bool is_last = i + 1 == layer.inputs.size();
      const std::string name = is_last ? layer.name : layer.name + "/" + std::to_string(i);
      node(op, name, {value, layer.inputs[i]});
      value = name;
    }
    if (layer.inputs.size() == 1) node("Identity", layer.name, {value});
  }

  void make(const Layer& layer);

  Draft draft_;
  std::map<std::string, std::string> aliases_, models_;
  std::map<std::string, bool> constants_;
};

void LayersReader::make(const Layer& layer) {
  using Maker = std::function<void(LayersReader&, const Layer&)>;
  const auto plain = [](const char* op) -> Maker {
    return [op](LayersReader& self, const Layer& of) { self.node(op, of.name, {of.inputs[0]}); };
  };
  const auto chained = [](const char* op) -> Maker {
    return [op](LayersReader& self, const Layer& of) { self.chain(of, op); };
  };
  static const std::map<std::string, Maker> makers{
      {"Conv2D",
       [](LayersReader& self, const Layer& of) {
         self.finish(of, windowed(of, "Conv2D", {of.inputs[0], of.weight("kernel", true)}));
       }},
      {"DepthwiseConv2D",
       [](LayersReader& self, const Layer& of) {
         self.finish(of, windowed(of, "DepthwiseConv2dNative", {of.inputs[0], of.weight("depthwise_kernel", true)}));
       }},
      {"SeparableConv2D",
       [](LayersReader& self, const Layer& of) {
         NodeProto depthwise =
             windowed(of, "DepthwiseConv2dNative", {of.inputs[0], of.weight("depthwise_kernel", true)});
         depthwise.name = of.name + "/" + depthwise.op;
         const std::string between = depthwise.name;
         self.draft_.nodes.push_back(std::move(depthwise));
         NodeProto pointwise;
         pointwise.op = "Conv2D";
         pointwise.inputs = {between, of.weight("pointwise_kernel", true)};
         self.finish(of, std::move(pointwise));
       }},
      {"Conv2DTranspose",
       [](LayersReader& self, const Layer& of) {
         if (of.setting("output_padding")) throw Error(ErrorCode::unsupported, "it has an 'output_padding'.");
         self.finish(of, windowed(of, "Conv2DBackpropInput", {"", of.weight("kernel", true), of.inputs[0]}));
       }},
      {"Dense",
       [](LayersReader& self, const Layer& of) {
         NodeProto product;
         product.op = "MatMul";
         product.inputs = {of.inputs[0], of.weight("kernel", true)};
         self.finish(of, std::move(product));
       }},
      {"BatchNormalization",
       [](LayersReader& self, const Layer& of) {
         Attributes attributes{self.node("FusedBatchNormV3", of.name,
                                         {of.inputs[0], of.weight("gamma", false), of.weight("beta", false),
                                          of.weight("moving_mean", true), of.weight("moving_variance", true)})};
         attributes.number("epsilon", of.number_or("epsilon", 1e-3));
         const Json* axis = of.setting("axis");
         if (axis)
           attributes.integers(
               "axis", axis->is_array() ? whole_numbers(*axis, "axis") : std::vector{whole_number(*axis, "axis")});
       }},
      {"Activation",
       [](LayersReader& self, const Layer& of) {
         const std::string op = activation_of(of, "activation");
         self.node(op.empty() ? "Identity" : op, of.name, {of.inputs[0]});
       }},
      {"ReLU",
       [](LayersReader& self, const Layer& of) {
         Attributes attributes{self.node("KerasRelu", of.name, {of.inputs[0]})};
         attributes.number("negative_slope", of.number_or("negative_slope", 0));
         attributes.number("threshold", of.number_or("threshold", 0));
         if (of.setting("max_value")) attributes.number("max_value", of.number_or("max_value", 0));
       }},
      {"LeakyReLU",
       [](LayersReader& self, const Layer& of) {
         Attributes{self.node("LeakyRelu", of.name, {of.inputs[0]})}.number(
             "alpha", of.number_or("alpha", of.number_or("negative_slope", 0.3)));
       }},
      {"PReLU",
       [](LayersReader& self, const Layer& of) {
         self.node("Prelu", of.name, {of.inputs[0], of.weight("alpha", true)});
       }},
      {"ELU",
       [](LayersReader& self, const Layer& of) {
         Attributes{self.node("KerasElu", of.name, {of.inputs[0]})}.number("alpha", of.number_or("alpha", 1));
       }},
      {"ThresholdedReLU",
       [](LayersReader& self, const Layer& of) {
         Attributes{self.node("KerasThresholdedRelu", of.name, {of.inputs[0]})}.number("theta",
                                                                                       of.number_or("theta", 1));
       }},
      {"Softmax",
       [](LayersReader& self, const Layer& of) {
         Attributes{self.node("Softmax", of.name, {of.inputs[0]})}.integer("axis", of.integer("axis", -1));
       }},
      {"Rescaling",
       [](LayersReader& self, const Layer& of) {
         Attributes attributes{self.node("KerasScale", of.name, {of.inputs[0]})};
         attributes.number("scale", of.number_or("scale", 1));
         attributes.number("offset", of.number_or("offset", 0));
       }},
      {"MaxPooling2D", [](LayersReader& self, const Layer& of) { self.pool(of, "MaxPool"); }},
      {"AveragePooling2D", [](LayersReader& self, const Layer& of) { self.pool(of, "AvgPool"); }},
      {"GlobalMaxPooling2D", [](LayersReader& self, const Layer& of) { self.reduce_image(of, "Max"); }},
      {"GlobalAveragePooling2D", [](LayersReader& self, const Layer& of) { self.reduce_image(of, "Mean"); }},
      {"UpSampling2D",
       [](LayersReader& self, const Layer& of) {
         of.expect_channels_last();
         Attributes attributes{self.node("KerasUpSampling2D", of.name, {of.inputs[0]})};
         attributes.integers("size", of.pair("size", 2));
         const std::string how = of.text_or("interpolation", "nearest");
         if (how != "nearest" && how != "bilinear")
           throw Error(ErrorCode::unsupported, "its interpolation is '" + how + "'.");
         attributes.text("interpolation", how);
       }},
      {"ZeroPadding2D",
       [](LayersReader& self, const Layer& of) {
         of.expect_channels_last();
         const std::vector<std::int64_t> widths = margins(of, "padding");
         const std::string all =
             self.integers(of.name + "/paddings", {0, 0, widths[0], widths[1], widths[2], widths[3], 0, 0});
         self.node("Pad", of.name, {of.inputs[0], all});
       }},
      {"Cropping2D",
       [](LayersReader& self, const Layer& of) {
         of.expect_channels_last();
         const std::vector<std::int64_t> widths = margins(of, "cropping");
         const auto end = [](std::int64_t width) { return width == 0 ? INT32_MAX : -width; };
         const std::string begins = self.integers(of.name + "/begin", {0, widths[0], widths[2], 0}),
                           ends =
                               self.integers(of.name + "/end", {INT32_MAX, end(widths[1]), end(widths[3]), INT32_MAX}),
                           steps = self.integers(of.name + "/strides", {1, 1, 1, 1});
         self.node("StridedSlice", of.name, {of.inputs[0], begins, ends, steps});
       }},
      {"Concatenate",
       [](LayersReader& self, const Layer& of) {
         Names inputs = of.inputs;
         inputs.push_back(self.integers(of.name + "/axis", {of.integer("axis", -1)}, true));
         self.node("ConcatV2", of.name, std::move(inputs));
       }},
      {"Add", chained("AddV2")},
      {"Subtract", chained("Sub")},
      {"Multiply", chained("Mul")},
      {"Maximum", chained("Maximum")},
      {"Minimum", chained("Minimum")},
      {"Average",
       [](LayersReader& self, const Layer& of) {
         self.node("AddN", of.name + "/sum", of.inputs);
         Attributes{self.node("KerasScale", of.name, {of.name + "/sum"})}.number(
             "scale", 1.0 / static_cast<double>(of.inputs.size()));
       }},
      {"Reshape",
       [](LayersReader& self, const Layer& of) {
         std::vector<std::int64_t> sizes;
         for (const Json& size : list_in(of.config, "target_shape"))
           sizes.push_back(size.is_null() ? -1 : whole_number(size, "target_shape"));
         Attributes{self.node("KerasReshape", of.name, {of.inputs[0]})}.integers("target_shape", sizes);
       }},
      {"Flatten",
       [](LayersReader& self, const Layer& of) {
         of.expect_channels_last();
         Attributes{self.node("KerasReshape", of.name, {of.inputs[0]})}.integers("target_shape", {-1});
       }},
      {"Permute",
       [](LayersReader& self, const Layer& of) {
         std::vector<std::int64_t> axes = whole_numbers(needed(of.config, "dims"), "dims");
         axes.insert(axes.begin(), 0);
         self.node("Transpose", of.name, {of.inputs[0], self.integers(of.name + "/perm", axes)});
       }},
      {"Dropout", plain("Identity")},
      {"SpatialDropout1D", plain("Identity")},
      {"SpatialDropout2D", plain("Identity")},
      {"AlphaDropout", plain("Identity")},
      {"GaussianDropout", plain("Identity")},
      {"GaussianNoise", plain("Identity")},
      {"ActivityRegularization", plain("Identity")},
  };
  const auto maker = makers.find(layer.kind);
  if (maker == makers.end()) throw Error(ErrorCode::unsupported, "there is no layer " + layer.kind + ".");
  maker->second(*this, layer);
}

}  // namespace

Draft draft_of_layers(const Json& model, std::shared_ptr<Weights> weights) {
  const Json& topology = needed(model, "modelTopology");
  const Json* config = member(topology, "model_config");
  return LayersReader(std::move(weights)).draft(config ? *config : topology);
}

}  // namespace tessera::tfjs

// What each layer of Keras is made of.
#include <functional>

#include "models/tfjs/layers.h"

namespace tessera::tfjs {

using onnx::NodeProto;

// The operator of an activation, which may be a name or a layer of its own.
std::string LayersReader::activation_of(const Layer& layer, const char* key) {
  const Json* given = layer.setting(key);
  if (!given) return "";
  const std::string name = given->is_string() ? given->text() : text(needed(*given, "class_name"), "an activation");
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
void LayersReader::finish(const Layer& layer, NodeProto operation) {
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

NodeProto LayersReader::windowed(const Layer& layer, const char* op, Names inputs) {
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

void LayersReader::pool(const Layer& layer, const char* op) {
  layer.expect_channels_last();
  Attributes attributes{node(op, layer.name, {layer.inputs[0]})};
  attributes.text("padding", layer.padding());
  attributes.integers("ksize", layer.window("pool_size", 2));
  attributes.integers("strides", layer.window(layer.setting("strides") ? "strides" : "pool_size", 2));
}

void LayersReader::reduce_image(const Layer& layer, const char* op) {
  layer.expect_channels_last();
  const std::string axes = integers(layer.name + "/axes", {1, 2});
  Attributes{node(op, layer.name, {layer.inputs[0], axes})}.integer("keep_dims", layer.is_set("keepdims", false));
}

// [[top,bottom],[left,right]], [vertical,horizontal] or one number
std::vector<std::int64_t> LayersReader::margins(const Layer& layer, const char* key) {
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

void LayersReader::chain(const Layer& layer, const char* op) {  // of two inputs at a time
  std::string value = layer.inputs[0];
  for (std::size_t i = 1; i < layer.inputs.size(); ++i) {
    const bool is_last = i + 1 == layer.inputs.size();
    const std::string name = is_last ? layer.name : layer.name + "/" + std::to_string(i);
    node(op, name, {value, layer.inputs[i]});
    value = name;
  }
  if (layer.inputs.size() == 1) node("Identity", layer.name, {value});
}

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
  if (maker != makers.end()) maker->second(*this, layer);
  else if (!make_of_sequence(layer)) throw Error(ErrorCode::unsupported, "there is no layer " + layer.kind + ".");
}

}  // namespace tessera::tfjs

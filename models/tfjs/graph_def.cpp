// GraphDef, TensorFlow's own graphs, as JSON.
#include <map>
#include <set>

#include "models/tfjs/draft.h"
#include <tessera/error.h>

namespace tessera::tfjs {

namespace {

using onnx::NodeProto;
using onnx::Type;

// TensorFlow's DataType, by name or by number. TF.js computes 64-bit integers with 32 bits, as tessera does.
Type element_type(const Json& value) {
  struct Row {
    std::string_view name;
    std::int64_t number;
    Type type;
  };
  static constexpr Row rows[] = {
      {"DT_FLOAT", 1, Type::float32},     {"DT_INT32", 3, Type::int32},   {"DT_BOOL", 10, Type::boolean},
      {"DT_DOUBLE", 2, Type::float32},    {"DT_UINT8", 4, Type::uint8},   {"DT_INT16", 5, Type::int32},
      {"DT_INT8", 6, Type::int8},         {"DT_STRING", 7, Type::string}, {"DT_INT64", 9, Type::int32},
      {"DT_BFLOAT16", 14, Type::float32}, {"DT_UINT16", 17, Type::int32}, {"DT_HALF", 19, Type::float16},
      {"DT_UINT32", 22, Type::int32},     {"DT_UINT64", 23, Type::int32}};
  for (const Row& row : rows)
    if (value.is_string() ? value.view() == row.name : value.kind() == Json::Kind::whole && value.whole() == row.number)
      return row.type;
  return Type::undefined;
}

// Bytes of texts: base64, or a list of numbers.
std::string decoded_text(const Json& value) {
  std::string result;
  if (value.is_array()) {
    for (const std::int64_t code : whole_numbers(value, "a text")) result += static_cast<char>(code);
    return result;
  }
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text(value, "a text")) {
    static const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    if (c == '=') break;
    const std::size_t place = letters.find(c == '-' ? '+' : c == '_' ? '/' : c);
    if (place == std::string::npos) fail_reading("a text is not base64.");
    bits = bits << 6 | static_cast<std::uint32_t>(place);
    count += 6;
    if (count >= 8) result += static_cast<char>(bits >> (count -= 8) & 0xff);
  }
  return result;
}

// None: of any shape.
bool read_shape(const Json& shape, std::vector<onnx::ValueInfoProto::Dimension>& dims) {
  if (const Json* unknown = member(shape, "unknownRank"); unknown && truth(*unknown, "unknownRank")) return false;
  if (!member(shape, "dim")) return true;
  for (const Json& dimension : list_in(shape, "dim")) {
    const Json* size = member(dimension, "size");
    const std::int64_t given = size ? whole_number(*size, "a size") : 0;
    dims.push_back({given >= 0 ? std::optional(given) : std::nullopt, ""});
  }
  return true;
}

void read_list(const Json& list, onnx::AttributeProto& attribute) {
  for (const auto& [kind, values] : list.items()) {
    if (kind == "i" && !values.is_null()) attribute.integers = whole_numbers(values, "a list");
    if (kind == "f")
      for (const Json& value : values) attribute.numbers.push_back(static_cast<float>(number(value, "a number")));
    if (kind == "s")
      for (const Json& value : values) attribute.texts.push_back(decoded_text(value));
  }
}

void read_attribute(std::string_view name, const Json& value, NodeProto& node) {
  onnx::AttributeProto& attribute = node.attributes.emplace_back();
  attribute.name = name;
  for (const auto& [kind, given] : value.items()) {
    if (given.is_null()) continue;
    if (kind == "i") attribute.integer = whole_number(given, {"its", name});
    else if (kind == "b") attribute.integer = truth(given, {"its", name});
    else if (kind == "f") attribute.number = static_cast<float>(number(given, {"its", name}));
    else if (kind == "s") attribute.text = decoded_text(given);
    else if (kind == "type") attribute.integer = static_cast<std::int64_t>(element_type(given));
    else if (kind == "list") read_list(given, attribute);
    else if (kind == "func") attribute.reference = text(needed(given, "name"), "a function");
  }
}

NodeProto read_node(const Json& source) {
  NodeProto node;
  node.name = text(needed(source, "name"), "the name of a node");
  node.op = text(needed(source, "op"), {"the operator of the node", node.name});
  try {
    if (member(source, "input"))
      for (const Json& input : list_in(source, "input")) {
        const std::string_view name = view(input, "the name of an input");
        if (!name.starts_with('^')) node.inputs.emplace_back(name);  // those only say what comes before
      }
    if (const Json* attributes = member(source, "attr")) {
      node.attributes.reserve(attributes->items().size());
      for (const auto& [name, value] : attributes->items())
        if (name != "value" && name != "shape" && name != "_output_shapes") read_attribute(name, value, node);
    }
  } catch (const Error& error) {
    throw Error(error.code(), "in " + description(node) + ": " + error.what());
  }
  return node;
}

Draft::End read_end(const std::string& key, const Json& source) {
  Draft::End end;
  end.info.name = key.ends_with(":0") ? key.substr(0, key.size() - 2) : key;
  end.result = member(source, "name") ? text(*member(source, "name"), {"the name of", key}) : key;
  if (const Json* type = member(source, "dtype")) end.info.type = element_type(*type);
  if (const Json* shape = member(source, "tensorShape")) end.info.has_shape = read_shape(*shape, end.info.dims);
  return end;
}

}  // namespace

Result result_named(std::string_view name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return {name, 0};
  constexpr std::int64_t most = 1024;
  const std::int64_t index = whole_number(name.substr(name.rfind(':') + 1), {"the number of the result", name});
  if (index < 0 || index > most) fail_reading("there is no result '" + std::string(name) + "'.");
  return {name.substr(0, colon), static_cast<std::size_t>(index)};
}

namespace {

// In functions results have names too: "node:indices:0" is the second one of a TopKV2.
std::string numbered(const std::string& input, const std::map<std::string, std::string>& operators) {
  const std::size_t colon = input.find(':'), last = input.rfind(':');
  if (colon == std::string::npos || colon == last) return input;
  static const std::map<std::string, int> places{{"TopKV2/indices", 1},
                                                 {"MaxPoolWithArgmax/argmax", 1},
                                                 {"Unique/idx", 1},
                                                 {"UniqueV2/idx", 1},
                                                 {"UniqueWithCounts/idx", 1},
                                                 {"UniqueWithCounts/count", 2},
                                                 {"NonMaxSuppressionV4/valid_outputs", 1},
                                                 {"NonMaxSuppressionV5/selected_scores", 1},
                                                 {"NonMaxSuppressionV5/valid_outputs", 2}};
  const std::string node = input.substr(0, colon);
  const auto op = operators.find(node);
  if (op == operators.end()) return input;
  const auto place = places.find(op->second + "/" + input.substr(colon + 1, last - colon - 1));
  return place == places.end() ? node + input.substr(last) : node + ":" + std::to_string(place->second);
}

}  // namespace

Draft draft_of_function(const std::string& name, std::shared_ptr<Weights> weights,
                        std::shared_ptr<Functions> functions) {
  constexpr int most_calls = 1000;
  const auto place = functions->by_name.find(name);
  if (place == functions->by_name.end()) throw Error(ErrorCode::not_found, "there is no function '" + name + "'.");
  if (++functions->calls > most_calls)
    fail_reading("functions are called at more than " + std::to_string(most_calls) + " places.");
  const Json& function = *place->second;
  const Json& signature = needed(function, "signature");
  Draft draft{.nodes = {}, .weights = std::move(weights), .functions = std::move(functions)};
  if (member(signature, "inputArg"))
    for (const Json& argument : list_in(signature, "inputArg")) {
      NodeProto& node = draft.nodes.emplace_back();
      node.name = text(needed(argument, "name"), "an argument");
      node.op = "Placeholder";
      Draft::End end{.info = {}, .result = node.name};
      end.info.name = node.name;
      draft.inputs.push_back(std::move(end));
    }
  std::map<std::string, std::string> operators;
  if (member(function, "nodeDef"))
    for (const Json& source : list_in(function, "nodeDef")) {
      NodeProto node = read_node(source);
      operators[node.name] = node.op;
      if (node.op != "NoOp") draft.nodes.push_back(std::move(node));
    }
  for (NodeProto& node : draft.nodes)
    for (std::string& input : node.inputs) input = numbered(input, operators);
  for (const Json& result : list_in(signature, "outputArg")) {
    const std::string key = text(needed(result, "name"), "a result");
    Draft::End end{.info = {}, .result = numbered(text(needed(needed(function, "ret"), key.c_str()), key), operators)};
    end.info.name = name + "/" + key;
    draft.outputs.push_back(std::move(end));
  }
  return draft;
}

Draft draft_of_graph(const Json& model, std::shared_ptr<Weights> weights) {
  Draft draft{.nodes = {}, .weights = std::move(weights), .functions = std::make_shared<Functions>()};
  if (const Json* library = member(needed(model, "modelTopology"), "library"); library && member(*library, "function"))
    for (const Json& function : list_in(*library, "function"))
      draft.functions->by_name[text(needed(needed(function, "signature"), "name"), "a function")] = &function;
  std::map<std::string, const Json*, std::less<>> placeholders;
  const Json& nodes = list_in(needed(model, "modelTopology"), "node");
  draft.nodes.reserve(nodes.size());
  for (const Json& source : nodes) {
    NodeProto node = read_node(source);
    if (node.op == "Placeholder") placeholders[node.name] = &source;
    if (node.op != "NoOp") draft.nodes.push_back(std::move(node));
  }
  const Json* signature = member(model, "signature");
  if (const Json* metadata = member(model, "userDefinedMetadata"); !signature && metadata)
    signature = member(*metadata, "signature");
  for (const auto& [name, ends] : {std::pair{"inputs", &draft.inputs}, std::pair{"outputs", &draft.outputs}})
    if (const Json* given = signature ? member(*signature, name) : nullptr)
      for (const auto& [key, source] : given->items()) ends->push_back(read_end(std::string(key), source));
  std::erase_if(draft.inputs,  // resources, such as tables, are none
                [&](const Draft::End& input) { return !placeholders.contains(result_named(input.result).node); });
  for (const Draft::End& input : draft.inputs) placeholders.erase(std::string(result_named(input.result).node));
  for (const auto& [name, source] : placeholders) {
    Draft::End end{.info = {}, .result = name};
    end.info.name = name;
    const Json* attributes = member(*source, "attr");
    const auto attribute = [&](const char* key, const char* kind) -> const Json* {
      const Json* value = attributes ? member(*attributes, key) : nullptr;
      return value ? member(*value, kind) : nullptr;
    };
    if (const Json* type = attribute("dtype", "type")) end.info.type = element_type(*type);
    if (const Json* shape = attribute("shape", "shape")) end.info.has_shape = read_shape(*shape, end.info.dims);
    draft.inputs.push_back(std::move(end));
  }
  if (draft.outputs.empty()) {  // those that no node takes
    std::set<std::string_view> taken;
    for (const NodeProto& node : draft.nodes)
      for (const std::string& input : node.inputs) taken.insert(result_named(input).node);
    for (const NodeProto& node : draft.nodes)
      if (!taken.contains(node.name) && node.op != "Const" && node.op != "Placeholder") {
        draft.outputs.push_back({.info = {}, .result = node.name});
        draft.outputs.back().info.name = node.name;
      }
  }
  return draft;
}

}  // namespace tessera::tfjs

// Writes TF.js models: nodes and weights into a folder.
#pragma once
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/temporary_folder.h"

namespace tessera::test {

using Json = nlohmann::ordered_json;

inline Json list_of(const std::vector<int>& integers) { return {{"list", {{"i", integers}}}}; }
inline Json text_of(const std::string& text) {  // as the numbers of its letters, which is one of two ways
  Json codes = Json::array();
  for (const char c : text) codes.push_back(static_cast<int>(c));
  return {{"s", codes}};
}
inline Json type_of(const char* name) { return {{"type", name}}; }
inline const Json same = {{"s", "U0FNRQ=="}};  // base64 of SAME, the other way
inline const Json valid = {{"s", "VkFMSUQ="}};
inline const Json is_true = {{"b", true}};

inline Json node_of(const char* op, const char* name, const std::vector<std::string>& inputs,
                    const Json& attributes = Json::object()) {
  return {{"name", name}, {"op", op}, {"input", inputs}, {"attr", attributes}};
}
inline Json function_of(const char* name, const std::vector<std::string>& arguments, const std::vector<Json>& nodes,
                        const Json& results) {
  Json inputs = Json::array(), outputs = Json::array();
  for (const std::string& argument : arguments) inputs.push_back({{"name", argument}});
  for (const auto& [key, value] : results.items()) outputs.push_back({{"name", key}});
  return {{"signature", {{"name", name}, {"inputArg", inputs}, {"outputArg", outputs}}},
          {"nodeDef", nodes},
          {"ret", results}};
}
inline Json function_named(const char* name) { return {{"func", {{"name", name}}}}; }

class TfjsModel {
 public:
  TfjsModel& node(const std::string& op, const std::string& name, const std::vector<std::string>& inputs,
                  const Json& attributes = Json::object()) {
    nodes_.push_back({{"name", name}, {"op", op}, {"input", inputs}, {"attr", attributes}});
    return *this;
  }
  TfjsModel& input(const std::string& name, const std::vector<int>& shape, const char* type = "DT_FLOAT") {
    Json dims = Json::array();
    for (const int size : shape) dims.push_back({{"size", std::to_string(size)}});
    return node("Placeholder", name, {}, {{"dtype", type_of(type)}, {"shape", {{"shape", {{"dim", dims}}}}}});
  }
  template <class T>
  TfjsModel& weight(const std::string& name, const std::vector<int>& shape, const std::vector<T>& values,
                    const char* type = std::is_same_v<T, float> ? "float32" : "int32", const Json& quantization = {}) {
    Json entry{{"name", name}, {"shape", shape}, {"dtype", type}};
    if (!quantization.is_null()) entry["quantization"] = quantization;
    weights_.push_back(entry);
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return *this;
  }
  // A weight, and the node for it.
  template <class T>
  TfjsModel& constant(const std::string& name, const std::vector<int>& shape, const std::vector<T>& values,
                      const char* type = std::is_same_v<T, float> ? "float32" : "int32",
                      const Json& quantization = {}) {
    node("Const", name, {});
    return weight(name, shape, values, type, quantization);
  }

  Json json() const {
    Json whole = topology.is_null() ? Json{{"node", nodes_}} : topology;
    if (!functions.empty()) whole["library"]["function"] = functions;
    return {{"format", "graph-model"},
            {"modelTopology", whole},
            {"signature", signature},
            {"weightsManifest", {{{"paths", {"first.bin", "second.bin"}}, {"weights", weights_}}}}};
  }
  // The file, with its weights in two files beside it.
  std::filesystem::path saved(const TemporaryFolder& folder) const {
    const std::size_t half = bytes_.size() / 2;
    std::ofstream(folder / "first.bin", std::ios::binary) << bytes_.substr(0, half);
    std::ofstream(folder / "second.bin", std::ios::binary) << bytes_.substr(half);
    std::ofstream(folder / "model.json") << json();
    return folder / "model.json";
  }

  Json signature{}, topology{};  // a topology is given instead of nodes
  std::vector<Json> functions{};

 private:
  Json nodes_ = Json::array(), weights_ = Json::array();
  std::string bytes_;
};

}  // namespace tessera::test

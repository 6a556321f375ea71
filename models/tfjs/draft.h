// A network on its way from TF.js's files to a graph: nodes in any order, which name the results of others.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/tfjs/weights.h"

namespace tessera::tfjs {

// The functions of a GraphDef, by their names, for the nodes that call them.
struct Functions {
  std::map<std::string, const Json*> by_name{};
  int calls = 0;  // of them that were read
};

struct Draft {
  // Inputs are "node", or "node:2" for its third result; an empty one is not given. Outputs are filled in later.
  std::vector<onnx::NodeProto> nodes;
  std::shared_ptr<Weights> weights;  // a node of the operator Const is the weight of its name

  // A public name, and the result that it stands for. Where the type is undefined, the operator says it.
  struct End {
    onnx::ValueInfoProto info;
    std::string result;
  };
  std::vector<End> inputs, outputs;
  std::size_t states = 0;                  // see ModelProto: so many of both, the last ones
  std::shared_ptr<Functions> functions{};  // none of layers
};

Draft draft_of_graph(const Json& model, std::shared_ptr<Weights>);  // a GraphDef
// The function that an attribute of a node names: its arguments are inputs, what it returns are outputs.
Draft draft_of_function(const std::string& name, std::shared_ptr<Weights>, std::shared_ptr<Functions>);
Draft draft_of_layers(const Json& model, std::shared_ptr<Weights>);  // Keras

// ---- for who writes drafts
struct Attributes {  // of a node
  onnx::NodeProto& node;

  onnx::AttributeProto& add(const std::string& name) {
    node.attributes.emplace_back().name = name;
    return node.attributes.back();
  }
  void integer(const std::string& name, std::int64_t value) { add(name).integer = value; }
  void number(const std::string& name, double value) { add(name).number = static_cast<float>(value); }
  void text(const std::string& name, std::string value) { add(name).text = std::move(value); }
  void integers(const std::string& name, std::vector<std::int64_t> value) { add(name).integers = std::move(value); }
};

struct Result {  // of a node
  std::string_view node;
  std::size_t index = 0;
};
Result result_named(std::string_view);

}  // namespace tessera::tfjs

#include "models/tfjs/reader.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "models/tfjs/draft.h"
#include <tessera/error.h>

namespace tessera::tfjs {

namespace {

using onnx::GraphProto;
using onnx::NodeProto;
using onnx::Type;

// The type of a node's result where no signature says it.
Type type_of_result(const NodeProto& node, std::size_t index) {
  static const std::set<std::string> truths{"Equal",        "NotEqual",   "Less",      "LessEqual",  "Greater",
                                            "GreaterEqual", "LogicalAnd", "LogicalOr", "LogicalNot", "All",
                                            "Any",          "IsNan",      "IsInf",     "IsFinite"};
  static const std::set<std::string> integers{"ArgMax",
                                              "ArgMin",
                                              "Shape",
                                              "ShapeN",
                                              "Size",
                                              "TensorListLength",
                                              "Rank",
                                              "Where",
                                              "NonMaxSuppressionV2",
                                              "NonMaxSuppressionV3",
                                              "NonMaxSuppressionV4"};
  if (truths.contains(node.op)) return Type::boolean;
  if (integers.contains(node.op)) return Type::int32;
  if (node.op == "NonMaxSuppressionV5") return index == 1 ? Type::float32 : Type::int32;
  if ((node.op == "TopKV2" || node.op == "MaxPoolWithArgmax" || node.op.starts_with("Unique")) && index >= 1)
    return Type::int32;
  for (const char* name : {"DstT", "dtype", "element_dtype", "T"})
    for (const onnx::AttributeProto& attribute : node.attributes)
      if (attribute.name == name) return static_cast<Type>(attribute.integer);
  return Type::float32;
}

// Puts nodes into an order in which each comes after those that it needs, and leaves out what no output needs.
class Assembly {
 public:
  explicit Assembly(Draft draft, int depth = 0)
      : draft_(std::move(draft)), states_(draft_.nodes.size()), depth_(depth) {
    for (std::size_t i = 0; i < draft_.nodes.size(); ++i)
      if (!by_name_.emplace(draft_.nodes[i].name, i).second)
        fail_reading("there are two nodes of the name '" + draft_.nodes[i].name + "'.");
  }

  GraphProto graph() && {
    if (draft_.outputs.empty()) fail_reading("nothing in it is an output.");
    for (const Draft::End& input : draft_.inputs) make_public(input);
    for (const Draft::End& output : draft_.outputs) make_public(output);
    for (const Draft::End& output : draft_.outputs) visit(index_of(result_named(output.result).node, nullptr));
    count_results();
    for (Draft::End& input : draft_.inputs) {
      input.info.name = value_name(result_named(input.result));
      graph_.inputs.push_back(std::move(input.info));
    }
    for (const std::size_t node : order_) take(draft_.nodes[node]);
    for (Draft::End& output : draft_.outputs) add_output(std::move(output));
    return std::move(graph_);
  }

 private:
  enum class State : std::uint8_t { unseen, open, done };

  std::size_t index_of(const std::string& name, const NodeProto* user) const {  // null: an output
    const auto place = by_name_.find(name);
    if (place == by_name_.end())
      throw Error(ErrorCode::not_found,
                  (user ? description(*user) : "an output") + " needs '" + name + "', which no node is.");
    return place->second;
  }

  [[noreturn]] static void fail_turning(const NodeProto& node) {
    static const std::set<std::string> of_loops{"Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch"};
    if (of_loops.contains(node.op))
      throw Error(ErrorCode::unsupported, description(node) + " is part of a loop, and those are not read.");
    fail_reading(description(node) + " needs its own result.");
  }

  // Without recursion, for files are as deep as they like.
  void visit(std::size_t first) {
    std::vector<std::pair<std::size_t, std::size_t>> path;  // a node, and how many of its inputs are done
    const auto enter = [&](std::size_t node) {
      if (states_[node] == State::done) return;
      if (states_[node] == State::open) fail_turning(draft_.nodes[node]);
      states_[node] = State::open;
      path.emplace_back(node, 0);
    };
    enter(first);
    while (!path.empty()) {
      const std::size_t current = path.back().first;
      const NodeProto& node = draft_.nodes[current];
      if (path.back().second == node.inputs.size()) {
        states_[current] = State::done;
        order_.push_back(current);
        path.pop_back();
        continue;
      }
      const std::string& input = node.inputs[path.back().second++];
      if (!input.empty()) enter(index_of(result_named(input).node, &node));
    }
  }

  // Public names are those of values, where they are not those of others.
  void make_public(const Draft::End& end) {
    const Result result = result_named(end.result);
    const std::string inner = inner_name(result);
    if (end.info.name == inner || by_name_.contains(end.info.name) || public_names_.contains(inner)) return;
    if (used_names_.insert(end.info.name).second) public_names_[inner] = end.info.name;
  }

  static std::string inner_name(const Result& result) {
    return result.index == 0 ? result.node : result.node + ":" + std::to_string(result.index);
  }
  std::string value_name(const Result& result) const {
    const std::string inner = inner_name(result);
    const auto place = public_names_.find(inner);
    return place == public_names_.end() ? inner : place->second;
  }

  void count_results() {
    const auto count = [&](const std::string& name) {
      const Result result = result_named(name);
      std::size_t& results = results_[result.node];
      results = std::max(results, result.index + 1);
    };
    for (const std::size_t node : order_)
      for (const std::string& input : draft_.nodes[node].inputs)
        if (!input.empty()) count(input);
    for (const Draft::End& output : draft_.outputs) count(output.result);
  }

  void take(NodeProto& node) {
    if (node.op == "Placeholder") return;
    if (node.op == "Const") {
      const auto weight = draft_.weights->tensors.find(node.name);
      if (weight == draft_.weights->tensors.end())
        throw Error(ErrorCode::not_found, "in " + description(node) + ": there is no weight of that name.");
      graph_.initializers.push_back(weight->second);
      graph_.initializers.back().name = value_name({node.name, 0});
      return;
    }
    if (static_cast<int>(node.inputs.size()) > 100'000) fail_reading(description(node) + " has too many inputs.");
    for (std::string& input : node.inputs)
      if (!input.empty()) input = value_name(result_named(input));
    for (std::size_t i = 0; i < results_[node.name]; ++i) node.outputs.push_back(value_name({node.name, i}));
    node.domain = domain;
    for (onnx::AttributeProto& attribute : node.attributes)
      if (!attribute.reference.empty()) attribute.graph = function(std::exchange(attribute.reference, {}));
    kept_.emplace(node.name, graph_.nodes.size());
    graph_.nodes.push_back(std::move(node));
  }

  std::unique_ptr<GraphProto> function(const std::string& name) const {
    constexpr int deepest = 16;
    if (depth_ == deepest) fail_reading("functions call functions, more than " + std::to_string(deepest) + " deep.");
    return std::make_unique<GraphProto>(
        Assembly(draft_of_function(name, draft_.weights, draft_.functions), depth_ + 1).graph());
  }

  void add_output(Draft::End output) {
    const Result result = result_named(output.result);
    if (output.info.type == Type::undefined) {
      const auto node = kept_.find(result.node);
      output.info.type = node == kept_.end() ? Type::float32 : type_of_result(graph_.nodes[node->second], result.index);
    }
    std::string value = value_name(result);
    const bool is_there = std::ranges::find(graph_.outputs, value, &onnx::ValueInfoProto::name) != graph_.outputs.end();
    if (is_there) {  // a second name for the same result
      NodeProto& second = graph_.nodes.emplace_back();
      second.name = second.op = "Identity";
      second.domain = domain;
      second.inputs = {value};
      value = output.info.name;
      if (by_name_.contains(value) || !used_names_.insert(value).second)
        fail_reading("there are two outputs of the name '" + value + "'.");
      second.outputs = {value};
    }
    output.info.name = value;
    graph_.outputs.push_back(std::move(output.info));
  }

  Draft draft_;
  std::unordered_map<std::string, std::size_t> by_name_, results_, kept_;
  std::unordered_map<std::string, std::string> public_names_;
  std::set<std::string> used_names_;
  std::vector<State> states_;
  int depth_;  // of functions in functions
  std::vector<std::size_t> order_;
  GraphProto graph_;
};

}  // namespace

bool is_model(onnx::Bytes file) {
  const auto is_space = [](std::byte byte) {
    const char c = static_cast<char>(byte);
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
  };
  const auto first = std::ranges::find_if_not(file, is_space);
  return first != file.end() && *first == std::byte{'{'};
}

onnx::ModelProto read_model(onnx::Bytes file, const std::filesystem::path& folder, const onnx::Progress& progress) {
  const JsonDocument document(file);
  const Json& model = document.root();
  const Json& topology = needed(model, "modelTopology");
  std::shared_ptr<Weights> weights = std::make_shared<Weights>();
  if (const Json* manifest = member(model, "weightsManifest")) weights = read_weights(*manifest, folder, progress);
  onnx::ModelProto proto;
  proto.opset = 17;  // for operators that are ONNX's too
  proto.weights = weights;
  Draft draft = member(topology, "node") ? draft_of_graph(model, weights) : draft_of_layers(model, weights);
  proto.states = draft.states;
  proto.first_state_output = draft.outputs.size() - draft.states;
  proto.graph = Assembly(std::move(draft)).graph();
  return proto;
}

}  // namespace tessera::tfjs

#include "models/tfjs/reader.h"

#include <algorithm>
#include <map>
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
  explicit Assembly(Draft draft, int depth = 0) : draft_(std::move(draft)), nodes_(draft_.nodes.size()), depth_(depth) {
    by_name_.reserve(draft_.nodes.size());
    for (std::size_t i = 0; i < draft_.nodes.size(); ++i)
      if (!by_name_.emplace(draft_.nodes[i].name, i).second)
        fail_reading("there are two nodes of the name '" + draft_.nodes[i].name + "'.");
  }

  GraphProto graph() && {
    if (draft_.outputs.empty()) fail_reading("nothing in it is an output.");
    std::vector<Link> inputs, outputs;
    for (const Draft::End& input : draft_.inputs)
      make_public(input.info.name, inputs.emplace_back(link_to(input.result)));
    for (const Draft::End& output : draft_.outputs)
      make_public(output.info.name, outputs.emplace_back(link_to(output.result)));
    for (const Link& output : outputs) visit(output.node);
    for (const Link& output : outputs) count(output);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      draft_.inputs[i].info.name = value_name(inputs[i]);
      graph_.inputs.push_back(std::move(draft_.inputs[i].info));
    }
    for (const std::size_t node : order_) name_values(node);
    for (std::size_t i = 0; i < outputs.size(); ++i) add_output(std::move(draft_.outputs[i].info), outputs[i]);
    for (const std::size_t node : order_) take(node);
    std::ranges::move(second_names_, std::back_inserter(graph_.nodes));
    return std::move(graph_);
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  struct Link {  // a result of a node
    std::size_t node, index;
    auto operator<=>(const Link&) const = default;
  };

  // What is known of each node of the draft.
  enum class State : std::uint8_t { unseen, open, done };
  struct Known {
    State state = State::unseen;
    bool is_public = false;   // a result of it is
    std::size_t results = 0;  // that anybody takes
    std::vector<Link> inputs{};
  };

  Link link_to(std::string_view result, const NodeProto* user = nullptr) const {  // null: an output
    const Result named = result_named(result);
    const auto place = by_name_.find(named.node);
    if (place == by_name_.end())
      throw Error(ErrorCode::not_found, (user ? description(*user) : "an output") + " needs '" +
                                            std::string(named.node) + "', which no node is.");
    return {place->second, named.index};
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
      Known& known = nodes_[node];
      if (known.state == State::done) return;
      if (known.state == State::open) fail_turning(draft_.nodes[node]);
      known.state = State::open;
      path.emplace_back(node, 0);
    };
    enter(first);
    while (!path.empty()) {
      const std::size_t current = path.back().first;
      const NodeProto& node = draft_.nodes[current];
      Known& known = nodes_[current];
      if (path.back().second == node.inputs.size()) {
        known.state = State::done;
        order_.push_back(current);
        path.pop_back();
        continue;
      }
      const std::string& input = node.inputs[path.back().second++];
      const Link link = known.inputs.emplace_back(input.empty() ? Link{none, 0} : link_to(input, &node));
      if (link.node == none) continue;
      count(link);
      enter(link.node);
    }
  }

  void count(const Link& link) {
    std::size_t& results = nodes_[link.node].results;
    results = std::max(results, link.index + 1);
  }

  std::string inner_name(const Link& link) const {
    const std::string& node = draft_.nodes[link.node].name;
    return link.index == 0 ? node : node + ":" + std::to_string(link.index);
  }

  // Public names are those of values, where they are not those of others.
  void make_public(const std::string& name, const Link& link) {
    if (name == inner_name(link) || by_name_.contains(name) || public_names_.contains(link)) return;
    if (!used_names_.insert(name).second) return;
    public_names_[link] = name;
    nodes_[link.node].is_public = true;
  }

  std::string value_name(const Link& link) const {
    if (nodes_[link.node].is_public)
      if (const auto place = public_names_.find(link); place != public_names_.end()) return place->second;
    return inner_name(link);
  }

  void name_values(std::size_t index) {
    NodeProto& node = draft_.nodes[index];
    const Known& known = nodes_[index];
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (const Link& link = known.inputs[i]; link.node != none) node.inputs[i] = value_name(link);
    node.outputs.reserve(known.results);
    for (std::size_t i = 0; i < known.results; ++i) node.outputs.push_back(value_name({index, i}));
  }

  void take(std::size_t index) {
    NodeProto& node = draft_.nodes[index];
    if (node.op == "Placeholder") return;
    if (node.op == "Const") {
      const auto weight = draft_.weights->tensors.find(node.name);
      if (weight == draft_.weights->tensors.end())
        throw Error(ErrorCode::not_found, "in " + description(node) + ": there is no weight of that name.");
      graph_.initializers.push_back(weight->second);
      graph_.initializers.back().name = value_name({index, 0});
      return;
    }
    if (static_cast<int>(node.inputs.size()) > 100'000) fail_reading(description(node) + " has too many inputs.");
    node.domain = domain;
    for (onnx::AttributeProto& attribute : node.attributes)
      if (!attribute.reference.empty()) attribute.graph = function(std::exchange(attribute.reference, {}));
    graph_.nodes.push_back(std::move(node));
  }

  std::unique_ptr<GraphProto> function(const std::string& name) const {
    constexpr int deepest = 16;
    if (depth_ == deepest) fail_reading("functions call functions, more than " + std::to_string(deepest) + " deep.");
    return std::make_unique<GraphProto>(
        Assembly(draft_of_function(name, draft_.weights, draft_.functions), depth_ + 1).graph());
  }

  void add_output(onnx::ValueInfoProto info, const Link& link) {
    if (info.type == Type::undefined) {
      const NodeProto& node = draft_.nodes[link.node];
      const bool is_kept = node.op != "Placeholder" && node.op != "Const";
      info.type = is_kept ? type_of_result(node, link.index) : Type::float32;
    }
    std::string value = value_name(link);
    const bool is_there = std::ranges::find(graph_.outputs, value, &onnx::ValueInfoProto::name) != graph_.outputs.end();
    if (is_there) {  // a second name for the same result
      NodeProto& second = second_names_.emplace_back();
      second.name = second.op = "Identity";
      second.domain = domain;
      second.inputs = {value};
      value = info.name;
      if (by_name_.contains(value) || !used_names_.insert(value).second)
        fail_reading("there are two outputs of the name '" + value + "'.");
      second.outputs = {value};
    }
    info.name = value;
    graph_.outputs.push_back(std::move(info));
  }

  Draft draft_;
  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::vector<Known> nodes_;
  std::map<Link, std::string> public_names_;
  std::set<std::string> used_names_;
  int depth_;  // of functions in functions
  std::vector<std::size_t> order_;
  std::vector<NodeProto> second_names_;
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

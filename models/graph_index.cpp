#include "models/graph_index.h"

namespace tessera::onnx {

GraphIndex::GraphIndex(const GraphProto& graph) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for (const std::string& output : graph.nodes[i].outputs) makers_[output] = i;
  for (const TensorProto& tensor : graph.initializers) constants_[tensor.name] = &tensor;
  for (const NodeProto& node : graph.nodes)
    if (node.op == "Constant" && node.outputs.size() == 1)
      for (const AttributeProto& attribute : node.attributes)
        if (attribute.tensor) constants_[node.outputs[0]] = attribute.tensor.get();
  count_readers(graph);
}

void GraphIndex::count_readers(const GraphProto& graph) {
  for (const ValueInfoProto& output : graph.outputs) ++readers_[output.name];
  for (const NodeProto& node : graph.nodes) {
    for (const std::string& input : node.inputs) ++readers_[input];
    for (const AttributeProto& attribute : node.attributes)
      if (attribute.graph) count_readers(*attribute.graph);
  }
}

std::optional<std::size_t> GraphIndex::maker(const std::string& value) const {
  const auto place = makers_.find(value);
  return place == makers_.end() ? std::nullopt : std::optional(place->second);
}

const TensorProto* GraphIndex::constant(const std::string& value) const {
  const auto place = constants_.find(value);
  return place == constants_.end() ? nullptr : place->second;
}

int GraphIndex::readers(const std::string& value) const {
  const auto place = readers_.find(value);
  return place == readers_.end() ? 0 : place->second;
}

}  // namespace tessera::onnx

// Which node makes each value of a graph, how many inputs read it, and which values are constants of the file.
#pragma once
#include <optional>
#include <unordered_map>

#include "models/proto.h"

namespace tessera::onnx {

// Of the graph as it was when the index was made. Nodes may be replaced where they stand.
class GraphIndex {
 public:
  explicit GraphIndex(const GraphProto&);

  std::optional<std::size_t> maker(const std::string& value) const;  // a place among the graph's nodes
  const TensorProto* constant(const std::string& value) const;       // null where the value is none
  int readers(const std::string& value) const;  // outputs of the graph and inputs in graphs of its nodes count too

 private:
  void count_readers(const GraphProto&);
  std::unordered_map<std::string, std::size_t> makers_;
  std::unordered_map<std::string, const TensorProto*> constants_;
  std::unordered_map<std::string, int> readers_;
};

}  // namespace tessera::onnx

// Layer norms, GELUs and attention that a file writes out, as exporters of older opsets do: each becomes one node.
#pragma once
#include "models/proto.h"

namespace tessera::onnx {

// Of nodes that stand for several of the file's: their operators are ONNX's of any opset.
inline constexpr const char* pattern_domain = "tessera.pattern";

// Nodes are left as they are where anything else reads a value in between.
void recognise_patterns(GraphProto&, std::int64_t opset);

}  // namespace tessera::onnx

// Layer norms, GELUs and attention that a file writes out, as exporters of older opsets do, and products of what a file
// dequantizes just before: each becomes one node.
#pragma once
#include "models/proto.h"

namespace tessera::onnx {

// Of nodes that stand for several of the file's: their operators are ONNX's of any opset, or have this domain before
// their name in the table.
inline constexpr const char* pattern_domain = "tessera.pattern";

// Nodes are left as they are where anything else reads a value in between.
void recognise_patterns(GraphProto&, std::int64_t opset);
// Of these, MatMul, Gemm and Conv of DequantizeLinear: QuantizedMatMul and so on, of x, its scale and zero point, the
// weights, their scales and zero points, and a bias in floats.
void recognise_quantized_products(GraphProto&);

}  // namespace tessera::onnx

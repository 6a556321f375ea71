// TF.js models as the same graphs that ONNX files give, with operators of TensorFlow: model.json with its weight files,
// a graph model (TensorFlow's GraphDef) or a layers model (Keras).
#pragma once
#include <filesystem>

#include "models/proto.h"

namespace tessera::tfjs {

bool is_model(onnx::Bytes file);  // else it is ONNX's
// `folder` is where the weight files are; empty where the model came from memory.
onnx::ModelProto read_model(onnx::Bytes file, const std::filesystem::path& folder, const onnx::Progress&);

// Of nodes whose operators are TensorFlow's.
inline constexpr const char* domain = "tensorflow";

}  // namespace tessera::tfjs

// The weights of a TF.js model: groups of files, each of whose bytes are cut into tensors.
#pragma once
#include <filesystem>
#include <map>
#include <memory>

#include "core/platform/mapped_file.h"
#include "models/proto.h"
#include "models/tfjs/json.h"

namespace tessera::tfjs {

struct Weights {
  std::map<std::string, onnx::TensorProto> tensors;  // by name; their elements are in these:
  std::vector<std::unique_ptr<MappedFile>> files;
  std::vector<std::vector<std::byte>> joined;  // of tensors that begin in one file and end in another
};

// `folder` is that of the model, empty where it came from memory: then there may be no weights.
std::shared_ptr<Weights> read_weights(const Json& manifest, const std::filesystem::path& folder, const onnx::Progress&);

}  // namespace tessera::tfjs

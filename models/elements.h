// Elements of an ONNX tensor as tessera keeps them: doubles and bfloat16 as f32, integers of 16 to 64 bits as i32.
#pragma once
#include <filesystem>
#include <memory>
#include <vector>

#include "core/platform/mapped_file.h"
#include "models/proto.h"
#include <tessera/shape.h>

namespace tessera::onnx {

// Files beside the model that hold elements, each mapped once.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}
  Bytes bytes_of(const TensorProto&);

 private:
  std::filesystem::path folder_;  // empty where the model came from memory
  std::map<std::string, std::unique_ptr<MappedFile>> files_;
};

struct Elements {
  Shape shape;
  DType dtype = DType::f32;
  Bytes bytes{};  // in the file where that has them in this form, else in `converted`
  std::vector<std::byte> converted{};

  Elements() = default;
  Elements(Elements&&) = default;
  Elements& operator=(Elements&&) = default;
};

// Numbers outside of 32 bits are clamped: models write INT64_MAX for "to the end". Sizes are checked against what the
// file has before memory is taken.
Elements elements_of(const TensorProto&, ExternalFiles&);
// The elements as the file has them, in memory that lives as long as the message and the files.
Bytes stored_elements_of(const TensorProto&, ExternalFiles&);
Shape shape_of(const TensorProto&);

}  // namespace tessera::onnx

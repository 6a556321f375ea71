// A file's bytes in memory, as the system maps them: nothing is read that nobody looks at.
#pragma once
#include <filesystem>

#include "models/wire.h"

namespace tessera::onnx {

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path&);  // an io error where it cannot be read
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  Bytes bytes() const { return bytes_; }

 private:
  Bytes bytes_;
};

}  // namespace tessera::onnx

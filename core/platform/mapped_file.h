// A file's bytes in memory, as the system maps them: nothing is read that nobody looks at. Part of the component
// models, which is a library of its own.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace tessera {

class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path&);  // an io error where it cannot be read
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace tessera

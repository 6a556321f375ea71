// A file that takes another one's place when it is complete, and leaves nothing behind when it is not.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace tessera {

class ReplacingFile {
 public:
  ReplacingFile(std::string op, std::filesystem::path);  // op begins the sentences of errors, which are io errors
  ~ReplacingFile();
  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  void write(std::span<const std::byte>);
  void commit();  // on the disk, and under its name

 private:
  [[noreturn]] void fail(const char* what, int error) const;

  std::string op_;
  std::filesystem::path path_, temporary_;
  int file_ = -1;
};

}  // namespace tessera

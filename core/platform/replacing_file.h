// Files that tessera writes: each takes the old one's place when it is complete, and leaves nothing behind when it is
// not.
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace tessera {

// Throws io, in a sentence that `op` begins, for a path with a NUL, where the operating system would cut it.
void refuse_nul(const std::string& op, const std::filesystem::path&);

// Writes through links, keeps the mode of a file that was there, and refuses anything but a regular file. All errors
// are io errors, whose sentences `op` begins.
class ReplacingFile {
 public:
  ReplacingFile(std::string op, std::filesystem::path);
  ~ReplacingFile();
  ReplacingFile(const ReplacingFile&) = delete;
  ReplacingFile& operator=(const ReplacingFile&) = delete;

  void write(std::span<const std::byte>);
  void commit();   // on the disk, and under its name
  void replace();  // under its name, and on the disk when the system sees fit

 private:
  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void fail(const char* what, int error) const;

  std::string op_;
  std::filesystem::path path_;                // as the caller names it
  std::filesystem::path target_, temporary_;  // the file to replace, and the new one beside it
  int file_ = -1;
};

}  // namespace tessera

#include "core/sharing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <tessera/error.h>

namespace tessera {
namespace {

// Beside the file, so that renaming moves no data; of this process and this file alone.
std::filesystem::path temporary_for(std::filesystem::path path) {
  static std::atomic<unsigned> count = 0;
  return path += ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(++count);
}

}  // namespace

ReplacingFile::ReplacingFile(std::string op, std::filesystem::path path)
    : op_(std::move(op)), path_(std::move(path)), temporary_(temporary_for(path_)) {
  if (std::error_code error; std::filesystem::is_directory(path_, error)) fail("write to it", EISDIR);
  file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file_ < 0) fail("create a file there", errno);
}

ReplacingFile::~ReplacingFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

void ReplacingFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write to it", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void ReplacingFile::commit() {
  if (fsync(file_) != 0 && errno != EINVAL && errno != ENOTSUP) fail("write to it", errno);  // pipes have no disk
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail("put the new file in its place", errno);
  const int file = std::exchange(file_, -1);
  if (close(file) != 0) fail("write to it", errno);
}

void ReplacingFile::fail(const char* what, int error) const {
  throw Error(ErrorCode::io, op_ + ": " + path_.string() + ": could not " + what + ": " +
                                 std::generic_category().message(error) + ".");
}

}  // namespace tessera

#include "core/platform/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <tessera/error.h>

namespace tessera {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto fail_opening = [&](const std::string& reason) -> void {
    throw Error(ErrorCode::io, "cannot read " + path.string() + ": " + reason + ".");
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is refused rather than waited for
  if (file < 0) fail_opening(std::strerror(errno));
  struct stat status {};
  void* address = nullptr;
  std::string reason;
  if (::fstat(file, &status) != 0) {
    reason = std::strerror(errno);
  } else if (!S_ISREG(status.st_mode)) {
    reason = "it is no regular file";
  } else if (status.st_size > 0) {
    address = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (address == MAP_FAILED) reason = std::strerror(errno);
  }
  ::close(file);
  if (!reason.empty()) fail_opening(reason);
  if (address) bytes_ = {static_cast<const std::byte*>(address), static_cast<std::size_t>(status.st_size)};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace tessera

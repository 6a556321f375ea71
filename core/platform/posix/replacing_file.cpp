#include "core/platform/replacing_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <utility>

namespace tessera {
namespace {

// Lies beside the file, so that renaming moves no data, and belongs to this process and this file alone. The name is
// short, so that the file's own may be as long as the file system allows.
std::filesystem::path temporary_beside(const std::filesystem::path& path) {
  static std::atomic<unsigned> count = 0;
  return path.parent_path() / (".tessera-" + std::to_string(getpid()) + "-" + std::to_string(++count));
}

// The file that a path of links leads to, also where it is not there yet.
std::filesystem::path behind_links(std::filesystem::path path) {
  std::error_code error;
  while (std::filesystem::is_symlink(path, error))
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  return path;
}

bool is_same_file(const struct stat& a, const std::filesystem::path& path) {
  struct stat b {};
  return stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

constexpr mode_t permission_bits = 0777;

}  // namespace

ReplacingFile::ReplacingFile(std::string op, std::filesystem::path path) : op_(std::move(op)), path_(std::move(path)) {
  refuse_nul(op_, path_);
  struct stat old {};
  const bool is_there = stat(path_.c_str(), &old) == 0;
  if (!is_there && errno != ENOENT) fail("write to it", errno);
  if (is_there && S_ISDIR(old.st_mode)) fail("write to it", EISDIR);
  if (is_there && !S_ISREG(old.st_mode)) fail("this is not a regular file");
  if (is_there && faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail("write to it", errno);
  target_ = behind_links(path_);
  // Links of /proc lead to files that were deleted, too. Without a link, another file means that someone else has just
  // replaced it, too.
  if (is_there && target_ != path_ && !is_same_file(old, target_))
    fail("the file that this leads to has no name any more");
  temporary_ = temporary_beside(target_);
  file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
               is_there ? old.st_mode & permission_bits : 0666);
  if (file_ < 0) fail("create a file there", errno);
  if (!is_there) return;
  // Only root may give a file away, and some file systems have no modes: the new file is the writer's then, and no more
  // open than the old one.
  [[maybe_unused]] const bool is_owner_kept = fchown(file_, old.st_uid, old.st_gid) == 0;
  fchmod(file_, old.st_mode & permission_bits);
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
  replace();
}

void ReplacingFile::replace() {
  if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("put the new file in its place", errno);
  const int file = std::exchange(file_, -1);
  if (close(file) != 0) fail("write to it", errno);
}

}  // namespace tessera

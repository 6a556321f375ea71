#include "core/platform/replacing_file.h"

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>
#include <utility>

namespace tessera {
namespace {

namespace fs = std::filesystem;

// Lies beside the file, so that renaming moves no data, and belongs to this process and this file alone.
fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> count = 0;
  return path.parent_path() / (".tessera-" + std::to_string(GetCurrentProcessId()) + "-" + std::to_string(++count));
}

// Puts a file in the place of another one. Whoever reads the old file holds it: most are done soon.
DWORD move_over(const fs::path& from, const fs::path& to) {
  for (int trials = 100;; --trials) {
    if (MoveFileExW(from.c_str(), to.c_str(), MOVEFILE_REPLACE_EXISTING)) return ERROR_SUCCESS;
    const DWORD error = GetLastError();
    if ((error != ERROR_ACCESS_DENIED && error != ERROR_SHARING_VIOLATION) || trials == 0) return error;
    Sleep(5);
  }
}

}  // namespace

ReplacingFile::ReplacingFile(std::string op, fs::path path) : op_(std::move(op)), path_(std::move(path)) {
  refuse_nul(op_, path_);
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (fs::is_directory(status)) fail("write to it", EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status)) fail("this is not a regular file");
  if (fs::exists(status) && _waccess(path_.c_str(), 2) != 0)
    fail("write to it", errno);  // 2: whether it can be written
  target_ = fs::is_symlink(fs::symlink_status(path_, error)) ? fs::weakly_canonical(path_, error) : path_;
  if (error) target_ = path_;
  temporary_ = temporary_beside(target_);
  file_ = _wopen(temporary_.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
  if (file_ < 0) fail("create a file there", errno);
}

ReplacingFile::~ReplacingFile() {
  if (file_ >= 0) _close(file_);
  if (!temporary_.empty()) _wunlink(temporary_.c_str());
}

void ReplacingFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t most_at_once = std::size_t{1} << 30;  // _write counts in ints
  while (!bytes.empty()) {
    const int written = _write(file_, bytes.data(), static_cast<unsigned>(std::min(bytes.size(), most_at_once)));
    if (written < 0) fail("write to it", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void ReplacingFile::commit() {
  if (_commit(file_) != 0) fail("write to it", errno);
  replace();
}

// A file that is open cannot be renamed.
void ReplacingFile::replace() {
  if (_close(std::exchange(file_, -1)) != 0) fail("write to it", errno);
  if (const DWORD error = move_over(temporary_, target_); error != ERROR_SUCCESS)
    fail("could not put the new file in its place: " + std::system_category().message(static_cast<int>(error)));
  temporary_.clear();
}

}  // namespace tessera

#include "core/platform/temporary_folder.h"

#include <windows.h>

#include <atomic>

#include <tessera/error.h>

namespace tessera {
namespace fs = std::filesystem;

// The folder of temporary files is the user's own.
fs::path make_temporary_folder(const std::string& name) {
  static std::atomic<unsigned> count = 0;
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  fs::path path;
  for (int trial = 0; !error && trial < 100; ++trial) {  // programs that ended may have left theirs
    path = place / (name + "-" + std::to_string(GetCurrentProcessId()) + "-" + std::to_string(++count));
    if (fs::create_directory(path, error)) return path;
  }
  throw Error(ErrorCode::io, "none of these folders can be made: " + (path.empty() ? place : path).string());
}

// Windows gives links to administrators only.
void make_link(const fs::path& file, const fs::path& link) { fs::copy_file(file, link); }

}  // namespace tessera

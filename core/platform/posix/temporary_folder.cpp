#include "core/platform/temporary_folder.h"

#include <stdlib.h>

#include <tessera/error.h>

namespace tessera {
namespace fs = std::filesystem;

// $TMPDIR may name something that is no folder.
fs::path make_temporary_folder(const std::string& name) {
  std::error_code ignored;
  std::string tried;
  for (const fs::path& place : {fs::temp_directory_path(ignored), fs::path("/tmp"), fs::path("/var/tmp")}) {
    if (place.empty()) continue;
    std::string path = place / (name + "-XXXXXX");
    if (mkdtemp(path.data())) return path;
    tried += (tried.empty() ? "" : ", ") + path;
  }
  throw Error(ErrorCode::io, "none of these folders can be made: " + tried);
}

void make_link(const fs::path& file, const fs::path& link) { fs::create_symlink(file, link); }

}  // namespace tessera

#include "core/platform/library_file.h"

#include <fstream>

namespace tessera {

// Windows itself refuses a library that was cut short.
std::string why_not_loadable(const std::filesystem::path& library) {
  return std::ifstream(library, std::ios::binary) ? "" : library.string() + " is not there, or cannot be read";
}

}  // namespace tessera

#include "core/platform/library_file.h"

namespace tessera {

std::string why_not_loadable(const std::filesystem::path&) { return "a page loads no libraries"; }

}  // namespace tessera

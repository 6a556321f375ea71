// Checks a library before the dynamic linker loads it by its path.
#pragma once
#include <filesystem>
#include <string>

namespace tessera {

// The reason why the file cannot be loaded; empty where it can. The dynamic linker crashes on a file that was cut
// short, as by a copy or a download that did not end.
std::string why_not_loadable(const std::filesystem::path& library);

}  // namespace tessera

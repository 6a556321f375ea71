// Folders for files that go with the program.
#pragma once
#include <filesystem>
#include <string>

namespace tessera {

// Makes a new folder, for this user only, where the system has temporary files. Its name begins with `name`. Throws io
// with the paths that could not be made.
std::filesystem::path make_temporary_folder(const std::string& name);

// Makes `link` stand for a file: a link, or a copy where the system gives programs none. Throws filesystem_error.
void make_link(const std::filesystem::path& file, const std::filesystem::path& link);

}  // namespace tessera

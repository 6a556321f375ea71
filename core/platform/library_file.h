// Libraries that are loaded by their path: whether the dynamic linker can be trusted with the file.
#pragma once
#include <filesystem>
#include <string>

namespace tessera {

// Why the file is no library that can be loaded; empty where it is one. The dynamic linker does not look whether a file
// is all there, and crashes on one that was cut short, as by a copy or a download that did not end.
std::string why_not_loadable(const std::filesystem::path& library);

}  // namespace tessera

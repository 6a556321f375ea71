// The manifests of the Vulkan drivers that this system has, and how lists of them are written.
#pragma once
#include <filesystem>
#include <vector>

namespace tessera {

std::vector<std::filesystem::path> system_vulkan_manifests();

extern const char path_separator;  // between the paths in an environment variable

}  // namespace tessera

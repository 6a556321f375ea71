#include "core/platform/vulkan_manifests.h"

#include <algorithm>

namespace tessera {

const char path_separator = ':';

std::vector<std::filesystem::path> system_vulkan_manifests() {
  std::vector<std::filesystem::path> all;
  for (const char* folder : {"/etc/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/usr/share/vulkan/icd.d"}) {
    const auto first = static_cast<std::ptrdiff_t>(all.size());
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".json") all.push_back(entry.path());
    std::sort(all.begin() + first, all.end());
  }
  return all;
}

}  // namespace tessera

#include "core/platform/vulkan_manifests.h"

namespace tessera {

const char path_separator = ':';

std::vector<std::filesystem::path> system_vulkan_manifests() { return {}; }  // a page sees no Vulkan

}  // namespace tessera

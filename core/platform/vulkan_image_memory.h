// Images of Vulkan hosts that can be shared: their formats, and how they lie in memory.
#pragma once
#include <string_view>

#include "core/platform/vulkan_host.h"

namespace tessera {

// These throw invalid_argument or unsupported, with `op` and what to do, for an image that cannot be shared.
void check_image(std::string_view op, const vulkan::ImageCreateInfo&, std::uint32_t memory_handle);
VulkanFormat shared_format(std::string_view op, std::int32_t code);

std::string_view name_of_handle(std::uint32_t memory_handle);  // VK_EXTERNAL_MEMORY_HANDLE_TYPE_…

}  // namespace tessera

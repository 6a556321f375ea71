// Images of a Vulkan host's, as textures of Dawn's.
#pragma once
#include <memory>

#include "backend_webgpu/device.h"
#include "core/kernel/vulkan_images.h"

namespace tessera::webgpu {

std::unique_ptr<ImportedVulkanImage> import_image(const std::shared_ptr<Device>&, const VulkanHostImage&);

}  // namespace tessera::webgpu

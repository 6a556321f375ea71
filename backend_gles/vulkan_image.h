// Images of a Vulkan host's, as textures of ANGLE's.
#pragma once
#include <memory>

#include "backend_gles/shared_image.h"
#include "core/kernel/vulkan_images.h"

namespace tessera::gles {

std::unique_ptr<ImportedVulkanImage> import_image(const std::shared_ptr<const Device>&,
                                                  const std::shared_ptr<const SharingFunctions>&,
                                                  const VulkanHostImage&);

}  // namespace tessera::gles

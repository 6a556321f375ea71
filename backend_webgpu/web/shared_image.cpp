// The devices of a browser share no memory with others.
#include "backend_webgpu/shared_image.h"

#include "backend_webgpu/vulkan_image.h"

namespace tessera::webgpu {

std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<Device>&, const std::shared_ptr<SharedImage>&) {
  throw Error(ErrorCode::unsupported, "The devices of a browser share no memory.");
}

std::unique_ptr<ImportedVulkanImage> import_image(const std::shared_ptr<Device>&, const VulkanHostImage&) {
  throw Error(ErrorCode::unsupported, "A page has no Vulkan host.");
}

}  // namespace tessera::webgpu

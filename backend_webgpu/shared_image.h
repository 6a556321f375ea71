// Images that several devices of one driver share, as textures of Dawn's.
#pragma once
#include <memory>

#include "backend_webgpu/device.h"
#include "core/platform/shared_image.h"

namespace tessera::webgpu {

std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<Device>&, const std::shared_ptr<SharedImage>&);

}  // namespace tessera::webgpu

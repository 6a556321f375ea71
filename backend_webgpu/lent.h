// Checks of what a host lends that only Dawn can make.
#pragma once
#include <string>
#include <string_view>

#include "backend_webgpu/backend.h"
#include "core/interop.h"

namespace tessera::webgpu {

// Throws wrong_backend. The caller holds the lock.
WebGpuBackend& webgpu_backend(std::string_view op, ContextImpl&);

// Throw invalid_argument for what belongs to another device, or is not valid there.
void require_usable(std::string_view op, const Device&, WGPUBuffer, std::uint64_t offset, std::uint64_t bytes);
void require_usable_for_sampling(std::string_view op, const Device&, WGPUTexture, WGPUTextureSampleType);
void require_usable_as_target(std::string_view op, const Device&, WGPUTexture);

[[noreturn]] void refuse(std::string_view op, ErrorCode, const std::string& why);

}  // namespace tessera::webgpu

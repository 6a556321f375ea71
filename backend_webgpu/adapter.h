// The adapters that Dawn has on this machine.
//
// Dawn's C API gives an instance's preferred adapter and cannot list the others, so each Vulkan driver gets an instance
// of its own, for which it was the only driver.
#pragma once
#include <memory>

#include "backend_webgpu/handle.h"
#include "core/kernel/backend.h"
#include "core/platform/driver_start.h"

namespace tessera::webgpu {

struct DawnAdapter final : Adapter {
  std::unique_ptr<Backend> open(const ContextOptions&, const MessageSink&) const override;

  VulkanDriver driver;
  Handle<WGPUInstance> instance;
  Handle<WGPUAdapter> handle;
  WGPULimits limits{};
};

DeviceInfo describe(const WGPUAdapterInfo&, const WGPULimits&);  // a device with these limits on this adapter

}  // namespace tessera::webgpu

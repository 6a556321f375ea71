// Which devices Dawn can reach on this machine.
//
// Dawn's C API gives an instance's preferred adapter and cannot list the others, so each Vulkan driver gets an instance
// of its own, for which it was the only driver. Instances are made once in a process and never freed: drivers do not
// take kindly to being unloaded, and a device may outlive every static object.
#pragma once
#include <string>
#include <vector>

#include "backend_webgpu/handle.h"
#include "core/backend.h"
#include "core/driver_start.h"

namespace tessera::webgpu {

struct Adapter {
  VulkanDriver driver;
  Handle<WGPUInstance> instance;
  Handle<WGPUAdapter> handle;  // empty where Dawn does not take the driver
  WGPULimits limits{};
  DeviceInfo info{};
  int rank = 4;         // lower is better; without a handle it is last
  std::string refusal;  // why there is no handle
};

// What there is to say about a device with these limits on this adapter.
DeviceInfo describe(const WGPUAdapterInfo&, const WGPULimits&);

std::vector<FoundDevice> find_devices();  // see BackendFactory
const Adapter& adapter_of(const FoundDevice&);

}  // namespace tessera::webgpu

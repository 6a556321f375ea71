// How devices are doing, as the system tells it.
#pragma once
#include <tessera/context.h>

namespace tessera {

// Asks now: files of the kernel's, and the Vulkan driver where the device has memory of its own.
DeviceState device_state(const DeviceInfo&);

// The host's memory and the load of its processors, which software devices run on.
DeviceState host_state();

}  // namespace tessera

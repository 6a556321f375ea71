// How devices are doing, as the system tells it.
#pragma once
#include <filesystem>
#include <span>

#include "core/platform/vulkan_probe.h"
#include <tessera/context.h>

namespace tessera {

// Asks now: files of the kernel's, and the Vulkan driver where the device has memory of its own.
DeviceState device_state(const DeviceInfo&);

// That of hardware, which is the first of the Vulkan devices with its name, and the card of the folder that is in the
// same slot of the machine. `cards` is laid out as /sys/class/drm.
DeviceState hardware_state(const DeviceInfo&, std::span<const VulkanDevice>, const std::filesystem::path& cards);

// The host's memory and the load of its processors, which software devices run on.
DeviceState host_state();

}  // namespace tessera

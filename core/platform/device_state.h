// The memory and the load of devices, as the system tells them.
#pragma once
#include <filesystem>
#include <span>

#include "core/platform/host.h"
#include "core/platform/vulkan_probe.h"
#include <tessera/context.h>

namespace tessera {

// Asks the kernel's files and, where the device has memory of its own, the Vulkan driver.
DeviceState device_state(const DeviceInfo&);

// The state of a hardware device: the first Vulkan device with its name, and the card in that device's slot. `cards` is
// laid out as /sys/class/drm.
DeviceState hardware_state(const DeviceInfo&, std::span<const VulkanDevice>, const std::filesystem::path& cards);

}  // namespace tessera

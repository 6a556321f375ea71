// A look at Vulkan before Dawn or ANGLE starts on it: both complain on stderr about each driver that has no device, and
// Mesa installs the drivers of every vendor.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/driver_start.h"

namespace tessera {

// Why Vulkan has no device with this driver, the only one that the loader sees now (OnlyVulkanDriver); empty where it
// has one. Asks the Vulkan loader in `folder`, or the system's where there is none. Hold driver_start_lock().
std::string why_vulkan_has_no_device(const VulkanDriver&, const std::filesystem::path& folder = {});

// The memory of each Vulkan device that the system's loader sees: what lies on the device.
// `free` is what this program may still use, where the driver tells (VK_EXT_memory_budget). Hold driver_start_lock().
struct VulkanMemory {
  std::string device;
  std::uint64_t total;
  std::optional<std::uint64_t> free;
};
std::vector<VulkanMemory> vulkan_memory();

}  // namespace tessera

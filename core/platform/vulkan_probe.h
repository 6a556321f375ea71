// A look at Vulkan before Dawn or ANGLE starts on it: both complain on stderr about each driver that has no device, and
// Mesa installs the drivers of every vendor.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/platform/driver_start.h"

namespace tessera {

// The reason why this driver, the only one that the loader sees now (OnlyVulkanDriver), has no device; empty where it
// has one. Asks the Vulkan loader in `folder`, or the system's where there is none. Hold driver_start_lock().
std::string why_vulkan_has_no_device(const VulkanDriver&, const std::filesystem::path& folder = {});

// A card in a slot of the machine.
struct PciCard {
  std::uint32_t vendor = 0, device = 0;  // of its kind
  std::string slot;                      // "0000:03:00.0"; empty where it is not known
};

// A Vulkan device that the system's loader sees, with the memory that lies on the device. `memory_free` is what this
// program may still use, where the driver tells (VK_EXT_memory_budget), as it may tell the slot (VK_EXT_pci_bus_info).
// Hold driver_start_lock().
struct VulkanDevice {
  std::string name;
  std::uint64_t memory_total = 0;
  std::optional<std::uint64_t> memory_free{};
  PciCard card{};
};
std::vector<VulkanDevice> vulkan_devices();

}  // namespace tessera

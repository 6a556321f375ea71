// A look at Vulkan before Dawn or ANGLE starts on it: both complain on stderr about each driver that has no device, and
// Mesa installs the drivers of every vendor.
#pragma once
#include <filesystem>
#include <string>

namespace tessera {

// Why Vulkan has no device here; empty where it has one. Asks the Vulkan loader in `folder`, or the system's where
// there is none. Only the drivers that the loader sees now count: hold driver_start_lock().
std::string why_vulkan_has_no_device(const std::filesystem::path& folder = {});

}  // namespace tessera

// A look at Vulkan before Dawn starts on it: Dawn complains on stderr about each driver that has no device, and Mesa
// installs the drivers of every vendor.
#pragma once
#include <string>

namespace tessera::webgpu {

// Why Vulkan has no device here; empty where it has one. Only the drivers that the loader sees now count.
std::string why_vulkan_has_no_device();

}  // namespace tessera::webgpu

// The memory that Vulkan drivers tell of.
#include <gtest/gtest.h>

#include "core/platform/driver_start.h"
#include "core/platform/vulkan_probe.h"

namespace tessera {
namespace {

TEST(VulkanMemory, IsToldByEveryDevice) {
  const std::lock_guard starting(driver_start_lock());
  const std::vector<VulkanDevice> devices = vulkan_devices();
  if (devices.empty()) GTEST_SKIP() << "this machine has no Vulkan driver";
  for (const VulkanDevice& device : devices) {
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.memory_total, std::uint64_t{16} << 20) << device.name;
    if (!device.memory_free) continue;
    EXPECT_LE(*device.memory_free, device.memory_total) << device.name;
    EXPECT_GT(*device.memory_free, 0u) << device.name;
  }
}

TEST(VulkanMemory, IsEmptyWithoutADriver) {
  const std::lock_guard starting(driver_start_lock());
  const OnlyVulkanDriver none({"/nonexistent/driver.json", false});
  EXPECT_TRUE(vulkan_devices().empty());
}

}  // namespace
}  // namespace tessera

// The memory that Vulkan drivers tell of.
#include <gtest/gtest.h>

#include "core/driver_start.h"
#include "core/vulkan_probe.h"

namespace tessera {
namespace {

TEST(VulkanMemory, IsToldByEveryDevice) {
  const std::lock_guard starting(driver_start_lock());
  const std::vector<VulkanMemory> devices = vulkan_memory();
  if (devices.empty()) GTEST_SKIP() << "this machine has no Vulkan driver";
  for (const VulkanMemory& memory : devices) {
    EXPECT_FALSE(memory.device.empty());
    EXPECT_GT(memory.total, std::uint64_t{16} << 20) << memory.device;
    if (!memory.free) continue;
    EXPECT_LE(*memory.free, memory.total) << memory.device;
    EXPECT_GT(*memory.free, 0u) << memory.device;
  }
}

TEST(VulkanMemory, IsEmptyWithoutADriver) {
  const std::lock_guard starting(driver_start_lock());
  const OnlyVulkanDriver none({"/nonexistent/driver.json", false});
  EXPECT_TRUE(vulkan_memory().empty());
}

}  // namespace
}  // namespace tessera

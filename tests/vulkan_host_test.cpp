// A host that is linked with Vulkan: its functions have the names that the Vulkan loader of ANGLE exports, too.
#include "support/compare.h"
#include "support/devices.h"

extern "C" std::int32_t vkEnumerateInstanceVersion(std::uint32_t* version);

namespace tessera::test::vulkan_host_test {
namespace {

class InAVulkanHost : public OnDevice {};

TEST_P(InAVulkanHost, Computes) {
  std::uint32_t version = 0;
  ASSERT_EQ(vkEnumerateInstanceVersion(&version), 0);
  const std::vector<float> values = random_values(64, -1, 1, 1);
  const auto result = [&](Context& context) { return sum(exp(context.tensor({8, 8}, values)), {{0}}).read(); };
  EXPECT_TRUE(all_agree(result(context()), result(cpu_context()), 1e-5f));
  Context another = open(GetParam());
  EXPECT_TRUE(all_agree(result(another), result(cpu_context()), 1e-5f));
}

TESSERA_ON_ALL_DEVICES(InAVulkanHost);

}  // namespace
}  // namespace tessera::test::vulkan_host_test

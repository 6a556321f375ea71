// Which card of the machine a device is, with a machine that is made up.
#include <gtest/gtest.h>

#include <fstream>

#include "core/platform/device_state.h"
#include "support/temporary_folder.h"

namespace tessera::hardware_state_test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t amd = 0x1002, navi = 0x73bf, raphael = 0x164e;

// Like /sys/class/drm.
class Cards {
 public:
  void add(const std::string& name, const PciCard& card, const std::string& busy) {
    const fs::path device = folder_.path() / name / "device";
    fs::create_directories(device);
    std::ofstream(device / "uevent") << "DRIVER=amdgpu\nPCI_CLASS=30000\nPCI_SLOT_NAME=" << card.slot << "\n";
    std::ofstream(device / "vendor") << "0x" << std::hex << card.vendor << "\n";
    std::ofstream(device / "device") << "0x" << std::hex << card.device << "\n";
    if (!busy.empty()) std::ofstream(device / "gpu_busy_percent") << busy << "\n";
  }
  const fs::path& path() const { return folder_.path(); }

 private:
  test::TemporaryFolder folder_;
};

DeviceInfo hardware(const std::string& name) {
  return {.backend = BackendKind::webgpu,
          .name = name,
          .driver = "Dawn on Vulkan",
          .vendor = "amd",
          .is_software = false,
          .max_tensor_bytes = 1};
}

const std::vector<VulkanDevice> two_devices{
    {"Radeon RX 6800", 16, 12, {amd, navi, "0000:03:00.0"}},
    {"Radeon Graphics", 2, 1, {amd, raphael, "0000:16:00.0"}},
};

TEST(HardwareState, IsThatOfTheCardInTheSameSlot) {
  Cards cards;
  cards.add("card0", two_devices[1].card, "10");
  cards.add("card1", two_devices[0].card, "75");
  cards.add("card1-DP-1", two_devices[0].card, "75");
  const DeviceState large = hardware_state(hardware("Radeon RX 6800"), two_devices, cards.path());
  EXPECT_EQ(large.load, 0.75);
  EXPECT_EQ(large.memory_total, 16u);
  EXPECT_EQ(large.memory_free, 12u);
  const DeviceState small = hardware_state(hardware("ANGLE (AMD, Vulkan 1.3 (Radeon Graphics (0x0000164E)), radv)"),
                                           two_devices, cards.path());
  EXPECT_EQ(small.load, 0.1);
  EXPECT_EQ(small.memory_total, 2u);
}

TEST(HardwareState, IsNotThatOfTheOnlyCardThatTells) {
  Cards cards;
  cards.add("card0", two_devices[1].card, "10");
  cards.add("card1", two_devices[0].card, "");
  EXPECT_FALSE(hardware_state(hardware("Radeon RX 6800"), two_devices, cards.path()).load);
}

TEST(HardwareState, IsFoundByTheKindOfCardWhereTheSlotIsNotKnown) {
  std::vector<VulkanDevice> devices = two_devices;
  for (VulkanDevice& device : devices) device.card.slot.clear();
  Cards cards;
  cards.add("card0", two_devices[1].card, "10");
  cards.add("card1", two_devices[0].card, "75");
  EXPECT_EQ(hardware_state(hardware("Radeon RX 6800"), devices, cards.path()).load, 0.75);
  cards.add("card2", {amd, navi, "0000:04:00.0"}, "5");
  EXPECT_FALSE(hardware_state(hardware("Radeon RX 6800"), devices, cards.path()).load) << "two cards of that kind";
}

TEST(HardwareState, WithoutVulkanTheOnlyCardOfTheMachineIsMeant) {
  Cards cards;
  EXPECT_FALSE(hardware_state(hardware("radeonsi"), {}, cards.path()).load) << "no card";
  cards.add("card0", two_devices[0].card, "20");
  EXPECT_EQ(hardware_state(hardware("radeonsi"), {}, cards.path()).load, 0.2);
  cards.add("card1", two_devices[1].card, "");
  EXPECT_FALSE(hardware_state(hardware("radeonsi"), {}, cards.path()).load) << "either of two";
}

TEST(HardwareState, OfACardThatTellsNonsenseIsNotKnown) {
  Cards cards;
  cards.add("card0", two_devices[0].card, "busy");
  EXPECT_FALSE(hardware_state(hardware("Radeon RX 6800"), two_devices, cards.path()).load);
  EXPECT_FALSE(hardware_state(hardware("Radeon RX 6800"), two_devices, "/nonexistent").load);
}

}  // namespace
}  // namespace tessera::hardware_state_test

#include "core/platform/device_state.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/platform/driver_start.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

template <class Number>
std::optional<Number> number_in(const fs::path& file) {
  std::ifstream in(file);
  Number number{};
  if (!(in >> number)) return std::nullopt;
  return number;
}

std::uint32_t hexadecimal_in(const fs::path& file) {
  std::ifstream in(file);
  std::uint32_t number = 0;
  in >> std::hex >> number;
  return number;
}

std::string slot_in(const fs::path& device) {
  constexpr std::string_view key = "PCI_SLOT_NAME=";
  std::ifstream in(device / "uevent");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return line.substr(key.size());
  return {};
}

// The device folder of each card; "card0-DP-1" and the like are outputs of a card.
std::vector<fs::path> devices_of_cards(const fs::path& cards) {
  std::vector<fs::path> devices;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cards, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("card") && name.find('-') == std::string::npos) devices.push_back(entry.path() / "device");
  }
  return devices;
}

// The only device folder that can be the card's; empty where there is none or several.
fs::path device_of(const std::optional<PciCard>& card, std::vector<fs::path> devices) {
  if (card)
    std::erase_if(devices, [&](const fs::path& device) {
      return card->slot.empty() ? hexadecimal_in(device / "vendor") != card->vendor ||
                                      hexadecimal_in(device / "device") != card->device
                                : slot_in(device) != card->slot;
    });
  return devices.size() == 1 ? devices.front() : fs::path();
}

}  // namespace

DeviceState hardware_state(const DeviceInfo& device, std::span<const VulkanDevice> vulkan, const fs::path& cards) {
  DeviceState state;
  std::optional<PciCard> card;
  const auto vulkan_device = std::ranges::find_if(vulkan, [&](const VulkanDevice& candidate) {
    return contains_ignoring_case(device.name, candidate.name);  // ANGLE's names have the Vulkan driver's within
  });
  if (vulkan_device != vulkan.end()) {
    state.memory_total = vulkan_device->memory_total;
    state.memory_free = vulkan_device->memory_free;
    card = vulkan_device->card;
  }
  // amdgpu and others tell how busy a card is.
  if (const fs::path folder = device_of(card, devices_of_cards(cards)); !folder.empty())
    if (const auto percent = number_in<double>(folder / "gpu_busy_percent"))
      state.load = std::clamp(*percent / 100, 0.0, 1.0);
  return state;
}

DeviceState device_state(const DeviceInfo& device) {
  if (device.is_software) return host_state();
  const std::lock_guard starting(driver_start_lock());
  return hardware_state(device, vulkan_devices(), "/sys/class/drm");
}

}  // namespace tessera

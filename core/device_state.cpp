#include "core/device_state.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "core/driver_start.h"
#include "core/vulkan_probe.h"

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

// amdgpu and others tell how busy a card is. With two cards it is not clear which of them is meant: then it is not
// known.
std::optional<double> busy_part_of_only_card() {
  std::error_code none;
  std::optional<double> busy;
  for (const auto& card : fs::directory_iterator("/sys/class/drm", none))
    if (const auto percent = number_in<double>(card.path() / "device" / "gpu_busy_percent")) {
      if (card.path().filename().string().find('-') != std::string::npos) continue;  // an output of a card
      if (busy) return std::nullopt;
      busy = *percent / 100;
    }
  return busy;
}

}  // namespace

DeviceState host_state() {
  DeviceState state;
  std::ifstream memory("/proc/meminfo");
  std::string name, rest;
  std::uint64_t kilobytes = 0;
  while (memory >> name >> kilobytes && std::getline(memory, rest)) {
    if (name == "MemTotal:") state.memory_total = kilobytes * 1024;
    if (name == "MemAvailable:") state.memory_free = kilobytes * 1024;
  }
  if (const auto running = number_in<double>("/proc/loadavg"))
    state.load = std::min(1.0, *running / std::max(1u, std::thread::hardware_concurrency()));
  return state;
}

DeviceState device_state(const DeviceInfo& device) {
  if (device.is_software) return host_state();
  DeviceState state;
  const std::lock_guard starting(driver_start_lock());
  for (const VulkanMemory& memory : vulkan_memory())
    if (contains_ignoring_case(device.name, memory.device)) {  // ANGLE's names have the Vulkan driver's within
      state.memory_total = memory.total;
      state.memory_free = memory.free;
    }
  state.load = busy_part_of_only_card();
  return state;
}

}  // namespace tessera

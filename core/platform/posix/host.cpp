#include "core/platform/host.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

namespace tessera {

DeviceState host_state() {
  DeviceState state;
  std::ifstream memory("/proc/meminfo");
  std::string name, rest;
  std::uint64_t kilobytes = 0;
  while (memory >> name >> kilobytes && std::getline(memory, rest)) {
    if (name == "MemTotal:") state.memory_total = kilobytes * 1024;
    if (name == "MemAvailable:") state.memory_free = kilobytes * 1024;
  }
  std::ifstream load("/proc/loadavg");
  double running = 0;
  if (load >> running) state.load = std::min(1.0, running / std::max(1u, std::thread::hardware_concurrency()));
  return state;
}

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
}

}  // namespace tessera

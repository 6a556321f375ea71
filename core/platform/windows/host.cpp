#include "core/platform/host.h"

#include <windows.h>

namespace tessera {
namespace {

MEMORYSTATUSEX memory_status() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  GlobalMemoryStatusEx(&status);
  return status;
}

}  // namespace

// Windows tells the load of its processors only to those who measure it over a while.
DeviceState host_state() {
  const MEMORYSTATUSEX memory = memory_status();
  DeviceState state;
  state.memory_total = memory.ullTotalPhys;
  state.memory_free = memory.ullAvailPhys;
  return state;
}

std::uint64_t physical_memory() { return memory_status().ullTotalPhys; }

}  // namespace tessera

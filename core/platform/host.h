// The machine that this program runs on.
#pragma once
#include <cstdint>
#include <thread>

#include <tessera/context.h>

namespace tessera {

// The host's memory and the load of its processors, which software devices run on.
DeviceState host_state();

std::uint64_t physical_memory();  // in bytes

inline int cores_of_host() {
  static const auto count = static_cast<int>(std::thread::hardware_concurrency());  // asks the system
  return count;
}

}  // namespace tessera

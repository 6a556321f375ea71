#include "core/platform/host.h"

#include <emscripten/heap.h>

namespace tessera {

// Browsers tell neither how much memory the machine has nor how busy it is: this is the program's own.
DeviceState host_state() {
  DeviceState state;
  state.memory_total = physical_memory();
  return state;
}

std::uint64_t physical_memory() { return emscripten_get_heap_max(); }

}  // namespace tessera

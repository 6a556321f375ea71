// When a device is asked whether it has refused work.
#pragma once
#include "core/platform/poller.h"
#include <tessera/context.h>

namespace tessera {

inline bool asks_later(DeviceErrors wanted) {
  if (wanted != DeviceErrors::automatic) return wanted == DeviceErrors::later;
#ifdef NDEBUG
  return !has_threads();
#else
  return false;
#endif
}

}  // namespace tessera

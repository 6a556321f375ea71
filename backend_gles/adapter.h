// Which devices EGL can reach on this machine: ANGLE on each Vulkan driver, and the system's EGL.
//
// Each gets a display of its own, made once in a process and never terminated. ANGLE keeps the functions of the last
// Vulkan device it started in global variables, so that two drivers under one ANGLE crash: each gets an ANGLE of its
// own.
#pragma once
#include <string>
#include <vector>

#include "backend_gles/egl.h"
#include "core/backend.h"

namespace tessera::gles {

struct Adapter {
  std::string what;  // "ANGLE on /usr/share/vulkan/icd.d/lvp_icd.json"
  Display display{};
  DeviceInfo info{};
  std::string refusal;  // why it cannot be used; empty where it can
};

std::vector<FoundDevice> find_devices();  // see BackendFactory
const Adapter& adapter_of(const FoundDevice&);

}  // namespace tessera::gles

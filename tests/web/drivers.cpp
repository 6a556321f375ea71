// The devices of a page.
#include "support/devices.h"

namespace tessera::test {

std::vector<TestDevice> devices_of_this_machine() {
  std::vector<TestDevice> devices{{"cpu", BackendKind::cpu, ""}};
  if (TESSERA_HAS_WEBGPU) devices.push_back({"webgpu", BackendKind::webgpu, ""});
  if (TESSERA_HAS_GLES) devices.push_back({"webgl", BackendKind::gles, ""});
  return devices;
}

std::vector<TestDevice> all_devices_and_opengl() { return all_devices(); }  // there is no desktop OpenGL

}  // namespace tessera::test

// The drivers of a machine that ./test has set up.
#include <cstdlib>

#include "support/devices.h"

namespace tessera::test {

const TestDevice& opengl_device() {
  static const TestDevice device{"gl_mesa", BackendKind::gles, "(Core Profile) Mesa", true};
  return device;
}

std::vector<TestDevice> devices_of_this_machine() {
  std::vector<TestDevice> devices{
      {"cpu", BackendKind::cpu, ""},
      {"webgpu_lavapipe", BackendKind::webgpu, "lavapipe"},
      {"webgpu_swiftshader", BackendKind::webgpu, "SwiftShader"},
      {"gles_angle_lavapipe", BackendKind::gles, "ANGLE on lavapipe"},
      {"gles_angle_swiftshader", BackendKind::gles, "ANGLE on SwiftShader"},
      {"gles_mesa", BackendKind::gles, "EGL Mesa"},
  };
  if (std::getenv("TESSERA_TEST_OPENGL")) devices.push_back(opengl_device());
  return devices;
}

std::vector<TestDevice> all_devices_and_opengl() {
  std::vector<TestDevice> devices = all_devices();
  if (!std::getenv("TESSERA_TEST_OPENGL")) devices.push_back(opengl_device());
  return devices;
}

}  // namespace tessera::test

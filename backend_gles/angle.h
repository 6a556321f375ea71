// Starts ANGLE so that it is alone with its Vulkan driver.
#pragma once
#include <filesystem>
#include <memory>

#include "backend_gles/egl.h"

namespace tessera::gles {

// Throws not_found where a library of ANGLE's is missing or cut short. To be called before anything loads them.
void require_whole_angle(const std::filesystem::path& folder);

// ANGLE's libraries and the Vulkan loader beside them export Vulkan's names. In a host that is linked with Vulkan they
// would call the host's functions instead of their own, and crash. To be called before anything loads them.
void keep_apart_from_the_hosts_vulkan(const std::filesystem::path& folder);

// Loads ANGLE once more, with global variables of its own. Let this live until a display has started, which is when
// ANGLE loads the rest of itself. Loaded libraries stay loaded.
class AnotherAngle {
 public:
  explicit AnotherAngle(const std::filesystem::path& folder);  // throws not_found or io
  ~AnotherAngle();
  AnotherAngle(const AnotherAngle&) = delete;
  AnotherAngle& operator=(const AnotherAngle&) = delete;

  const std::shared_ptr<const Egl>& egl() const { return egl_; }

 private:
  AnotherAngle() = default;  // from here on the destructor tidies up after an exception
  void copy(const std::filesystem::path& folder);

  std::filesystem::path copy_;  // a temporary folder; empty for the first ANGLE of the process
  std::shared_ptr<const Egl> egl_;
};

}  // namespace tessera::gles

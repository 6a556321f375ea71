// What ANGLE needs before it starts: to be alone with its Vulkan driver.
#pragma once
#include <filesystem>
#include <memory>

#include "backend_gles/egl.h"

namespace tessera::gles {

// Throws not_found where a part of it is missing or cut short: to be called before anything loads it.
void require_whole_angle(const std::filesystem::path& folder);

// ANGLE's libraries and the Vulkan loader beside them export Vulkan's names. In a host that is linked with Vulkan they
// would find the host's functions where they mean their own, and crash: to be called before anything loads them.
void keep_apart_from_the_hosts_vulkan(const std::filesystem::path& folder);

// Loads ANGLE once more, with global variables of its own. Let it live until a display has started, which is when ANGLE
// loads the rest of itself; what is loaded stays loaded.
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

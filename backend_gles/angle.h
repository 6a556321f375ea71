// What ANGLE needs before it starts: a Vulkan driver that works, and to be alone with it.
#pragma once
#include <filesystem>
#include <memory>

#include "backend_gles/egl.h"

namespace tessera::gles {

// Throws unsupported where the Vulkan loader in `folder` finds no device. ANGLE would fail too, and write several lines
// about it to stderr for each of the drivers that a distribution installs for hardware that is not there.
void require_vulkan_device(const std::filesystem::path& folder);

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

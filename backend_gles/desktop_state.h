// The states that desktop OpenGL has beyond those of OpenGL ES, where they change what passes draw, write or read.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backend_gles/device.h"

namespace tessera::gles {

constexpr GLenum framebuffer_srgb = 0x8DB9;  // GL_FRAMEBUFFER_SRGB

// In a context of OpenGL ES, these do nothing.
void set_working_desktop_state(const Device&, std::uint32_t states);

class SavedDesktopState {
 public:
  SavedDesktopState(const Device&, std::uint32_t states);
  void restore(const Device&) const;
  std::uint32_t unusual() const { return unusual_; }  // those of the states that are not as passes need them

 private:
  void save_compatibility(const Device&);
  void restore_compatibility(const Device&) const;

  std::uint32_t states_;
  std::uint32_t unusual_ = 0;
  std::array<GLint, 2> polygon_modes_{};
  std::uint32_t clip_distances_ = 0;  // bit k: GL_CLIP_DISTANCEk is enabled
  GLint read_clamp_ = 0, fragment_clamp_ = 0;
  std::array<bool, 2> old_tests_{};
  std::array<GLfloat, 9> pixel_transfer_{};
};

// Throws unsupported where the host renders conditionally, which would discard passes as well. The context is current,
// without an error.
void require_unconditional_rendering(const Device&);

// Each state of desktop OpenGL that glGet and glIsEnabled know, by its name.
std::vector<std::pair<std::string, std::vector<GLint>>> all_desktop_state(const Device&);

}  // namespace tessera::gles

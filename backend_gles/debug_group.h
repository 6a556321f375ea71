// Names work for debuggers such as RenderDoc and apitrace, where the context has GL_KHR_debug.
#pragma once
#include <string_view>

#include "backend_gles/state.h"

namespace tessera::gles {

// Whether `more` groups fit onto the stack, on which a host may have groups of its own; the context is current.
inline bool has_room_for_groups(const Device& device, GLint more) {
  if (!device.names_work()) return false;
  if (!device.context().is_borrowed()) return true;
  constexpr GLint smallest_stack = 64;  // that GL_KHR_debug allows
  return integer(device.gl(), GL_DEBUG_GROUP_STACK_DEPTH_KHR) + more < smallest_stack;
}

// While this lives, the context is current, and commands belong to the group; null: to none.
class DebugGroup {
 public:
  DebugGroup(const GladGLES2Context* gl, std::string_view name) : gl_(gl) {
    constexpr std::size_t longest = 255;  // that every driver takes
    name = name.substr(0, longest);
    if (gl_) gl_->PushDebugGroupKHR(GL_DEBUG_SOURCE_THIRD_PARTY_KHR, 0, narrow<GLsizei>(name.size()), name.data());
  }
  ~DebugGroup() {
    if (gl_) gl_->PopDebugGroupKHR();
  }
  DebugGroup(const DebugGroup&) = delete;
  DebugGroup& operator=(const DebugGroup&) = delete;

 private:
  const GladGLES2Context* gl_;
};

}  // namespace tessera::gles

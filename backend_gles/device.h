// One GL context with its functions: what every other part of this backend works with.
#pragma once
#include <glad/gles2.h>

#include <memory>
#include <string_view>

#include "backend_gles/egl_context.h"
#include "core/backend.h"
#include "core/driver_start.h"

namespace tessera::gles {

class Device {
 public:
  explicit Device(const Display&);  // throws unsupported with the reason
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Every use of gl() needs one of these in scope.
  const EglContext& context() const { return context_; }
  void require(const CurrentContext&) const;  // throws device_lost where the context is lost or did not become current

  const GladGLES2Context& gl() const { return gl_; }
  const DeviceInfo& info() const { return info_; }
  Limits limits() const { return limits_; }
  int max_side() const { return max_side_; }  // of a texture that can be drawn to
  // SwiftShader: an infinity that a shader writes to a texture of halves comes out as NaN; 2^16 comes out as infinity.
  bool stores_half_infinity_as_nan() const { return contains_ignoring_case(info_.name, "swiftshader"); }

  bool is_lost() const { return is_lost_; }
  void lose() const { is_lost_ = true; }  // for tests

  // Throws what the driver has complained about since the last call: out_of_memory, device_lost, else unsupported.
  void check(std::string_view what) const;

  // For debuggers such as RenderDoc.
  void label(GLenum kind, GLuint name, std::string_view text) const;

 private:
  void load_functions();
  void read_limits();
  void describe();
  void set_state() const;

  EglContext context_;
  GladGLES2Context gl_{};
  DeviceInfo info_{};
  Limits limits_{};
  int max_side_ = 0;
  mutable bool is_lost_ = false, reset_is_known_ = false;  // see check()
};

// Enters the device for the length of a scope.
class Entered {
 public:
  explicit Entered(const Device& device) : current_(device.context()) { device.require(current_); }

 private:
  CurrentContext current_;
};

}  // namespace tessera::gles

// A GL context of our own: how it is made, and how it becomes current for the length of a call.
#pragma once
#include "backend_gles/egl.h"

namespace tessera::gles {

class EglContext {
 public:
  explicit EglContext(const Display&);  // throws unsupported where the display has no such context
  ~EglContext();
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  const Display& display() const { return display_; }

 private:
  friend class CurrentContext;
  Display display_;
  EGLContext handle_;
};

// While this lives, the context is current on the calling thread; what was current there comes back after. A context
// is current on one thread at most, so nothing stays current between calls. Nests at the price of one comparison.
class CurrentContext {
 public:
  explicit CurrentContext(const EglContext&) noexcept;
  ~CurrentContext();
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  bool is_current() const { return is_current_; }  // false where the driver refused, as after a loss

 private:
  const EglContext& context_;
  EGLContext before_;
  EGLDisplay display_before_ = EGL_NO_DISPLAY;
  EGLSurface draw_before_ = EGL_NO_SURFACE, read_before_ = EGL_NO_SURFACE;
  bool is_current_;
};

}  // namespace tessera::gles

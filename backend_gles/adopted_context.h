// A host's GL context: current where the host made it so, never made current, lost or destroyed by us.
#pragma once
#include <thread>

#include "backend_gles/gl_context.h"

namespace tessera::gles {

class AdoptedContext final : public GlContext {
 public:
  // The one that is current on this thread. Without a loader, the EGL libraries of the process are asked which of them
  // has one. Throws invalid_argument where there is none.
  explicit AdoptedContext(Loader);

  const Loader& loader() const override { return loader_; }
  bool enter(Before&) const noexcept override;
  void leave(const Before&) const noexcept override {}
  [[noreturn]] void refuse(const std::string& device) const override;
  bool is_borrowed() const override { return true; }
  bool has_extensions_on_request() const override { return false; }  // the host has chosen its own
  EGLDisplay display() const override { return display_; }
  EGLContext handle() const override { return is_egl() ? handle_ : EGL_NO_CONTEXT; }
  EGLContext make_sharing() const override;
  std::string egl_vendor() const override;

 private:
  using CurrentFunction = void* (*)();  // of EGL and of GLX, whose contexts are pointers
  bool is_egl() const { return display_ != EGL_NO_DISPLAY; }

  Loader loader_;
  CurrentFunction current_ =
      nullptr;              // null where nobody can tell which context is current: then it stays on its thread
  void* handle_ = nullptr;  // the host's context, as current_ tells it
  EGLDisplay display_ = EGL_NO_DISPLAY;
  std::thread::id thread_ = std::this_thread::get_id();
};

}  // namespace tessera::gles

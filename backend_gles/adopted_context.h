// A host's GL context. The host makes it current and destroys it; tessera never does.
#pragma once
#include <atomic>
#include <optional>
#include <thread>

#include "backend_gles/context_mark.h"
#include "backend_gles/gl_context.h"

namespace tessera::gles {

class AdoptedContext final : public GlContext {
 public:
  // Adopts the context that is current on this thread. Without a loader, finds the library of the process that has one,
  // of EGL, GLX or WGL. Throws invalid_argument where none has.
  explicit AdoptedContext(Loader);

  const Loader& loader() const override { return loader_; }
  bool enter(Before&) const noexcept override;
  void leave(const Before&) const noexcept override;
  [[noreturn]] void refuse(const std::string& device) const override;
  void mark(const GladGLES2Context& gl) const override { mark_.emplace(gl); }
  void unmark() const noexcept override {
    if (mark_) mark_->remove();
    mark_.reset();
  }
  bool is_known_to_be_lost() const noexcept override;
  bool is_borrowed() const override { return true; }
  bool has_extensions_on_request() const override { return false; }  // the host has chosen its extensions
  EGLDisplay display() const override { return display_; }
  EGLContext handle() const override { return is_egl() ? handle_ : EGL_NO_CONTEXT; }
  EGLContext make_sharing() const override;
  std::string egl_vendor() const override;

 private:
  using CurrentFunction = void* (*)();  // of EGL, GLX and WGL, whose contexts are pointers
  bool is_egl() const { return display_ != EGL_NO_DISPLAY; }
  bool is_at_its_place() const noexcept;  // the context that is current, whichever it is

  Loader loader_;
  // Null where nothing tells which context is current: the context is then used on the thread that adopted it.
  CurrentFunction current_ = nullptr;
  void* handle_ = nullptr;  // the host's context, as current_ told it
  EGLDisplay display_ = EGL_NO_DISPLAY;
  std::thread::id thread_ = std::this_thread::get_id();
  mutable std::optional<ContextMark> mark_;
  mutable int depth_ = 0;                          // of enter(), on the thread where the context is current
  mutable std::atomic<std::thread::id> inside_{};  // that thread, while it has entered; none: no thread has
};

}  // namespace tessera::gles

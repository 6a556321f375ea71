// A GL context, tessera's own or a host's, and how it is current for the length of a call.
#pragma once
#include <glad/egl.h>
#include <glad/gles2.h>

#include <string>

#include <tessera/gles.h>

namespace tessera {
struct VulkanDriver;
}

namespace tessera::gles {

class GlContext {
 public:
  virtual ~GlContext() = default;

  virtual const Loader& loader() const = 0;  // finds the functions of GL and, where the context is EGL's, of EGL
  template <class Function>
  Function find(const char* name) const {
    return reinterpret_cast<Function>(loader()(name));
  }

  // A context of tessera's own is entered and left; a host's is current already, or cannot be used.
  struct Before {
    EGLContext context = EGL_NO_CONTEXT;
    EGLDisplay display = EGL_NO_DISPLAY;
    EGLSurface draw = EGL_NO_SURFACE, read = EGL_NO_SURFACE;
  };
  virtual bool enter(Before&) const noexcept = 0;  // false where the context does not become current
  virtual void leave(const Before&) const noexcept = 0;
  [[noreturn]] virtual void refuse(const std::string& device) const = 0;  // throws the reason for which enter() failed

  // Of a host's context, which is current: from mark() to unmark(), enter() knows it from another at its address.
  virtual void mark(const GladGLES2Context&) const {}
  virtual void unmark() const noexcept {}

  virtual bool is_known_to_be_lost() const noexcept { return false; }  // without asking the device
  virtual bool is_borrowed() const = 0;                                // whether the context and its state are a host's
  virtual bool has_extensions_on_request() const = 0;
  virtual EGLDisplay display() const = 0;  // null where the context is not EGL's
  virtual EGLContext handle() const = 0;
  virtual EGLContext make_sharing() const = 0;  // a context for the host; throws unsupported
  virtual std::string egl_vendor() const = 0;
  virtual const VulkanDriver* driver() const { return nullptr; }  // that ANGLE runs on
};

// While this lives, the context is current on the calling thread; afterwards the one before is current again. A context
// is current on one thread at most, so none stays current between calls. Nesting costs one comparison.
class CurrentContext {
 public:
  explicit CurrentContext(const GlContext& context) noexcept : context_(context), is_current_(context.enter(before_)) {}
  ~CurrentContext() {
    if (is_current_) context_.leave(before_);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

  bool is_current() const { return is_current_; }  // false where the driver refused, as after a loss

 private:
  const GlContext& context_;
  GlContext::Before before_;
  bool is_current_;
};

}  // namespace tessera::gles

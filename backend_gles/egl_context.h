// A GL context of tessera's own, made by EGL.
#pragma once
#include "backend_gles/egl.h"
#include "backend_gles/gl_context.h"

namespace tessera::gles {

class EglContext final : public GlContext {
 public:
  explicit EglContext(const Display&);  // throws unsupported where the display has no such context
  ~EglContext() override;
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  const Loader& loader() const override { return loader_; }
  bool enter(Before&) const noexcept override;
  void leave(const Before&) const noexcept override;
  [[noreturn]] void refuse(const std::string& device) const override;
  bool is_borrowed() const override { return false; }
  bool has_extensions_on_request() const override { return display_.origin == Origin::angle; }
  EGLDisplay display() const override { return display_.handle; }
  EGLContext handle() const override { return handle_; }
  EGLContext make_sharing() const override;
  std::string egl_vendor() const override;
  const VulkanDriver* driver() const override { return display_.driver ? &*display_.driver : nullptr; }

 private:
  Display display_;
  Loader loader_;
  EGLContext handle_;
};

}  // namespace tessera::gles

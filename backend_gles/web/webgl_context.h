// A WebGL2 context of tessera's own, on a canvas that nobody sees.
#pragma once
#include <emscripten/html5.h>

#include "backend_gles/gl_context.h"

namespace tessera::gles {

class WebGlContext final : public GlContext {
 public:
  WebGlContext();  // throws unsupported where the browser gives none
  ~WebGlContext() override;
  WebGlContext(const WebGlContext&) = delete;
  WebGlContext& operator=(const WebGlContext&) = delete;

  const Loader& loader() const override;
  bool enter(Before&) const noexcept override;
  void leave(const Before&) const noexcept override;
  [[noreturn]] void refuse(const std::string& device) const override;
  bool is_known_to_be_lost() const noexcept override { return emscripten_is_webgl_context_lost(handle_); }
  bool is_borrowed() const override { return false; }
  bool has_extensions_on_request() const override { return true; }
  EGLDisplay display() const override { return nullptr; }
  EGLContext handle() const override { return reinterpret_cast<EGLContext>(handle_); }
  EGLContext make_sharing() const override;
  std::string egl_vendor() const override { return {}; }

 private:
  EMSCRIPTEN_WEBGL_CONTEXT_HANDLE handle_;
};

}  // namespace tessera::gles

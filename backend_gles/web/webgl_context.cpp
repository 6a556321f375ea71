#include "backend_gles/web/webgl_context.h"

#include <emscripten/emscripten.h>

#include "backend_gles/web/webgl_functions.h"
#include <tessera/error.h>

namespace tessera::gles {
namespace {

// clang-format off
#ifdef EM_JS_DEPS // what the functions here take of Emscripten's; older versions have it in every program
EM_JS_DEPS(tessera_webgl, "$GL,$specialHTMLTargets");
#endif
// Gives a canvas that is in no document the name by which Emscripten finds it.
EM_JS(void, tessera_make_hidden_canvas, (), {
  specialHTMLTargets["tessera"] = typeof OffscreenCanvas != "undefined" ? new OffscreenCanvas(1, 1) : document.createElement("canvas");
})
// A browser keeps 16 contexts or so, with those that wait for its garbage collector, and then loses the oldest one.
EM_JS(void, tessera_lose_context, (int handle), {
  const context = GL.getContext(handle);
  const extension = context && context.GLctx.getExtension("WEBGL_lose_context");
  if (extension) extension.loseContext();
})
// clang-format on

EMSCRIPTEN_WEBGL_CONTEXT_HANDLE make_context() {
  tessera_make_hidden_canvas();
  EmscriptenWebGLContextAttributes attributes;
  emscripten_webgl_init_context_attributes(&attributes);
  attributes.majorVersion = 2;
  attributes.alpha = attributes.depth = attributes.stencil = attributes.antialias = false;
  attributes.powerPreference = EM_WEBGL_POWER_PREFERENCE_HIGH_PERFORMANCE;
  const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE handle = emscripten_webgl_create_context("tessera", &attributes);
  if (handle <= 0) throw Error(ErrorCode::unsupported, "the browser gives no WebGL2 context");
  emscripten_webgl_enable_extension(handle, "WEBGL_debug_renderer_info");
  return handle;
}

}  // namespace

WebGlContext::WebGlContext() : handle_(make_context()) {}

WebGlContext::~WebGlContext() {
  tessera_lose_context(static_cast<int>(handle_));
  emscripten_webgl_destroy_context(handle_);
}

const Loader& WebGlContext::loader() const { return webgl_loader(); }

bool WebGlContext::enter(Before& before) const noexcept {
  const EMSCRIPTEN_WEBGL_CONTEXT_HANDLE current = emscripten_webgl_get_current_context();
  before.context = reinterpret_cast<EGLContext>(current);
  return current == handle_ || emscripten_webgl_make_context_current(handle_) == EMSCRIPTEN_RESULT_SUCCESS;
}

void WebGlContext::leave(const Before& before) const noexcept {
  const auto current = reinterpret_cast<EMSCRIPTEN_WEBGL_CONTEXT_HANDLE>(before.context);
  if (current != handle_) emscripten_webgl_make_context_current(current);
}

void WebGlContext::refuse(const std::string& device) const {
  throw Error(ErrorCode::device_lost, "The WebGL2 context of " + device + " cannot be made current.");
}

EGLContext WebGlContext::make_sharing() const {
  throw Error(ErrorCode::unsupported, "contexts of WebGL2 share no objects: let tessera adopt the page's own");
}

}  // namespace tessera::gles

#include "backend_gles/adopted_context.h"

#include <emscripten/html5.h>

#include "backend_gles/web/page_objects.h"
#include "backend_gles/web/webgl_functions.h"
#include "core/base/fail.h"

namespace tessera::gles {
namespace {

void* current_context() { return reinterpret_cast<void*>(emscripten_webgl_get_current_context()); }

}  // namespace

AdoptedContext::AdoptedContext(Loader given)
    : loader_(given ? std::move(given) : webgl_loader()), current_(current_context), handle_(current_context()) {
  if (!handle_)
    fail(ErrorCode::invalid_argument, "gles::adopt_current",
         "no WebGL2 context is current; call emscripten_webgl_make_context_current() first.");
  enable_extensions();
}

// Without a look at the mark: Chromium stands still for some questions to WebGL.
bool AdoptedContext::enter(Before&) const noexcept {
  if (current_() != handle_) return false;
  if (depth_++ == 0) take_page_uploads_plain();
  return true;
}

void AdoptedContext::leave(const Before&) const noexcept {
  if (--depth_ > 0) return;
  give_page_uploads_back();
  forget_page_objects();
}

void AdoptedContext::refuse(const std::string& device) const {
  throw Error(ErrorCode::wrong_thread, "The page's WebGL2 context on " + device +
                                           " is not current: call emscripten_webgl_make_context_current() first.");
}

bool AdoptedContext::is_known_to_be_lost() const noexcept {
  return emscripten_is_webgl_context_lost(reinterpret_cast<EMSCRIPTEN_WEBGL_CONTEXT_HANDLE>(handle_));
}

EGLContext AdoptedContext::make_sharing() const {
  throw Error(ErrorCode::unsupported, "contexts of WebGL2 share no objects");
}

std::string AdoptedContext::egl_vendor() const { return {}; }

}  // namespace tessera::gles

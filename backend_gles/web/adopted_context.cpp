#include "backend_gles/adopted_context.h"

#include <emscripten/html5.h>

#include "backend_gles/web/page_objects.h"
#include "backend_gles/web/webgl_functions.h"
#include "core/base/fail.h"

namespace tessera::gles {
namespace {

void* current_context() { return reinterpret_cast<void*>(emscripten_webgl_get_current_context()); }
bool make_current(void* context) {
  return emscripten_webgl_make_context_current(reinterpret_cast<EMSCRIPTEN_WEBGL_CONTEXT_HANDLE>(context)) ==
         EMSCRIPTEN_RESULT_SUCCESS;
}

}  // namespace

AdoptedContext::AdoptedContext(Loader given)
    : loader_(given ? std::move(given) : webgl_loader()), current_(current_context), handle_(current_context()) {
  if (!handle_)
    fail(ErrorCode::invalid_argument, "gles::adopt_current",
         "no WebGL2 context is current; call emscripten_webgl_make_context_current() first.");
  enable_extensions();
}

// A page has one thread: its context is made current for the length of a call, so that work goes on between events,
// whichever context the page uses meanwhile. Without a look at the mark: Chromium stands still for some questions.
bool AdoptedContext::enter(Before& before) const noexcept {
  before.context = current_();
  if (before.context != handle_ && !make_current(handle_)) {
    make_current(before.context);
    return false;
  }
  if (depth_++ == 0) take_page_uploads_plain();
  return true;
}

void AdoptedContext::leave(const Before& before) const noexcept {
  if (--depth_ == 0) {
    give_page_uploads_back();
    forget_page_objects();
  }
  if (before.context != handle_) make_current(before.context);
}

void AdoptedContext::refuse(const std::string& device) const {
  throw Error(ErrorCode::device_lost,
              "The page's WebGL2 context on " + device + " is gone: the page has destroyed it.");
}

bool AdoptedContext::is_known_to_be_lost() const noexcept {
  return emscripten_is_webgl_context_lost(reinterpret_cast<EMSCRIPTEN_WEBGL_CONTEXT_HANDLE>(handle_));
}

EGLContext AdoptedContext::make_sharing() const {
  throw Error(ErrorCode::unsupported, "contexts of WebGL2 share no objects");
}

std::string AdoptedContext::egl_vendor() const { return {}; }

}  // namespace tessera::gles

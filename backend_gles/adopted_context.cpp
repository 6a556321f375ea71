#include "backend_gles/adopted_context.h"

#include <dlfcn.h>

#include <tessera/error.h>

namespace tessera::gles {
namespace {

// A program may hold several EGL libraries; the host's is the one that has a context current here.
AdoptedContext::Loader loader_of_current() {
  void* const libraries[] = {RTLD_DEFAULT, dlopen("libEGL.so.1", RTLD_NOW | RTLD_NOLOAD),
                             dlopen("libEGL.so", RTLD_NOW | RTLD_NOLOAD)};
  for (std::size_t i = 0; i < std::size(libraries); ++i) {
    if (i > 0 && !libraries[i]) continue;  // RTLD_DEFAULT is null
    const auto current = reinterpret_cast<PFNEGLGETCURRENTCONTEXTPROC>(dlsym(libraries[i], "eglGetCurrentContext"));
    if (current && current() != EGL_NO_CONTEXT)
      return reinterpret_cast<AdoptedContext::Loader>(dlsym(libraries[i], "eglGetProcAddress"));
  }
  throw Error(ErrorCode::invalid_argument,
              "adopt_current: no EGL library of this program has a context that is current on this thread; make one "
              "current, or pass a function that finds GL functions.");
}

// GLX's loader finds a function for every name, also for those of EGL; calling them is undefined.
bool finds_anything(AdoptedContext::Loader loader) { return loader("eglNoSuchFunctionTESSERA") != nullptr; }

}  // namespace

AdoptedContext::AdoptedContext(Loader given) : loader_(given ? given : loader_of_current()) {
  if (finds_anything(loader_)) return;
  current_context_ = find<PFNEGLGETCURRENTCONTEXTPROC>("eglGetCurrentContext");
  if (!current_context_) return;
  handle_ = current_context_();
  if (handle_ == EGL_NO_CONTEXT) return;
  if (const auto current_display = find<PFNEGLGETCURRENTDISPLAYPROC>("eglGetCurrentDisplay"))
    display_ = current_display();
}

bool AdoptedContext::enter(Before&) const noexcept {
  if (handle_ != EGL_NO_CONTEXT) return current_context_() == handle_;
  return std::this_thread::get_id() == thread_;
}

void AdoptedContext::refuse(const std::string& device) const {
  if (handle_ == EGL_NO_CONTEXT)
    throw Error(ErrorCode::wrong_thread, "The host's GL context on " + device +
                                             " was adopted on another thread than this one, and works there only.");
  const bool is_none = current_context_() == EGL_NO_CONTEXT;
  throw Error(ErrorCode::wrong_thread, "The host's GL context on " + device + " is not current on this thread: " +
                                           (is_none ? "no context is." : "another context is.") +
                                           " Make it current here, or call from where it is.");
}

std::string AdoptedContext::egl_vendor() const {
  const auto query = find<PFNEGLQUERYSTRINGPROC>("eglQueryString");
  const char* vendor = query && display_ != EGL_NO_DISPLAY ? query(display_, EGL_VENDOR) : nullptr;
  return vendor ? vendor : "";
}

}  // namespace tessera::gles

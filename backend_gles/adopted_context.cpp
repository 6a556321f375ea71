#include "backend_gles/adopted_context.h"

#include <dlfcn.h>

#include <string_view>

#include "core/base/fail.h"

namespace tessera::gles {
namespace {

// A program may hold several EGL libraries; the host's is the one whose context is current on this thread.
Loader loader_of_current() {
  void* const libraries[] = {RTLD_DEFAULT, dlopen("libEGL.so.1", RTLD_NOW | RTLD_NOLOAD),
                             dlopen("libEGL.so", RTLD_NOW | RTLD_NOLOAD)};
  for (std::size_t i = 0; i < std::size(libraries); ++i) {
    if (i > 0 && !libraries[i]) continue;  // RTLD_DEFAULT is null
    const auto current = reinterpret_cast<PFNEGLGETCURRENTCONTEXTPROC>(dlsym(libraries[i], "eglGetCurrentContext"));
    if (current && current() != EGL_NO_CONTEXT)
      return reinterpret_cast<PFNEGLGETPROCADDRESSPROC>(dlsym(libraries[i], "eglGetProcAddress"));
  }
  for (const char* name : {"libGLX.so.0", "libGL.so.1"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    const auto current = reinterpret_cast<void* (*)()>(dlsym(library, "glXGetCurrentContext"));
    if (current && current())
      return reinterpret_cast<void* (*)(const unsigned char*)>(dlsym(library, "glXGetProcAddressARB"));
  }
  fail(ErrorCode::invalid_argument, "gles::adopt_current",
       "neither EGL nor GLX has a context in this program that is current on this thread; make one current, or pass a "
       "function that finds GL functions.");
}

// GLX's loader finds a function for every name, also for those of EGL; calling them is undefined.
bool finds_anything(const Loader& loader) { return loader("eglNoSuchFunctionTESSERA") != nullptr; }

// EGL's loader in turn finds a function for every name that begins with "gl". The real function is exported.
bool is_exported_as(void* function, std::string_view name) {
  Dl_info info{};
  return function && dladdr(function, &info) != 0 && info.dli_sname && info.dli_sname == name;
}

// A host may unload its GL library before it lets go of its tensors: keeps the library of this function loaded.
void keep_loaded(void* function) {
  Dl_info info{};
  if (dladdr(function, &info) != 0 && info.dli_fname) dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

AdoptedContext::AdoptedContext(Loader given) : loader_(given ? std::move(given) : loader_of_current()) {
  const auto ask = [this](void* function) {
    current_ = reinterpret_cast<CurrentFunction>(function);
    handle_ = current_ ? current_() : nullptr;
    return handle_ != nullptr;
  };
  if (!finds_anything(loader_) && ask(loader_("eglGetCurrentContext"))) {
    if (const auto current_display = find<PFNEGLGETCURRENTDISPLAYPROC>("eglGetCurrentDisplay"))
      display_ = current_display();
  } else if (void* const of_glx = loader_("glXGetCurrentContext");
             !is_exported_as(of_glx, "glXGetCurrentContext") || !ask(of_glx)) {
    current_ = nullptr;
  }
  for (void* const function : {reinterpret_cast<void*>(current_), loader_("glDeleteTextures")})
    if (function) keep_loaded(function);
}

bool AdoptedContext::enter(Before&) const noexcept {
  if (current_) return current_() == handle_;
  return std::this_thread::get_id() == thread_;
}

void AdoptedContext::refuse(const std::string& device) const {
  if (!current_)
    throw Error(ErrorCode::wrong_thread, "The host's GL context on " + device +
                                             " was adopted on another thread than this one, and works there only.");
  const bool is_none = current_() == nullptr;
  throw Error(ErrorCode::wrong_thread, "The host's GL context on " + device + " is not current on this thread: " +
                                           (is_none ? "no context is." : "another context is.") +
                                           " Make it current here, or call from where it is.");
}

EGLContext AdoptedContext::make_sharing() const {
  throw Error(ErrorCode::unsupported,
              "tessera works in the host's own context, and only the host knows with which attributes another one can "
              "share with that");
}

std::string AdoptedContext::egl_vendor() const {
  const auto query = find<PFNEGLQUERYSTRINGPROC>("eglQueryString");
  const char* vendor = query && is_egl() ? query(display_, EGL_VENDOR) : nullptr;
  return vendor ? vendor : "";
}

}  // namespace tessera::gles

#include "backend_gles/adopted_context.h"

#include <cstdint>

#include "core/base/fail.h"
#include "core/platform/library.h"

namespace tessera::gles {
namespace {

// The host's EGL library is the one whose context is current on this thread. `find` looks names up in one that there
// may be.
template <class Find>
PFNEGLGETPROCADDRESSPROC loader_of_egl(const Find& find) {
  const auto current = reinterpret_cast<PFNEGLGETCURRENTCONTEXTPROC>(find("eglGetCurrentContext"));
  if (!current || current() == EGL_NO_CONTEXT) return nullptr;
  return reinterpret_cast<PFNEGLGETPROCADDRESSPROC>(find("eglGetProcAddress"));
}

constexpr const char* wgl_name = "opengl32.dll";  // no library of other systems has that name
using AskCurrent = void* (*)();                   // of GLX and of WGL

AskCurrent current_of_wgl() {
  void* const library = loaded_library(wgl_name);
  return library ? reinterpret_cast<AskCurrent>(find_in(library, "wglGetCurrentContext")) : nullptr;
}

// WGL's loader finds functions of OpenGL 1.2 and later only, and drivers say in several ways that they have found
// nothing; those of 1.1 are exported.
Loader loader_of_wgl() {
  void* const library = loaded_library(wgl_name);
  const auto get = reinterpret_cast<void* (*)(const char*)>(find_in(library, "wglGetProcAddress"));
  return [library, get](const char* name) -> void* {
    void* const function = get(name);
    const auto number = reinterpret_cast<std::intptr_t>(function);
    return number < -1 || number > 3 ? function : find_in(library, name);
  };
}

// A program may hold several EGL libraries.
Loader loader_of_current() {
  if (const auto loader = loader_of_egl(find_in_program)) return loader;
  for (const char* name : {library_names.system_egl, library_names.angle_egl})
    if (void* const library = loaded_library(name))
      if (const auto loader = loader_of_egl([&](const char* function) { return find_in(library, function); }))
        return loader;
  for (const char* name : {"libGLX.so.0", "libGL.so.1"}) {
    void* const library = loaded_library(name);
    if (!library) continue;
    const auto current = reinterpret_cast<AskCurrent>(find_in(library, "glXGetCurrentContext"));
    if (current && current())
      return reinterpret_cast<void* (*)(const unsigned char*)>(find_in(library, "glXGetProcAddressARB"));
  }
  if (const auto current = current_of_wgl(); current && current()) return loader_of_wgl();
  fail(ErrorCode::invalid_argument, "gles::adopt_current",
       "no library of EGL, GLX or WGL has a context in this program that is current on this thread; make one current, "
       "or pass a function that finds GL functions.");
}

// GLX's loader finds a function for every name, also for those of EGL; calling them is undefined.
bool finds_anything(const Loader& loader) { return loader("eglNoSuchFunctionTESSERA") != nullptr; }

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
    // EGL's loader in turn finds a function for every name that begins with "gl". The real function is exported.
  } else if (void* const of_glx = loader_("glXGetCurrentContext");
             !(is_exported_as(of_glx, "glXGetCurrentContext") && ask(of_glx)) &&
             !ask(reinterpret_cast<void*>(current_of_wgl()))) {
    current_ = nullptr;
  }
  // A host may unload its GL library before it lets go of its tensors.
  for (void* const function : {reinterpret_cast<void*>(current_), loader_("glDeleteTextures")})
    if (function) keep_loaded(function);
}

bool AdoptedContext::is_at_its_place() const noexcept {
  if (current_) return current_() == handle_;
  return std::this_thread::get_id() == thread_;
}

bool AdoptedContext::enter(Before&) const noexcept {
  const std::thread::id here = std::this_thread::get_id();
  if (inside_ != here) {
    if (!is_at_its_place() || (mark_ && !mark_->is_here())) return false;
    inside_ = here;
  }
  ++depth_;
  return true;
}

void AdoptedContext::leave(const Before&) const noexcept {
  if (--depth_ == 0) inside_ = std::thread::id();
}

void AdoptedContext::refuse(const std::string& device) const {
  if (is_at_its_place())
    throw Error(ErrorCode::wrong_thread, "The host's GL context on " + device +
                                             " is gone: another context is current at its address. Let go of this "
                                             "tessera context, and adopt the other one.");
  if (!current_)
    throw Error(ErrorCode::wrong_thread, "The host's GL context on " + device +
                                             " was adopted on another thread than this one, and works there only.");
  const bool is_none = current_() == nullptr;
  throw Error(ErrorCode::wrong_thread, "The host's GL context on " + device + " is not current on this thread: " +
                                           (is_none ? "no context is." : "another context is.") +
                                           " Make it current here, or call from where it is.");
}

bool AdoptedContext::is_known_to_be_lost() const noexcept { return false; }  // only the driver knows

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

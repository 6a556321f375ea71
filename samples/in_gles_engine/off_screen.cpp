#include "off_screen.h"

#include <dlfcn.h>
#include <glad/egl.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

using GetProcAddress = void* (*)(const char*);
GetProcAddress egl_get_proc_address = nullptr;

template <class Function>
Function egl(const char* name) {
  return reinterpret_cast<Function>(egl_get_proc_address(name));
}

// Mesa has a platform without surfaces; elsewhere the default display does.
EGLDisplay open_display() {
  const auto query = egl<PFNEGLQUERYSTRINGPROC>("eglQueryString");
  const auto get_platform_display = egl<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  const char* extensions = query(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (get_platform_display && extensions &&
      std::string(extensions).find("EGL_MESA_platform_surfaceless") != std::string::npos)
    return get_platform_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
  return egl<PFNEGLGETDISPLAYPROC>("eglGetDisplay")(EGL_DEFAULT_DISPLAY);
}

}  // namespace

void* OffScreen::get_proc_address(const char* name) { return egl_get_proc_address(name); }

OffScreen::OffScreen() {
  const char* wanted = std::getenv("ENGINE_EGL");
  void* library = dlopen(wanted ? wanted : "libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) throw std::runtime_error(dlerror());
  egl_get_proc_address = reinterpret_cast<GetProcAddress>(dlsym(library, "eglGetProcAddress"));
  if (!egl_get_proc_address) throw std::runtime_error("the EGL library lacks eglGetProcAddress");

  display_ = open_display();
  if (!display_ || !egl<PFNEGLINITIALIZEPROC>("eglInitialize")(display_, nullptr, nullptr))
    throw std::runtime_error("EGL has no display that needs no window system");
  egl<PFNEGLBINDAPIPROC>("eglBindAPI")(EGL_OPENGL_ES_API);
  const EGLint wishes[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, 0, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint count = 0;
  egl<PFNEGLCHOOSECONFIGPROC>("eglChooseConfig")(display_, wishes, &config, 1, &count);
  const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
  context_ = egl<PFNEGLCREATECONTEXTPROC>("eglCreateContext")(display_, config, EGL_NO_CONTEXT, version);
  if (!context_ || !egl<PFNEGLMAKECURRENTPROC>("eglMakeCurrent")(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_))
    throw std::runtime_error("EGL gives no OpenGL ES 3 context without a window");
}

OffScreen::~OffScreen() {
  egl<PFNEGLMAKECURRENTPROC>("eglMakeCurrent")(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  egl<PFNEGLDESTROYCONTEXTPROC>("eglDestroyContext")(display_, context_);
  egl<PFNEGLTERMINATEPROC>("eglTerminate")(display_);
}

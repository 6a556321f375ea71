#include "backend_gles/egl.h"

#include "core/platform/library.h"
#include <tessera/error.h>

namespace tessera::gles {

std::shared_ptr<const Egl> load_egl(const std::filesystem::path& path) {
  void* const library = require_library(path);
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find_in(library, name));
    if (!function) throw Error(ErrorCode::not_found, path.string() + " lacks " + name);
  };
  auto egl = std::make_shared<Egl>();
  load(egl->GetProcAddress, "eglGetProcAddress");
  load(egl->GetError, "eglGetError");
  load(egl->QueryString, "eglQueryString");
  load(egl->GetDisplay, "eglGetDisplay");
  load(egl->Initialize, "eglInitialize");
  load(egl->ChooseConfig, "eglChooseConfig");
  load(egl->BindAPI, "eglBindAPI");
  load(egl->QueryAPI, "eglQueryAPI");
  load(egl->CreateContext, "eglCreateContext");
  load(egl->DestroyContext, "eglDestroyContext");
  load(egl->MakeCurrent, "eglMakeCurrent");
  load(egl->GetCurrentContext, "eglGetCurrentContext");
  load(egl->GetCurrentDisplay, "eglGetCurrentDisplay");
  load(egl->GetCurrentSurface, "eglGetCurrentSurface");
  egl->GetPlatformDisplayEXT =
      reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(egl->GetProcAddress("eglGetPlatformDisplayEXT"));
  return egl;
}

}  // namespace tessera::gles

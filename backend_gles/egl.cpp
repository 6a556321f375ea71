#include "backend_gles/egl.h"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>

#include <tessera/error.h>

namespace tessera::gles {

namespace {

// RTLD_LOCAL: ANGLE's libraries export the same names as the system's. RTLD_DEEPBIND: they have variables of the names
// of Vulkan's functions, and shall not get these in a program that is linked with libvulkan. Sanitizers refuse it.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int apart = RTLD_NOW | RTLD_LOCAL;
#else
constexpr int apart = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif

}  // namespace

std::shared_ptr<const Egl> load_egl(const std::string& path) {
  // ANGLE's libEGL loads the other one itself, and finds it loaded.
  if (const std::filesystem::path folder = std::filesystem::path(path).parent_path(); !folder.empty())
    dlopen((folder / "libGLESv2.so").c_str(), apart);
  void* library = dlopen(path.c_str(), apart);
  if (!library) {
    const char* reason = dlerror();
    throw Error(ErrorCode::not_found, reason ? reason : path + " cannot be loaded");
  }
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function) throw Error(ErrorCode::not_found, path + " lacks " + name);
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

bool has_extension(std::string_view extensions, std::string_view name) {
  for (std::size_t at = extensions.find(name); at != std::string_view::npos; at = extensions.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || extensions[at - 1] == ' ') && (end == extensions.size() || extensions[end] == ' ')) return true;
  }
  return false;
}

std::string hex(int code) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04X", static_cast<unsigned>(code));
  return text;
}

}  // namespace tessera::gles

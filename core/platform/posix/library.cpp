#include "core/platform/library.h"

#include <dlfcn.h>

#include <string>
#include <string_view>

#include <tessera/error.h>

namespace tessera {

#ifdef __APPLE__
const LibraryNames library_names{.angle_egl = "libEGL.dylib",
                                 .angle_gles = "libGLESv2.dylib",
                                 .swiftshader = "libvk_swiftshader.dylib",
                                 .system_egl = "libEGL.dylib",
                                 .vulkan = "libvulkan.1.dylib"};
#else
const LibraryNames library_names{.angle_egl = "libEGL.so",
                                 .angle_gles = "libGLESv2.so",
                                 .swiftshader = "libvk_swiftshader.so",
                                 .system_egl = "libEGL.so.1",
                                 .vulkan = "libvulkan.so.1"};
#endif

void* open_library(const std::filesystem::path& file) noexcept { return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }

void* require_library(const std::filesystem::path& file) {
  if (void* const library = open_library(file)) return library;
  const char* const reason = dlerror();
  throw Error(ErrorCode::not_found, reason ? reason : file.string() + " cannot be loaded");
}

void close_library(void* library) noexcept { dlclose(library); }

void open_before_the_program([[maybe_unused]] const std::filesystem::path& file) noexcept {
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers refuse it
  dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#endif
}

void* loaded_library(const char* name) noexcept { return dlopen(name, RTLD_NOW | RTLD_NOLOAD); }

void* find_in(void* library, const char* name) noexcept { return dlsym(library, name); }
void* find_in_program(const char* name) noexcept { return dlsym(RTLD_DEFAULT, name); }

bool is_exported_as(void* function, const char* name) noexcept {
  Dl_info info{};
  return function && dladdr(function, &info) != 0 && info.dli_sname && info.dli_sname == std::string_view(name);
}

void keep_loaded(void* function) noexcept {
  Dl_info info{};
  if (dladdr(function, &info) != 0 && info.dli_fname) dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

std::filesystem::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path();
}

}  // namespace tessera

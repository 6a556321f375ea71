#include "backend_gles/angle.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "core/platform/library_file.h"
#include <tessera/error.h>

namespace tessera::gles {
namespace fs = std::filesystem;
namespace {

// Makes a new folder where this system has temporary files; $TMPDIR may name something that is no folder.
fs::path make_temporary_folder() {
  std::error_code ignored;
  std::string names;
  for (const fs::path& place : {fs::temp_directory_path(ignored), fs::path("/tmp"), fs::path("/var/tmp")}) {
    if (place.empty()) continue;
    std::string name = place / "tessera-angle-XXXXXX";
    if (mkdtemp(name.data())) return name;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw Error(ErrorCode::io, "ANGLE cannot be copied, for none of these folders can be made: " + names);
}

// ANGLE's libEGL.so calls functions of its libGLESv2.so without checking that it has found them.
void require_gles_library(const fs::path& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const reason = dlerror();
    throw Error(ErrorCode::not_found, reason ? reason : file.string() + " cannot be loaded");
  }
  if (!dlsym(library, "EGL_Initialize")) throw Error(ErrorCode::not_found, file.string() + " is not ANGLE's");
}

}  // namespace

void require_whole_angle(const fs::path& folder) {
  if (folder.empty()) throw Error(ErrorCode::not_found, "there is no ANGLE");
  std::error_code ignored;
  for (const char* library : {"libEGL.so", "libGLESv2.so", "libvulkan.so.1"}) {
    const bool is_optional = std::string_view(library) == "libvulkan.so.1";  // the system has another
    if (is_optional && !fs::exists(folder / library, ignored)) continue;
    if (const std::string reason = why_not_loadable(folder / library); !reason.empty())
      throw Error(ErrorCode::not_found, reason);
  }
}

void keep_apart_from_the_hosts_vulkan([[maybe_unused]] const fs::path& folder) {
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers refuse it
  if (!dlsym(RTLD_DEFAULT, "vkCreateInstance")) return;
  for (const char* library : {"libvulkan.so.1", "libGLESv2.so", "libEGL.so"})
    dlopen((folder / library).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);  // also for all who open it later
#endif
}

AnotherAngle::AnotherAngle(const fs::path& folder) : AnotherAngle() {
  static bool is_loaded = false;
  if (is_loaded) copy(folder);
  const fs::path& from = is_loaded ? copy_ : folder;
  keep_apart_from_the_hosts_vulkan(from);
  require_gles_library(from / "libGLESv2.so");
  egl_ = load_egl(from / "libEGL.so");
  is_loaded = true;
}

AnotherAngle::~AnotherAngle() {
  std::error_code ignored;
  if (!copy_.empty()) fs::remove_all(copy_, ignored);
}

// The dynamic linker takes two links to one file for one library, so libraries with global variables are copied.
void AnotherAngle::copy(const fs::path& folder) {
  copy_ = make_temporary_folder();
  try {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const fs::path file = entry.path().filename();
      if (file == "libEGL.so" || file == "libGLESv2.so") fs::copy_file(entry.path(), copy_ / file);
      else fs::create_symlink(fs::absolute(entry.path()), copy_ / file);
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::io, std::string("ANGLE cannot be copied: ") + error.what());
  }
}

}  // namespace tessera::gles

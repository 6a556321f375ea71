#include "backend_gles/angle.h"

#include <string>

#include "core/platform/library.h"
#include "core/platform/library_file.h"
#include "core/platform/temporary_folder.h"
#include <tessera/error.h>

namespace tessera::gles {
namespace fs = std::filesystem;
namespace {

// ANGLE's libEGL.so calls functions of its libGLESv2.so without checking that it has found them.
void require_gles_library(const fs::path& file) {
  if (!find_in(require_library(file), "EGL_Initialize"))
    throw Error(ErrorCode::not_found, file.string() + " is not ANGLE's");
}

}  // namespace

void require_whole_angle(const fs::path& folder) {
  if (folder.empty()) throw Error(ErrorCode::not_found, "there is no ANGLE");
  std::error_code ignored;
  for (const char* library : {library_names.angle_egl, library_names.angle_gles, library_names.vulkan}) {
    const bool is_optional = library == library_names.vulkan;  // the system has another
    if (is_optional && !fs::exists(folder / library, ignored)) continue;
    if (const std::string reason = why_not_loadable(folder / library); !reason.empty())
      throw Error(ErrorCode::not_found, reason);
  }
}

void keep_apart_from_the_hosts_vulkan(const fs::path& folder) {
  if (!find_in_program("vkCreateInstance")) return;
  for (const char* library : {library_names.vulkan, library_names.angle_gles, library_names.angle_egl})
    open_before_the_program(folder / library);
}

AnotherAngle::AnotherAngle(const fs::path& folder) : AnotherAngle() {
  static bool is_loaded = false;
  if (is_loaded) copy(folder);
  const fs::path& from = is_loaded ? copy_ : folder;
  keep_apart_from_the_hosts_vulkan(from);
  require_gles_library(from / library_names.angle_gles);
  egl_ = load_egl(from / library_names.angle_egl);
  is_loaded = true;
}

AnotherAngle::~AnotherAngle() {
  std::error_code ignored;
  if (!copy_.empty()) fs::remove_all(copy_, ignored);
}

// The dynamic linker takes two links to one file for one library, so libraries with global variables are copied.
void AnotherAngle::copy(const fs::path& folder) {
  try {
    copy_ = make_temporary_folder("tessera-angle");
    for (const auto& entry : fs::directory_iterator(folder)) {
      const fs::path file = entry.path().filename();
      if (file == library_names.angle_egl || file == library_names.angle_gles)
        fs::copy_file(entry.path(), copy_ / file);
      else make_link(fs::absolute(entry.path()), copy_ / file);
    }
  } catch (const std::exception& error) {
    throw Error(ErrorCode::io, std::string("ANGLE cannot be copied: ") + error.what());
  }
}

}  // namespace tessera::gles

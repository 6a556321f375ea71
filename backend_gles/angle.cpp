#include "backend_gles/angle.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include <tessera/error.h>

namespace tessera::gles {
namespace fs = std::filesystem;

void keep_apart_from_the_hosts_vulkan([[maybe_unused]] const fs::path& folder) {
#if defined(RTLD_DEEPBIND) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which refuse it
  if (!dlsym(RTLD_DEFAULT, "vkCreateInstance")) return;
  for (const char* library : {"libvulkan.so.1", "libGLESv2.so", "libEGL.so"})
    dlopen((folder / library).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);  // stays so for all who open it later
#endif
}

AnotherAngle::AnotherAngle(const fs::path& folder) : AnotherAngle() {
  static bool is_loaded = false;
  if (folder.empty()) throw Error(ErrorCode::not_found, "there is no ANGLE");
  if (is_loaded) copy(folder);
  const fs::path& from = is_loaded ? copy_ : folder;
  keep_apart_from_the_hosts_vulkan(from);
  egl_ = load_egl(from / "libEGL.so");
  is_loaded = true;
}

AnotherAngle::~AnotherAngle() {
  std::error_code ignored;
  if (!copy_.empty()) fs::remove_all(copy_, ignored);
}

// The dynamic linker takes one file under two names for one library, so links do not do for the parts with variables.
void AnotherAngle::copy(const fs::path& folder) {
  std::string name = fs::temp_directory_path() / "tessera-angle-XXXXXX";
  if (!mkdtemp(name.data())) throw Error(ErrorCode::io, "cannot make a folder " + name + " to copy ANGLE to");
  copy_ = name;
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

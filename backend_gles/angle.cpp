#include "backend_gles/angle.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include <tessera/error.h>

namespace tessera::gles {
namespace fs = std::filesystem;
namespace {

// As much of vulkan.h as counting devices takes.
struct InstanceInfo {
  std::int32_t type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  std::uint32_t flags = 0;
  const void* application = nullptr;
  std::uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  std::uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
};
using Instance = struct OpaqueInstance*;
using CreateInstance = std::int32_t (*)(const InstanceInfo*, const void* allocator, Instance*);
using EnumeratePhysicalDevices = std::int32_t (*)(Instance, std::uint32_t* count, void* devices);
using DestroyInstance = void (*)(Instance, const void* allocator);

std::uint32_t count_devices(void* loader) {
  const auto create = reinterpret_cast<CreateInstance>(dlsym(loader, "vkCreateInstance"));
  const auto enumerate = reinterpret_cast<EnumeratePhysicalDevices>(dlsym(loader, "vkEnumeratePhysicalDevices"));
  const auto destroy = reinterpret_cast<DestroyInstance>(dlsym(loader, "vkDestroyInstance"));
  const InstanceInfo info;
  Instance instance = nullptr;
  if (!create || !enumerate || !destroy || create(&info, nullptr, &instance) != 0) return 0;
  std::uint32_t count = 0;
  if (enumerate(instance, &count, nullptr) != 0) count = 0;
  destroy(instance, nullptr);
  return count;
}

}  // namespace

void require_vulkan_device(const fs::path& folder) {
  void* loader = dlopen((folder / "libvulkan.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!loader) loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!loader) throw Error(ErrorCode::unsupported, "there is no Vulkan loader");
  if (count_devices(loader) == 0) throw Error(ErrorCode::unsupported, "its Vulkan driver finds no device");
}

AnotherAngle::AnotherAngle(const fs::path& folder) : AnotherAngle() {
  static bool is_loaded = false;
  if (folder.empty()) throw Error(ErrorCode::not_found, "there is no ANGLE");
  if (is_loaded) copy(folder);
  egl_ = load_egl((is_loaded ? copy_ : folder) / "libEGL.so");
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
      if (file == "libEGL.so" || file == "libGLESv2.so")
        fs::copy_file(entry.path(), copy_ / file);
      else
        fs::create_symlink(fs::absolute(entry.path()), copy_ / file);
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(ErrorCode::io, std::string("ANGLE cannot be copied: ") + error.what());
  }
}

}  // namespace tessera::gles

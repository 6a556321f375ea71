#include "core/vulkan_probe.h"

#include <dlfcn.h>

#include <cstdint>
#include <memory>

namespace tessera {
namespace {

constexpr const char* loader_name = "libvulkan.so.1";

// The little of vulkan.h that is needed here; Vulkan's ABI is fixed.
struct Instance;
struct InstanceCreateInfo {
  std::int32_t type = 1;  // VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO
  const void* next = nullptr;
  std::uint32_t flags = 0;
  const void* application = nullptr;
  std::uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  std::uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
};
using CreateInstance = std::int32_t (*)(const InstanceCreateInfo*, const void* allocator, Instance**);
using DestroyInstance = void (*)(Instance*, const void* allocator);
using EnumeratePhysicalDevices = std::int32_t (*)(Instance*, std::uint32_t* count, void** devices);

struct Close {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, Close>;

Library open_library(const std::filesystem::path& file) { return Library(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)); }

template <class Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

std::string why_vulkan_has_no_device(const std::filesystem::path& folder) {
  Library loader = folder.empty() ? nullptr : open_library(folder / loader_name);
  if (!loader) loader = open_library(loader_name);
  if (!loader) return "libvulkan.so.1, the Vulkan loader, is not there";
  const auto create = function<CreateInstance>(loader.get(), "vkCreateInstance");
  const auto destroy = function<DestroyInstance>(loader.get(), "vkDestroyInstance");
  const auto enumerate = function<EnumeratePhysicalDevices>(loader.get(), "vkEnumeratePhysicalDevices");
  if (!create || !destroy || !enumerate) return "libvulkan.so.1 is not a Vulkan loader";

  const InstanceCreateInfo info;
  Instance* instance = nullptr;
  if (create(&info, nullptr, &instance) != 0) return "the driver does not start";
  std::uint32_t count = 0;
  const std::int32_t result = enumerate(instance, &count, nullptr);
  destroy(instance, nullptr);
  return result == 0 && count > 0 ? "" : "it has no device on this machine";
}

}  // namespace tessera

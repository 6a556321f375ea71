#include "core/platform/vulkan_probe.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>

#include "core/platform/library.h"
#include "core/platform/library_file.h"
#include "core/platform/vulkan_abi.h"

namespace tessera {
namespace {

using vulkan::ApplicationInfo, vulkan::InstanceCreateInfo, vulkan::InstanceHandle, vulkan::PhysicalHandle,
    vulkan::DeviceProperties, vulkan::DevicePropertiesAndMore;
using CreateInstance = vulkan::Function<const InstanceCreateInfo*, const void*, InstanceHandle**>;
using DestroyInstance = vulkan::Procedure<InstanceHandle*, const void*>;
using EnumeratePhysicalDevices = vulkan::Function<InstanceHandle*, std::uint32_t*, PhysicalHandle**>;

// Structs that only the probe uses.
struct MemoryBudget {
  std::int32_t type = 1000237000;  // VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT
  void* next = nullptr;
  std::array<std::uint64_t, 16> budget{}, usage{};
};
struct MemoryProperties {
  std::int32_t type = 1000059006;  // VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2
  void* next = nullptr;
  vulkan::MemoryTypes memory{};
};
struct ExtensionProperties {
  std::array<char, 256> name;
  std::uint32_t version;
};
struct BusInfo {
  std::int32_t type = 1000212000;  // VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT
  void* next = nullptr;
  std::uint32_t domain = 0, bus = 0, device = 0, function = 0;
};
using GetDeviceProperties = vulkan::Procedure<PhysicalHandle*, DeviceProperties*>;
using GetDevicePropertiesAndMore = vulkan::Procedure<PhysicalHandle*, DevicePropertiesAndMore*>;
using GetMemoryProperties = vulkan::Procedure<PhysicalHandle*, MemoryProperties*>;
using EnumerateExtensions = vulkan::Function<PhysicalHandle*, const char*, std::uint32_t*, ExtensionProperties*>;

struct Close {
  void operator()(void* library) const { close_library(library); }
};
using Library = std::unique_ptr<void, Close>;

template <class Function>
Function function(void* library, const char* name) {
  return reinterpret_cast<Function>(find_in(library, name));
}

bool has_extension(EnumerateExtensions enumerate, PhysicalHandle* device, const char* name) {
  std::uint32_t count = 0;
  if (enumerate(device, nullptr, &count, nullptr) != 0) return false;
  std::vector<ExtensionProperties> extensions(count);
  if (enumerate(device, nullptr, &count, extensions.data()) != 0) return false;
  return std::any_of(extensions.begin(), extensions.end(), [&](const ExtensionProperties& extension) {
    return std::strcmp(extension.name.data(), name) == 0;
  });
}

std::string slot_of(const BusInfo& bus) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", bus.domain, bus.bus, bus.device, bus.function);
  return text.data();
}

}  // namespace

std::string why_vulkan_has_no_device(const VulkanDriver& driver, const std::filesystem::path& folder) {
  if (driver.is_swiftshader)
    if (const std::string reason = why_not_loadable(driver.manifest.parent_path() / library_names.swiftshader);
        !reason.empty())
      return reason;
  const std::string name = library_names.vulkan;
  Library loader(folder.empty() ? nullptr : open_library(folder / name));
  if (!loader) loader.reset(open_library(name));
  if (!loader) return name + ", the Vulkan loader, is not there";
  const auto create = function<CreateInstance>(loader.get(), "vkCreateInstance");
  const auto destroy = function<DestroyInstance>(loader.get(), "vkDestroyInstance");
  const auto enumerate = function<EnumeratePhysicalDevices>(loader.get(), "vkEnumeratePhysicalDevices");
  if (!create || !destroy || !enumerate) return name + " is not a Vulkan loader";

  const InstanceCreateInfo info;
  InstanceHandle* instance = nullptr;
  if (create(&info, nullptr, &instance) != 0) return "the driver does not start";
  std::uint32_t count = 0;
  const std::int32_t result = enumerate(instance, &count, nullptr);
  destroy(instance, nullptr);
  return result == 0 && count > 0 ? "" : "it has no device on this machine";
}

std::vector<VulkanDevice> vulkan_devices() {
  const Library loader(open_library(library_names.vulkan));
  if (!loader) return {};
  const auto create = function<CreateInstance>(loader.get(), "vkCreateInstance");
  const auto destroy = function<DestroyInstance>(loader.get(), "vkDestroyInstance");
  const auto enumerate = function<EnumeratePhysicalDevices>(loader.get(), "vkEnumeratePhysicalDevices");
  const auto properties_of = function<GetDeviceProperties>(loader.get(), "vkGetPhysicalDeviceProperties");
  const auto more_properties_of = function<GetDevicePropertiesAndMore>(loader.get(), "vkGetPhysicalDeviceProperties2");
  const auto memory_of = function<GetMemoryProperties>(loader.get(), "vkGetPhysicalDeviceMemoryProperties2");
  const auto extensions = function<EnumerateExtensions>(loader.get(), "vkEnumerateDeviceExtensionProperties");
  if (!create || !destroy || !enumerate || !properties_of || !more_properties_of || !memory_of || !extensions)
    return {};

  const ApplicationInfo application;
  InstanceCreateInfo info;
  info.application = &application;
  InstanceHandle* instance = nullptr;
  if (create(&info, nullptr, &instance) != 0) return {};
  std::vector<VulkanDevice> result;
  std::array<PhysicalHandle*, 16> devices{};
  auto count = static_cast<std::uint32_t>(devices.size());
  if (enumerate(instance, &count, devices.data()) < 0) count = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    DeviceProperties properties{};
    properties_of(devices[i], &properties);
    if (properties.api_version < application.api_version) continue;  // the driver lacks functions
    MemoryBudget budget;
    MemoryProperties memory_properties;
    const bool tells = has_extension(extensions, devices[i], "VK_EXT_memory_budget");
    if (tells) memory_properties.next = &budget;
    memory_of(devices[i], &memory_properties);
    const vulkan::MemoryTypes& memory = memory_properties.memory;
    VulkanDevice device{.name = properties.name.data(), .card = {properties.vendor, properties.device, {}}};
    std::uint64_t free = 0;
    for (std::uint32_t heap = 0; heap < memory.heap_count; ++heap) {
      if (!(memory.heaps[heap].flags & vulkan::device_local)) continue;
      device.memory_total += memory.heaps[heap].size;
      free += budget.budget[heap] - std::min(budget.usage[heap], budget.budget[heap]);
    }
    if (tells) device.memory_free = free;
    if (has_extension(extensions, devices[i], "VK_EXT_pci_bus_info")) {
      BusInfo bus;
      DevicePropertiesAndMore more;
      more.next = &bus;
      more_properties_of(devices[i], &more);
      device.card.slot = slot_of(bus);
    }
    result.push_back(std::move(device));
  }
  destroy(instance, nullptr);
  return result;
}

}  // namespace tessera

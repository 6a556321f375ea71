// The little of vulkan.h that looking at devices and sharing memory between them takes. Vulkan's ABI is fixed, and
// nothing links to a Vulkan library: the loader is opened at run time.
#pragma once
#include <array>
#include <cstdint>

namespace tessera::vulkan {

struct InstanceHandle;
struct PhysicalHandle;
struct DeviceHandle;
using Object = std::uint64_t;  // an image, a semaphore, memory

struct ApplicationInfo {
  std::int32_t type = 0;
  const void* next = nullptr;
  const char* application = nullptr;
  std::uint32_t application_version = 0;
  const char* engine = "tessera";
  std::uint32_t engine_version = 0;
  std::uint32_t api_version = (1u << 22) | (1u << 12);  // 1.1
};
struct InstanceCreateInfo {
  std::int32_t type = 1;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  const ApplicationInfo* application = nullptr;
  std::uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  std::uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
};
struct QueueCreateInfo {
  std::int32_t type = 2;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t family = 0;
  std::uint32_t count = 1;
  const float* priorities = nullptr;
};
struct DeviceCreateInfo {
  std::int32_t type = 3;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t queue_count = 1;
  const QueueCreateInfo* queues = nullptr;
  std::uint32_t layer_count = 0;
  const char* const* layers = nullptr;
  std::uint32_t extension_count = 0;
  const char* const* extensions = nullptr;
  const void* features = nullptr;
};
// VkExternalMemoryImageCreateInfo, VkExportMemoryAllocateInfo and VkExportSemaphoreCreateInfo look alike.
struct ExternalInfo {
  std::int32_t type;
  const void* next = nullptr;
  std::uint32_t handle_types = 1;  // OPAQUE_FD
};
constexpr std::int32_t external_image = 1000072001, export_memory = 1000072002, export_semaphore = 1000077000;

struct ImageCreateInfo {
  std::int32_t type = 14;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::int32_t dimensions = 1;  // VK_IMAGE_TYPE_2D
  std::int32_t format = 0;
  std::uint32_t width = 0, height = 0, depth = 1;
  std::uint32_t levels = 1, layers = 1;
  std::int32_t samples = 1, tiling = 0;  // VK_IMAGE_TILING_OPTIMAL
  std::uint32_t usage = 0;
  std::int32_t sharing = 0;
  std::uint32_t family_count = 0;
  const std::uint32_t* families = nullptr;
  std::int32_t initial_layout = 0;  // VK_IMAGE_LAYOUT_UNDEFINED
};
constexpr std::int32_t rgba8_uint = 41, rgba8_sint = 42, rgba16_float = 97, rgba32_sint = 108, rgba32_float = 109;
constexpr std::int32_t layout_undefined = 0, layout_general = 1;

struct MemoryRequirements {
  std::uint64_t size = 0, alignment = 0;
  std::uint32_t types = 0;  // a bit for each type that will do
};
struct MemoryAllocateInfo {
  std::int32_t type = 5;
  const void* next = nullptr;
  std::uint64_t size = 0;
  std::uint32_t memory_type = 0;
};
struct SemaphoreCreateInfo {
  std::int32_t type = 9;
  const void* next = nullptr;
  std::uint32_t flags = 0;
};
// VkMemoryGetFdInfoKHR and VkSemaphoreGetFdInfoKHR look alike.
struct GetFdInfo {
  std::int32_t type;
  const void* next = nullptr;
  Object object;
  std::int32_t handle_type = 1;  // OPAQUE_FD
};
constexpr std::int32_t get_memory_fd = 1000074002, get_semaphore_fd = 1000079001;

struct MemoryTypes {  // VkPhysicalDeviceMemoryProperties
  struct Type {
    std::uint32_t flags, heap;
  };
  struct Heap {
    std::uint64_t size;
    std::uint32_t flags;
  };
  std::uint32_t type_count = 0;
  std::array<Type, 32> types{};
  std::uint32_t heap_count = 0;
  std::array<Heap, 16> heaps{};
};
constexpr std::uint32_t device_local = 1;

template <class... Arguments>
using Function = std::int32_t (*)(Arguments...);  // gives a VkResult: 0 is success, less is an error
template <class... Arguments>
using Procedure = void (*)(Arguments...);

}  // namespace tessera::vulkan

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

struct Chained {  // VkBaseInStructure
  std::int32_t type;
  const Chained* next;
};

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
  std::uint32_t handle_types = 1;  // handle_opaque_fd
};
// Of memory and of semaphores.
constexpr std::uint32_t handle_opaque_fd = 1, handle_sync_fd = 0x10, handle_dma_buf = 0x200;
constexpr std::int32_t external_image = 1000072001, export_memory = 1000072002, export_semaphore = 1000077000;

constexpr std::int32_t format_list = 1000147000;
struct FormatList {  // VkImageFormatListCreateInfo
  std::int32_t type = format_list;
  const void* next = nullptr;
  std::uint32_t count = 0;
  const std::int32_t* formats = nullptr;
};

// In VkImageCreateInfo::pNext, where a driver chooses the modifier, or the host has.
constexpr std::int32_t modifier_list = 1000158003, explicit_modifier = 1000158004;
constexpr std::int32_t tiling_optimal = 0, tiling_linear = 1, tiling_modifier = 1000158000;

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

// Of the planes of a dma-buf.
struct ImageModifier {  // VkImageDrmFormatModifierPropertiesEXT
  std::int32_t type = 1000158005;
  void* next = nullptr;
  std::uint64_t modifier = 0;
};
struct ModifierProperties {  // VkDrmFormatModifierPropertiesEXT
  std::uint64_t modifier;
  std::uint32_t planes, features;
};
struct ModifierList {  // VkDrmFormatModifierPropertiesListEXT
  std::int32_t type = 1000158000;
  void* next = nullptr;
  std::uint32_t count = 0;
  ModifierProperties* modifiers = nullptr;
};
struct FormatProperties {  // VkFormatProperties2
  std::int32_t type = 1000059002;
  void* next = nullptr;
  std::uint32_t linear = 0, optimal = 0, buffer = 0;
};
struct Subresource {
  std::uint32_t aspect = 1, level = 0, layer = 0;  // VK_IMAGE_ASPECT_COLOR_BIT
};
constexpr std::uint32_t aspect_first_plane = 0x80;  // VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT, and others shifted
struct SubresourceLayout {
  std::uint64_t offset = 0, size = 0, row_pitch = 0, array_pitch = 0, depth_pitch = 0;
};

// Of a queue, its commands and the images that these hand over.
struct QueueHandle;
struct CommandsHandle;
struct TimelineSubmitInfo {
  std::int32_t type = 1000207003;
  const void* next = nullptr;
  std::uint32_t wait_count = 0;
  const std::uint64_t* wait_values = nullptr;
  std::uint32_t signal_count = 0;
  const std::uint64_t* signal_values = nullptr;
};
struct SubmitInfo {
  std::int32_t type = 4;
  const void* next = nullptr;
  std::uint32_t wait_count = 0;
  const Object* waits = nullptr;
  const std::uint32_t* wait_stages = nullptr;
  std::uint32_t command_count = 0;
  CommandsHandle* const* commands = nullptr;
  std::uint32_t signal_count = 0;
  const Object* signals = nullptr;
};
struct FenceCreateInfo {
  std::int32_t type = 8;
  const void* next = nullptr;
  std::uint32_t flags = 0;
};
struct CommandPoolCreateInfo {
  std::int32_t type = 39;
  const void* next = nullptr;
  std::uint32_t flags = 0;
  std::uint32_t family = 0;
};
struct CommandsAllocateInfo {
  std::int32_t type = 40;
  const void* next = nullptr;
  Object pool = 0;
  std::int32_t level = 0;
  std::uint32_t count = 1;
};
struct CommandsBeginInfo {
  std::int32_t type = 42;
  const void* next = nullptr;
  std::uint32_t flags = 4;  // VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT
  const void* inheritance = nullptr;
};
struct ImageBarrier {
  std::int32_t type = 45;
  const void* next = nullptr;
  std::uint32_t before = 0x18000, after = 0x18000;  // VK_ACCESS_MEMORY_READ_BIT, VK_ACCESS_MEMORY_WRITE_BIT
  std::int32_t old_layout = 0, new_layout = 0;
  std::uint32_t old_family = ~0u, new_family = ~0u;  // VK_QUEUE_FAMILY_IGNORED
  Object image = 0;
  std::uint32_t aspect = 1, level = 0, levels = 1, layer = 0, layers = 1;  // VK_IMAGE_ASPECT_COLOR_BIT
};
constexpr std::uint32_t family_ignored = ~0u, family_external = ~0u - 1;
constexpr std::uint32_t all_commands = 0x10000;  // VK_PIPELINE_STAGE_ALL_COMMANDS_BIT

struct ImportSemaphoreInfo {
  std::int32_t type = 1000079000;
  const void* next = nullptr;
  Object semaphore = 0;
  std::uint32_t flags = 1;       // VK_SEMAPHORE_IMPORT_TEMPORARY_BIT
  std::int32_t handle_type = 1;  // OPAQUE_FD
  int fd = -1;
};

struct DeviceProperties {  // VkPhysicalDeviceProperties, of which only the first members matter here
  std::uint32_t api_version, driver_version, vendor, device, kind;
  std::array<char, 256> name;
  std::array<char, 4096> rest;  // more than there is in any version
};
struct DevicePropertiesAndMore {  // VkPhysicalDeviceProperties2
  std::int32_t type = 1000059001;
  void* next = nullptr;
  DeviceProperties properties{};
};
struct DeviceIds {  // VkPhysicalDeviceIDProperties
  std::int32_t type = 1000071004;
  void* next = nullptr;
  std::array<std::uint8_t, 16> device{}, driver{};
  std::array<std::uint8_t, 8> luid{};
  std::uint32_t node_mask = 0, has_luid = 0;
};

template <class... Arguments>
using Function = std::int32_t (*)(Arguments...);  // gives a VkResult: 0 is success, less is an error
template <class... Arguments>
using Procedure = void (*)(Arguments...);

}  // namespace tessera::vulkan

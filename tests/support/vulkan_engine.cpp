#include "support/vulkan_engine.h"

#ifdef TESSERA_TEST_HAS_VULKAN
#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace tessera::test {

struct VulkanEngine::Functions {
// clang-format off
#define TESSERA_VULKAN_FUNCTIONS(X) \
  X(CreateInstance) X(DestroyInstance) X(EnumeratePhysicalDevices) X(GetPhysicalDeviceMemoryProperties) \
  X(CreateDevice) X(DestroyDevice) X(GetDeviceQueue) X(CreateCommandPool) X(DestroyCommandPool) \
  X(AllocateCommandBuffers) X(BeginCommandBuffer) X(EndCommandBuffer) X(CmdPipelineBarrier) \
  X(CmdCopyBufferToImage) X(CmdCopyImageToBuffer) X(QueueSubmit) X(DeviceWaitIdle) X(CreateImage) \
  X(DestroyImage) X(GetImageMemoryRequirements) X(AllocateMemory) X(FreeMemory) X(BindImageMemory) \
  X(CreateBuffer) X(DestroyBuffer) X(GetBufferMemoryRequirements) X(BindBufferMemory) X(MapMemory) \
  X(CreateSemaphore) X(DestroySemaphore) X(GetSemaphoreCounterValue) X(SignalSemaphore)
// clang-format on
#define TESSERA_VULKAN_FUNCTION(name) PFN_vk##name name = nullptr;
  TESSERA_VULKAN_FUNCTIONS(TESSERA_VULKAN_FUNCTION)
#undef TESSERA_VULKAN_FUNCTION
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;

  void load(VkInstance instance) {
    const auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(GetInstanceProcAddr(instance, name));
    };
#define TESSERA_VULKAN_FUNCTION(name) find(name, "vk" #name);
    TESSERA_VULKAN_FUNCTIONS(TESSERA_VULKAN_FUNCTION)
#undef TESSERA_VULKAN_FUNCTION
  }
};

namespace {

// Functions that tessera gets instead of the driver's, and that count what it makes.
int objects = 0;
PFN_vkGetInstanceProcAddr instance_functions = nullptr;
PFN_vkGetDeviceProcAddr device_functions = nullptr;
PFN_vkGetMemoryFdKHR memory_fd = nullptr;
PFN_vkGetSemaphoreFdKHR semaphore_fd = nullptr;
PFN_vkCreateSemaphore create_semaphore = nullptr;
PFN_vkAllocateCommandBuffers allocate_commands = nullptr;

// A driver with dma-bufs, as far as tessera is told.
bool pretends_dma_bufs = false;
PFN_vkGetImageSubresourceLayout subresource_layout = nullptr;
PFN_vkGetPhysicalDeviceFormatProperties2 format_properties = nullptr;

VKAPI_ATTR void VKAPI_CALL layout_of_plane(VkDevice device, VkImage image, const VkImageSubresource* told,
                                           VkSubresourceLayout* layout) {
  VkImageSubresource plane = *told;
  if (plane.aspectMask == VK_IMAGE_ASPECT_MEMORY_PLANE_0_BIT_EXT) plane.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT;
  subresource_layout(device, image, &plane, layout);
}

VKAPI_ATTR VkResult VKAPI_CALL linear_modifier(VkDevice, VkImage, VkImageDrmFormatModifierPropertiesEXT* modifier) {
  modifier->drmFormatModifier = 0;
  return VK_SUCCESS;
}

VKAPI_ATTR void VKAPI_CALL properties_with_modifiers(VkPhysicalDevice device, VkFormat format,
                                                     VkFormatProperties2* properties) {
  auto* const list = static_cast<VkDrmFormatModifierPropertiesListEXT*>(properties->pNext);
  properties->pNext = nullptr;
  format_properties(device, format, properties);
  properties->pNext = list;
  if (list->pDrmFormatModifierProperties) list->pDrmFormatModifierProperties[0] = {0, 1, 0};
  list->drmFormatModifierCount = 1;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL counted_device_function(VkDevice device, const char* name) {
  const PFN_vkVoidFunction function = device_functions(device, name);
  const auto counted = [&]<class Pointer>(Pointer& real, auto counting) {
    real = reinterpret_cast<Pointer>(function);
    return function ? reinterpret_cast<PFN_vkVoidFunction>(static_cast<Pointer>(counting)) : nullptr;
  };
  if (std::strcmp(name, "vkGetMemoryFdKHR") == 0)
    return counted(memory_fd, [](VkDevice d, const VkMemoryGetFdInfoKHR* info, int* fd) {
      VkMemoryGetFdInfoKHR real = *info;
      if (pretends_dma_bufs && real.handleType == VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT)
        real.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT;
      return ++objects, memory_fd(d, &real, fd);
    });
  if (pretends_dma_bufs && std::strcmp(name, "vkGetImageSubresourceLayout") == 0)
    return counted(subresource_layout, layout_of_plane);
  if (pretends_dma_bufs && std::strcmp(name, "vkGetImageDrmFormatModifierPropertiesEXT") == 0)
    return reinterpret_cast<PFN_vkVoidFunction>(linear_modifier);
  if (std::strcmp(name, "vkGetSemaphoreFdKHR") == 0)
    return counted(semaphore_fd, [](VkDevice d, const VkSemaphoreGetFdInfoKHR* info, int* fd) {
      return ++objects, semaphore_fd(d, info, fd);
    });
  if (std::strcmp(name, "vkCreateSemaphore") == 0)
    return counted(create_semaphore,
                   [](VkDevice d, const VkSemaphoreCreateInfo* info, const VkAllocationCallbacks* a,
                      VkSemaphore* semaphore) { return ++objects, create_semaphore(d, info, a, semaphore); });
  if (std::strcmp(name, "vkAllocateCommandBuffers") == 0)
    return counted(allocate_commands,
                   [](VkDevice d, const VkCommandBufferAllocateInfo* info, VkCommandBuffer* buffers) {
                     return ++objects, allocate_commands(d, info, buffers);
                   });
  return function;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL counted_instance_function(VkInstance instance, const char* name) {
  const PFN_vkVoidFunction function = instance_functions(instance, name);
  if (pretends_dma_bufs && std::strcmp(name, "vkGetPhysicalDeviceFormatProperties2") == 0) {
    format_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceFormatProperties2>(function);
    return reinterpret_cast<PFN_vkVoidFunction>(properties_with_modifiers);
  }
  if (std::strcmp(name, "vkGetDeviceProcAddr") != 0) return function;
  device_functions = reinterpret_cast<PFN_vkGetDeviceProcAddr>(function);
  return reinterpret_cast<PFN_vkVoidFunction>(counted_device_function);
}

void succeed(VkResult result, const char* what) {
  if (result != VK_SUCCESS) throw std::runtime_error(std::string(what) + " gives " + std::to_string(result));
}

}  // namespace

int VulkanEngine::objects_made() const { return objects; }

VulkanEngine::VulkanEngine(const std::string& manifest, const Options& options)
    : vk_(*new Functions), has_dma_bufs_(options.has_dma_bufs) {
  pretends_dma_bufs = has_dma_bufs_;
  void* const loader = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!loader) throw std::runtime_error("there is no libvulkan.so.1");
  vk_.GetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(loader, "vkGetInstanceProcAddr"));
  instance_functions = vk_.GetInstanceProcAddr;
  vk_.load(VK_NULL_HANDLE);
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo instance_info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  instance_info.pApplicationInfo = &application;
  const char* const before = std::getenv("VK_DRIVER_FILES");
  const std::string kept = before ? before : "";
  setenv("VK_DRIVER_FILES", manifest.c_str(), 1);
  setenv("VK_ICD_FILENAMES", manifest.c_str(), 1);  // of older loaders
  const VkResult result = vk_.CreateInstance(&instance_info, nullptr, &instance_);
  std::uint32_t count = 1;
  if (result == VK_SUCCESS) {
    vk_.load(instance_);
    vk_.EnumeratePhysicalDevices(instance_, &count, &physical_);
  }
  if (before) setenv("VK_DRIVER_FILES", kept.c_str(), 1);
  else unsetenv("VK_DRIVER_FILES");
  unsetenv("VK_ICD_FILENAMES");
  succeed(result, "vkCreateInstance");
  if (!physical_) throw std::runtime_error("the driver " + manifest + " has no device");

  const float priority = 1;
  VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  const std::array extensions{VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME, VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME};
  VkPhysicalDeviceTimelineSemaphoreFeatures timeline{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES};
  timeline.timelineSemaphore = options.has_timeline;
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &timeline;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = options.has_sharing ? static_cast<std::uint32_t>(extensions.size()) : 0;
  info.ppEnabledExtensionNames = extensions.data();
  succeed(vk_.CreateDevice(physical_, &info, nullptr, &device_), "vkCreateDevice");
  vk_.GetDeviceQueue(device_, 0, 0, &queue_);
  const VkCommandPoolCreateInfo pool{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  succeed(vk_.CreateCommandPool(device_, &pool, nullptr, &pool_), "vkCreateCommandPool");
}

VulkanEngine::~VulkanEngine() {
  wait();
  while (!images_.empty()) {
    destroy(images_.back());
    images_.pop_back();
  }
  for (const Buffer& each : buffers_) {
    vk_.DestroyBuffer(device_, each.buffer, nullptr);
    vk_.FreeMemory(device_, each.memory, nullptr);
  }
  for (VkSemaphore each : semaphores_) vk_.DestroySemaphore(device_, each, nullptr);
  vk_.DestroyCommandPool(device_, pool_, nullptr);
  vk_.DestroyDevice(device_, nullptr);
  vk_.DestroyInstance(instance_, nullptr);
  delete &vk_;
}

vulkan::HostDevice VulkanEngine::handles() const {
  vulkan::HostDevice host{instance_, physical_, device_, queue_, 0, counted_instance_function};
  if (has_dma_bufs_) host.memory_handle_type = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  return host;
}

std::uint32_t VulkanEngine::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags wanted) const {
  VkPhysicalDeviceMemoryProperties memory;
  vk_.GetPhysicalDeviceMemoryProperties(physical_, &memory);
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((allowed >> i & 1) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  throw std::runtime_error("the device has no such memory");
}

EngineImage& VulkanEngine::image(std::uint32_t width, std::uint32_t height, const ImageOptions& options) {
  EngineImage& made_image = images_.emplace_back();
  made_image.external = {VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMAGE_CREATE_INFO, nullptr,
                         VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  VkImageCreateInfo& info = made_image.info;
  info = {VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO};
  if (options.is_exportable) info.pNext = &made_image.external;
  info.flags = options.flags;
  info.imageType = VK_IMAGE_TYPE_2D;
  info.format = options.format;
  info.extent = {width, height, 1};
  info.mipLevels = options.levels;
  info.arrayLayers = 1;
  info.samples = VK_SAMPLE_COUNT_1_BIT;
  info.usage = options.usage;
  if (has_dma_bufs_) info.tiling = VK_IMAGE_TILING_LINEAR;
  succeed(vk_.CreateImage(device_, &info, nullptr, &made_image.image), "vkCreateImage");
  info.tiling = options.tiling;
  if (has_dma_bufs_) made_image.external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT;
  VkMemoryRequirements needed;
  vk_.GetImageMemoryRequirements(device_, made_image.image, &needed);
  const VkExportMemoryAllocateInfo exported{VK_STRUCTURE_TYPE_EXPORT_MEMORY_ALLOCATE_INFO, nullptr,
                                            VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT};
  made_image.memory_size = needed.size;
  made_image.memory_type = memory_type(needed.memoryTypeBits, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  const VkMemoryAllocateInfo allocation{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                        options.is_exportable ? &exported : nullptr, needed.size,
                                        made_image.memory_type};
  succeed(vk_.AllocateMemory(device_, &allocation, nullptr, &made_image.memory), "vkAllocateMemory");
  succeed(vk_.BindImageMemory(device_, made_image.image, made_image.memory, 0), "vkBindImageMemory");
  return made_image;
}

void VulkanEngine::destroy(EngineImage& old) {
  vk_.DestroyImage(device_, old.image, nullptr);
  vk_.FreeMemory(device_, old.memory, nullptr);
  old = {};
}

VkSemaphore VulkanEngine::semaphore(bool is_timeline) {
  const VkSemaphoreTypeCreateInfo type{VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO, nullptr,
                                       VK_SEMAPHORE_TYPE_TIMELINE, 0};
  const VkSemaphoreCreateInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, is_timeline ? &type : nullptr, 0};
  VkSemaphore semaphore = VK_NULL_HANDLE;
  succeed(vk_.CreateSemaphore(device_, &info, nullptr, &semaphore), "vkCreateSemaphore");
  semaphores_.push_back(semaphore);
  return semaphore;
}

std::uint64_t VulkanEngine::value_of(VkSemaphore semaphore) const {
  std::uint64_t value = 0;
  succeed(vk_.GetSemaphoreCounterValue(device_, semaphore, &value), "vkGetSemaphoreCounterValue");
  return value;
}

void VulkanEngine::signal(VkSemaphore semaphore, std::uint64_t value) const {
  const VkSemaphoreSignalInfo info{VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, nullptr, semaphore, value};
  succeed(vk_.SignalSemaphore(device_, &info), "vkSignalSemaphore");
}

VulkanEngine::Buffer& VulkanEngine::buffer(std::size_t bytes) {
  Buffer& made_buffer = buffers_.emplace_back();
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  succeed(vk_.CreateBuffer(device_, &info, nullptr, &made_buffer.buffer), "vkCreateBuffer");
  VkMemoryRequirements needed;
  vk_.GetBufferMemoryRequirements(device_, made_buffer.buffer, &needed);
  const VkMemoryAllocateInfo allocation{
      VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needed.size,
      memory_type(needed.memoryTypeBits, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)};
  succeed(vk_.AllocateMemory(device_, &allocation, nullptr, &made_buffer.memory), "vkAllocateMemory");
  succeed(vk_.BindBufferMemory(device_, made_buffer.buffer, made_buffer.memory, 0), "vkBindBufferMemory");
  void* mapped = nullptr;
  succeed(vk_.MapMemory(device_, made_buffer.memory, 0, VK_WHOLE_SIZE, 0, &mapped), "vkMapMemory");
  made_buffer.bytes = static_cast<std::uint8_t*>(mapped);
  return made_buffer;
}

void VulkanEngine::change_layout(VkCommandBuffer commands, EngineImage& image, VkImageLayout layout) {
  VkImageMemoryBarrier barrier{VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER};
  barrier.srcAccessMask = barrier.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
  barrier.oldLayout = image.layout;
  barrier.newLayout = layout;
  barrier.srcQueueFamilyIndex = barrier.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
  barrier.image = image.image;
  barrier.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1};
  vk_.CmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0,
                         nullptr, 0, nullptr, 1, &barrier);
  image.layout = layout;
}

template <class Record>
void VulkanEngine::submit(const Record& record, const Order& order) {
  const VkCommandBufferAllocateInfo allocation{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                               VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  VkCommandBuffer commands = VK_NULL_HANDLE;
  succeed(vk_.AllocateCommandBuffers(device_, &allocation, &commands), "vkAllocateCommandBuffers");
  const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  succeed(vk_.BeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer");
  record(commands);
  succeed(vk_.EndCommandBuffer(commands), "vkEndCommandBuffer");
  std::vector<VkSemaphore> waits, signals;
  std::vector<std::uint64_t> wait_values, signal_values;
  for (const vulkan::Semaphore& each : order.waits) {
    waits.push_back(each.semaphore);
    wait_values.push_back(each.value);
  }
  for (const vulkan::Semaphore& each : order.signals) {
    signals.push_back(each.semaphore);
    signal_values.push_back(each.value);
  }
  const std::vector<VkPipelineStageFlags> stages(waits.size(), VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
  const VkTimelineSemaphoreSubmitInfo timeline{VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO, nullptr,
                                               static_cast<std::uint32_t>(waits.size()),         wait_values.data(),
                                               static_cast<std::uint32_t>(signals.size()),       signal_values.data()};
  VkSubmitInfo info{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  info.pNext = &timeline;
  info.waitSemaphoreCount = timeline.waitSemaphoreValueCount;
  info.pWaitSemaphores = waits.data();
  info.pWaitDstStageMask = stages.data();
  info.commandBufferCount = 1;
  info.pCommandBuffers = &commands;
  info.signalSemaphoreCount = timeline.signalSemaphoreValueCount;
  info.pSignalSemaphores = signals.data();
  succeed(vk_.QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE), "vkQueueSubmit");
}

void VulkanEngine::write(EngineImage& image, const Buffer& from, std::size_t offset, const Order& order) {
  submit(
      [&](VkCommandBuffer commands) {
        change_layout(commands, image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
        const VkBufferImageCopy copy{offset, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {0, 0, 0}, image.info.extent};
        vk_.CmdCopyBufferToImage(commands, from.buffer, image.image, image.layout, 1, &copy);
        change_layout(commands, image, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
      },
      order);
}

void VulkanEngine::read(EngineImage& image, const Buffer& to, std::size_t offset, const Order& order) {
  submit(
      [&](VkCommandBuffer commands) {
        change_layout(commands, image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL);
        const VkBufferImageCopy copy{offset, 0, 0, {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1}, {0, 0, 0}, image.info.extent};
        vk_.CmdCopyImageToBuffer(commands, image.image, image.layout, to.buffer, 1, &copy);
        change_layout(commands, image, VK_IMAGE_LAYOUT_SHADER_READ_ONLY_OPTIMAL);
      },
      order);
}

void VulkanEngine::wait() const { vk_.DeviceWaitIdle(device_); }

}  // namespace tessera::test
#endif

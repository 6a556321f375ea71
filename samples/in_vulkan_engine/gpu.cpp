#include "gpu.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

Gpu::Gpu() {
  const vk::ApplicationInfo application{.pApplicationName = "in_vulkan_engine", .apiVersion = VK_API_VERSION_1_3};
  instance_ = vk::raii::Instance(context_, vk::InstanceCreateInfo{.pApplicationInfo = &application});
  for (vk::raii::PhysicalDevice& each : vk::raii::PhysicalDevices(instance_))
    if (!*physical_device_ && each.getProperties().apiVersion >= VK_API_VERSION_1_3) physical_device_ = std::move(each);
  if (!*physical_device_) throw std::runtime_error("this machine has no device with Vulkan 1.3");
  const auto families = physical_device_.getQueueFamilyProperties();
  while (!(families.at(queue_family_).queueFlags & vk::QueueFlagBits::eGraphics)) ++queue_family_;

  std::vector<const char*> extensions{VK_KHR_EXTERNAL_MEMORY_FD_EXTENSION_NAME,
                                      VK_KHR_EXTERNAL_SEMAPHORE_FD_EXTENSION_NAME};
  const auto present = physical_device_.enumerateDeviceExtensionProperties();
  can_share_ = std::ranges::all_of(extensions, [&](std::string_view wanted) {
    return std::ranges::any_of(present, [&](const auto& each) { return wanted == each.extensionName.data(); });
  });
  if (!can_share_) extensions.clear();
  const float priority = 1;
  const vk::DeviceQueueCreateInfo queue{
      .queueFamilyIndex = queue_family_, .queueCount = 1, .pQueuePriorities = &priority};
  const vk::PhysicalDeviceVulkan13Features features{.dynamicRendering = true};
  device_ = vk::raii::Device(
      physical_device_, vk::DeviceCreateInfo{.pNext = &features,
                                             .queueCreateInfoCount = 1,
                                             .pQueueCreateInfos = &queue,
                                             .enabledExtensionCount = static_cast<std::uint32_t>(extensions.size()),
                                             .ppEnabledExtensionNames = extensions.data()});
  queue_ = device_.getQueue(queue_family_, 0);
  pool_ = vk::raii::CommandPool(device_, vk::CommandPoolCreateInfo{.queueFamilyIndex = queue_family_});
}

PFN_vkGetInstanceProcAddr Gpu::get_instance_proc_addr() const {
  return instance_.getDispatcher()->vkGetInstanceProcAddr;
}

std::uint32_t Gpu::memory_type(std::uint32_t allowed, vk::MemoryPropertyFlags wanted) const {
  const vk::PhysicalDeviceMemoryProperties memory = physical_device_.getMemoryProperties();
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i)
    if ((allowed >> i & 1) && (memory.memoryTypes[i].propertyFlags & wanted) == wanted) return i;
  throw std::runtime_error("the device has no such memory");
}

Buffer Gpu::buffer(std::size_t bytes, vk::BufferUsageFlags usage) const {
  Buffer made;
  made.buffer = vk::raii::Buffer(device_, vk::BufferCreateInfo{.size = bytes, .usage = usage});
  const vk::MemoryRequirements needed = made.buffer.getMemoryRequirements();
  using enum vk::MemoryPropertyFlagBits;
  made.memory = vk::raii::DeviceMemory(
      device_,
      vk::MemoryAllocateInfo{.allocationSize = needed.size,
                             .memoryTypeIndex = memory_type(needed.memoryTypeBits, eHostVisible | eHostCoherent)});
  made.buffer.bindMemory(*made.memory, 0);
  made.bytes = static_cast<std::byte*>(made.memory.mapMemory(0, VK_WHOLE_SIZE));
  return made;
}

void Gpu::make(Image& image, sample::Size size, vk::Format format, vk::ImageUsageFlags usage) const {
  image.view = nullptr;
  image.image = nullptr;
  image = {};
  const bool is_depth = format == vk::Format::eD32Sfloat, is_shared = can_share_ && !is_depth;
  image.external.handleTypes = vk::ExternalMemoryHandleTypeFlagBits::eOpaqueFd;
  image.info = vk::ImageCreateInfo{
      .pNext = is_shared ? &image.external : nullptr,
      .flags = is_shared ? vk::ImageCreateFlagBits::eMutableFormat : vk::ImageCreateFlags{},
      .imageType = vk::ImageType::e2D,
      .format = format,
      .extent = {static_cast<std::uint32_t>(size.width), static_cast<std::uint32_t>(size.height), 1},
      .mipLevels = 1,
      .arrayLayers = 1,
      .samples = vk::SampleCountFlagBits::e1,
      .usage = usage};
  image.image = vk::raii::Image(device_, image.info);
  const vk::MemoryRequirements needed = image.image.getMemoryRequirements();
  const vk::ExportMemoryAllocateInfo exported{.handleTypes = image.external.handleTypes};
  image.allocation = vk::MemoryAllocateInfo{
      .pNext = is_shared ? &exported : nullptr,
      .allocationSize = needed.size,
      .memoryTypeIndex = memory_type(needed.memoryTypeBits, vk::MemoryPropertyFlagBits::eDeviceLocal)};
  image.memory = vk::raii::DeviceMemory(device_, image.allocation);
  image.image.bindMemory(*image.memory, 0);
  const vk::ImageAspectFlags aspect = is_depth ? vk::ImageAspectFlagBits::eDepth : vk::ImageAspectFlagBits::eColor;
  image.view = vk::raii::ImageView(
      device_, vk::ImageViewCreateInfo{.image = *image.image,
                                       .viewType = vk::ImageViewType::e2D,
                                       .format = format,
                                       .subresourceRange = {.aspectMask = aspect, .levelCount = 1, .layerCount = 1}});
}

const vk::raii::CommandBuffer& Gpu::begin() {
  commands_.push_back(std::move(
      vk::raii::CommandBuffers(device_, vk::CommandBufferAllocateInfo{.commandPool = *pool_, .commandBufferCount = 1})
          .front()));
  commands_.back().begin({});
  return commands_.back();
}

void Gpu::end(const vk::raii::CommandBuffer& commands) const {
  commands.end();
  const vk::CommandBuffer handle = *commands;
  queue_.submit(vk::SubmitInfo{.commandBufferCount = 1, .pCommandBuffers = &handle});
}

void Gpu::wait() {
  device_.waitIdle();
  commands_.clear();
}

void Gpu::change_layout(const vk::raii::CommandBuffer& commands, Image& image, vk::ImageLayout layout) {
  using enum vk::AccessFlagBits;
  const bool is_depth = image.info.format == vk::Format::eD32Sfloat;
  const vk::ImageMemoryBarrier barrier{
      .srcAccessMask = eMemoryRead | eMemoryWrite,
      .dstAccessMask = eMemoryRead | eMemoryWrite,
      .oldLayout = image.layout,
      .newLayout = layout,
      .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
      .image = *image.image,
      .subresourceRange = {.aspectMask = is_depth ? vk::ImageAspectFlagBits::eDepth : vk::ImageAspectFlagBits::eColor,
                           .levelCount = 1,
                           .layerCount = 1}};
  commands.pipelineBarrier(vk::PipelineStageFlagBits::eAllCommands, vk::PipelineStageFlagBits::eAllCommands, {}, {}, {},
                           barrier);
  image.layout = layout;
}

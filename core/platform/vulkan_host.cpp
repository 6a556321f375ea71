#include "core/platform/vulkan_host.h"

#include <algorithm>
#include <array>
#include <mutex>

#include "core/base/fail.h"
#include "core/platform/library.h"

namespace tessera {
namespace {

using namespace vulkan;

}  // namespace

std::vector<VulkanIds> vulkan_ids(const VulkanDriver& driver) {
  const std::lock_guard starting(driver_start_lock());
  static auto& known = *new std::map<std::string, std::vector<VulkanIds>>;
  std::vector<VulkanIds>& ids = known[driver.manifest.string()];
  if (!ids.empty()) return ids;
  const OnlyVulkanDriver only(driver);
  void* const loader = open_library(library_names.vulkan);  // never closed, as are the drivers it opens
  if (!loader) return {};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find_in(loader, name));
    return function != nullptr;
  };
  Function<const InstanceCreateInfo*, const void*, InstanceHandle**> create{};
  Procedure<InstanceHandle*, const void*> destroy{};
  Function<InstanceHandle*, std::uint32_t*, PhysicalHandle**> enumerate{};
  Procedure<PhysicalHandle*, DevicePropertiesAndMore*> properties_of{};
  if (!find(create, "vkCreateInstance") || !find(destroy, "vkDestroyInstance") ||
      !find(enumerate, "vkEnumeratePhysicalDevices") || !find(properties_of, "vkGetPhysicalDeviceProperties2"))
    return {};
  const ApplicationInfo application;
  InstanceCreateInfo info;
  info.application = &application;
  InstanceHandle* instance = nullptr;
  if (create(&info, nullptr, &instance) != 0) return {};
  std::array<PhysicalHandle*, 16> devices{};
  auto count = static_cast<std::uint32_t>(devices.size());
  if (enumerate(instance, &count, devices.data()) < 0) count = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    DeviceIds device_ids;
    DevicePropertiesAndMore properties;
    properties.next = &device_ids;
    properties_of(devices[i], &properties);
    ids.push_back({properties.properties.name.data(), device_ids.device, device_ids.driver});
  }
  destroy(instance, nullptr);
  return ids;
}

VulkanIds vulkan_ids(std::string_view op, const HostDevice& host) {
  if (!host.instance || !host.physical_device || !host.get_instance_proc_addr)
    fail(ErrorCode::invalid_argument, op,
         std::string("HostDevice::") +
             (!host.instance          ? "instance"
              : !host.physical_device ? "physical_device"
                                      : "get_instance_proc_addr") +
             " is null.");
  const auto properties_of = reinterpret_cast<Procedure<PhysicalHandle*, DevicePropertiesAndMore*>>(
      host.get_instance_proc_addr(host.instance, "vkGetPhysicalDeviceProperties2"));
  if (!properties_of)
    fail(ErrorCode::unsupported, op,
         "the host's instance lacks vkGetPhysicalDeviceProperties2; make it for Vulkan 1.1 or later.");
  DeviceIds ids;
  DevicePropertiesAndMore properties;
  properties.next = &ids;
  properties_of(reinterpret_cast<PhysicalHandle*>(host.physical_device), &properties);
  return {properties.properties.name.data(), ids.device, ids.driver};
}

VulkanHost::VulkanHost(std::string_view op, const HostDevice& host)
    : ids_(vulkan_ids(op, host)),
      device_(reinterpret_cast<DeviceHandle*>(host.device)),
      physical_(reinterpret_cast<PhysicalHandle*>(host.physical_device)),
      queue_(reinterpret_cast<QueueHandle*>(host.queue)),
      family_(host.queue_family),
      memory_handle_(host.memory_handle_type) {
  if (memory_handle_ != handle_opaque_fd && memory_handle_ != handle_dma_buf)
    fail(ErrorCode::invalid_argument, op,
         "HostDevice::memory_handle_type is " + std::to_string(memory_handle_) +
             "; it can be VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT (1) or "
             "VK_EXTERNAL_MEMORY_HANDLE_TYPE_DMA_BUF_BIT_EXT (512).");
  if (!host.device || !host.queue)
    fail(ErrorCode::invalid_argument, op,
         std::string("HostDevice::") + (!host.device ? "device" : "queue") + " is null.");
  const auto find = reinterpret_cast<void (*(*)(DeviceHandle*, const char*))()>(
      host.get_instance_proc_addr(host.instance, "vkGetDeviceProcAddr"));
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find(device_, name));
    if (!function)
      fail(ErrorCode::unsupported, op,
           "the host's device lacks " + std::string(name) +
               "; make it with the extensions VK_KHR_external_memory_fd and VK_KHR_external_semaphore_fd.");
  };
  load(memory_fd_, "vkGetMemoryFdKHR");
  load(semaphore_fd_, "vkGetSemaphoreFdKHR");
  load(import_semaphore_, "vkImportSemaphoreFdKHR");
  load(create_semaphore_, "vkCreateSemaphore");
  load(create_pool_, "vkCreateCommandPool");
  load(allocate_commands_, "vkAllocateCommandBuffers");
  load(free_commands_, "vkFreeCommandBuffers");
  load(begin_commands_, "vkBeginCommandBuffer");
  load(end_commands_, "vkEndCommandBuffer");
  load(barrier_, "vkCmdPipelineBarrier");
  load(submit_, "vkQueueSubmit");
  load(wait_idle_, "vkQueueWaitIdle");
  load(create_fence_, "vkCreateFence");
  load(fence_status_, "vkGetFenceStatus");
  load(reset_fences_, "vkResetFences");
  load(destroy_fence_, "vkDestroyFence");
  load(destroy_semaphore_, "vkDestroySemaphore");
  load(destroy_pool_, "vkDestroyCommandPool");

  if (memory_handle_ == handle_dma_buf) {
    load(subresource_layout_, "vkGetImageSubresourceLayout");
    // Hosts whose images are all linear need no modifiers.
    modifier_of_ = reinterpret_cast<decltype(modifier_of_)>(find(device_, "vkGetImageDrmFormatModifierPropertiesEXT"));
    format_properties_ = reinterpret_cast<decltype(format_properties_)>(
        host.get_instance_proc_addr(host.instance, "vkGetPhysicalDeviceFormatProperties2"));
  }

  CommandPoolCreateInfo pool;
  pool.family = family_;
  if (create_pool_(device_, &pool, nullptr, &pool_) != 0)
    fail(ErrorCode::out_of_memory, op, "the host's device has no room for a command pool.");
}

VulkanHost::~VulkanHost() { destroy_pool_(device_, pool_, nullptr); }

}  // namespace tessera

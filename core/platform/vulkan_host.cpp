#include "core/platform/vulkan_host.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>

#include "core/base/fail.h"
#include "core/platform/library.h"

namespace tessera {
namespace {

using namespace vulkan;

// Formats that Dawn and ANGLE have under a name of their own.
constexpr std::array shared_formats{
    VulkanFormat{9, "VK_FORMAT_R8_UNORM"},
    VulkanFormat{16, "VK_FORMAT_R8G8_UNORM"},
    VulkanFormat{37, "VK_FORMAT_R8G8B8A8_UNORM"},
    VulkanFormat{41, "VK_FORMAT_R8G8B8A8_UINT", false},
    VulkanFormat{43, "VK_FORMAT_R8G8B8A8_SRGB"},
    VulkanFormat{44, "VK_FORMAT_B8G8R8A8_UNORM"},
    VulkanFormat{64, "VK_FORMAT_A2B10G10R10_UNORM_PACK32"},
    VulkanFormat{76, "VK_FORMAT_R16_SFLOAT"},
    VulkanFormat{83, "VK_FORMAT_R16G16_SFLOAT"},
    VulkanFormat{97, "VK_FORMAT_R16G16B16A16_SFLOAT"},
    VulkanFormat{100, "VK_FORMAT_R32_SFLOAT"},
    VulkanFormat{103, "VK_FORMAT_R32G32_SFLOAT"},
    VulkanFormat{109, "VK_FORMAT_R32G32B32A32_SFLOAT"},
};

std::string names_of_formats() {
  std::string names;
  for (const VulkanFormat& format : shared_formats) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

VulkanFormat shared_format(std::string_view op, std::int32_t code) {
  const auto format = std::ranges::find(shared_formats, code, &VulkanFormat::code);
  if (format == shared_formats.end())
    fail(ErrorCode::unsupported, op,
         "the image has the VkFormat " + std::to_string(code) + "; it can be one of " + names_of_formats() + ".");
  return *format;
}

// Handles of such objects are pointers or numbers, by the platform.
template <class Handle>
Object object_of(Handle handle) {
  return std::bit_cast<Object>(handle);
}
Semaphore semaphore_of(Object object) { return {std::bit_cast<VkSemaphore>(object)}; }

struct Chained {  // VkBaseInStructure
  std::int32_t type;
  const Chained* next;
};

void check_image(std::string_view op, const Image& image, const ImageCreateInfo& info) {
  constexpr std::uint32_t opaque_fd = 1;
  const auto refuse = [&](const std::string& why) { fail(ErrorCode::unsupported, op, why); };
  bool is_exportable = false;
  for (auto* each = static_cast<const Chained*>(info.next); each; each = each->next) {
    if (each->type == external_image)
      is_exportable = (reinterpret_cast<const ExternalInfo*>(each)->handle_types & opaque_fd) != 0;
    else if (each->type != format_list)
      refuse("the image was made with a structure of the type " + std::to_string(each->type) +
             " in VkImageCreateInfo::pNext; only VkExternalMemoryImageCreateInfo and "
             "VkImageFormatListCreateInfo can be passed on.");
  }
  if (!is_exportable)
    fail(ErrorCode::invalid_argument, op,
         "the image cannot be exported; make it with a VkExternalMemoryImageCreateInfo, and its memory with a "
         "VkExportMemoryAllocateInfo, whose handle types have VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT.");
  if (info.dimensions != 1 || info.depth != 1) refuse("the image is not a VK_IMAGE_TYPE_2D.");
  if (info.levels != 1 || info.layers != 1 || info.samples != 1)
    refuse("the image has " + std::to_string(info.levels) + " levels, " + std::to_string(info.layers) + " layers and " +
           std::to_string(info.samples) + " samples a pixel; share an image with one of each.");
  if (info.tiling != 0) refuse("the image has not the tiling VK_IMAGE_TILING_OPTIMAL.");
  if (image.memory_size == 0)
    fail(ErrorCode::invalid_argument, op, "memory_size is 0; it is the VkMemoryAllocateInfo::allocationSize.");
}

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
      queue_(reinterpret_cast<QueueHandle*>(host.queue)),
      family_(host.queue_family) {
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

  CommandPoolCreateInfo pool;
  pool.family = family_;
  if (create_pool_(device_, &pool, nullptr, &pool_) != 0)
    fail(ErrorCode::out_of_memory, op, "the host's device has no room for a command pool.");
}

VulkanHost::~VulkanHost() { destroy_pool_(device_, pool_, nullptr); }

VulkanHostImage::VulkanHostImage(std::string_view op, std::shared_ptr<const VulkanHost> host, const Image& image)
    : vk_(std::move(host)),
      image_(object_of(image.image)),
      memory_(object_of(image.memory)),
      bytes_(image.memory_size),
      memory_type_(image.memory_type),
      is_dedicated_(image.is_dedicated) {
  if (!image.image || !image.create_info || !image.memory)
    fail(ErrorCode::invalid_argument, op,
         std::string("Image::") +
             (!image.image         ? "image"
              : !image.create_info ? "create_info"
                                   : "memory") +
             " is null.");
  info_ = *reinterpret_cast<const ImageCreateInfo*>(image.create_info);
  check_image(op, image, info_);
  format_ = shared_format(op, info_.format);
  for (auto* each = static_cast<const Chained*>(info_.next); each; each = each->next)
    if (each->type == format_list) {
      const auto& list = *reinterpret_cast<const FormatList*>(each);
      view_formats_.assign(list.formats, list.formats + list.count);
      formats_.count = list.count;
      formats_.formats = view_formats_.data();
      external_.next = &formats_;
    }
  info_.next = &external_;
  is_concurrent_ = info_.sharing != 0;  // between families of the host's: none of them owns it
  info_.sharing = 0;                    // the importer has one queue
  info_.family_count = 0;
  info_.families = nullptr;
  try {
    export_all(op);
  } catch (...) {
    vk_->destroy_semaphore_(vk_->device_, handed_over_, nullptr);
    vk_->destroy_semaphore_(vk_->device_, given_back_, nullptr);
    throw;
  }
}

void VulkanHostImage::export_all(std::string_view op) {
  const auto described = [&](const char* what) { return std::string(op) + ": " + what; };
  memory_fd_ = exported(vk_->memory_fd_, get_memory_fd, memory_,
                        described("the driver does not export the image's memory; allocate it with a "
                                  "VkExportMemoryAllocateInfo for VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT"));
  const ExternalInfo exportable{.type = export_semaphore};
  const SemaphoreCreateInfo semaphore{.next = &exportable};
  for (Object* made : {&handed_over_, &given_back_})
    if (vk_->create_semaphore_(vk_->device_, &semaphore, nullptr, made) != 0)
      fail(ErrorCode::unsupported, op, "the host's device makes no semaphore that can be exported.");
  const std::string why = described("the driver does not export semaphores as file descriptors");
  handed_over_fd_ = exported(vk_->semaphore_fd_, get_semaphore_fd, handed_over_, why);
  given_back_fd_ = exported(vk_->semaphore_fd_, get_semaphore_fd, given_back_, why);
}

Fd VulkanHostImage::exported(Function<DeviceHandle*, const GetFdInfo*, int*> get, std::int32_t type, Object object,
                             const std::string& what) const {
  const GetFdInfo info{.type = type, .object = object};
  int fd = -1;
  const std::int32_t result = get(vk_->device_, &info, &fd);
  if (result != 0 || fd < 0) throw Error(ErrorCode::unsupported, what + " (VkResult " + std::to_string(result) + ").");
  return Fd(fd);
}

VulkanHostImage::~VulkanHostImage() {
  vk_->wait_idle_(vk_->queue_);
  for (const Importing& each : importing_) {
    vk_->destroy_semaphore_(vk_->device_, each.semaphore, nullptr);
    vk_->destroy_fence_(vk_->device_, each.fence, nullptr);
  }
  for (const auto& [layouts, recorded] : commands_) vk_->free_commands_(vk_->device_, vk_->pool_, 1, &recorded);
  vk_->destroy_semaphore_(vk_->device_, handed_over_, nullptr);
  vk_->destroy_semaphore_(vk_->device_, given_back_, nullptr);
}

bool VulkanHostImage::is(const Image& image) const {
  if (object_of(image.memory) != memory_ || image.memory_size != bytes_ || !image.create_info) return false;
  const auto& info = *reinterpret_cast<const ImageCreateInfo*>(image.create_info);
  return info.width == info_.width && info.height == info_.height && info.format == info_.format &&
         info.usage == info_.usage;
}

SharedImage::Memory VulkanHostImage::memory() const {
  return {memory_fd_.get(), bytes_, memory_type_, &info_, info_.usage};
}

ImageBarrier VulkanHostImage::barrier(std::int64_t old_layout, std::int64_t new_layout) const {
  ImageBarrier barrier;
  barrier.old_layout = static_cast<std::int32_t>(old_layout);
  barrier.new_layout = static_cast<std::int32_t>(new_layout);
  barrier.image = image_;
  return barrier;
}

void VulkanHostImage::hand_over(std::int64_t layout, std::span<const Semaphore> waits) {
  std::array barriers{barrier(layout, layout_general), barrier(layout_general, layout_general)};
  barriers[1].old_family = is_concurrent_ ? family_ignored : vk_->family_;
  barriers[1].new_family = family_external;
  const Semaphore done = semaphore_of(handed_over_);
  submit(barriers, waits, std::span(&done, 1));
}

void VulkanHostImage::take_back(GivenBack given, std::int64_t layout, std::span<const Semaphore> signals) {
  Importing waited{.semaphore = given_back_};
  if (given.done) {
    waited = idle_importing();
    ImportSemaphoreInfo info;
    info.semaphore = waited.semaphore;
    info.fd = given.done.get();
    if (vk_->import_semaphore_(vk_->device_, &info) != 0)
      throw Error(ErrorCode::unsupported, "Vulkan: the host's device cannot import a semaphore of tessera's device.");
    given.done.release();  // the driver owns it now
  }
  std::array barriers{barrier(given.old_layout, given.new_layout), barrier(given.new_layout, layout)};
  barriers[0].old_family = family_external;
  barriers[0].new_family = is_concurrent_ ? family_ignored : vk_->family_;
  const Semaphore done = semaphore_of(waited.semaphore);
  submit(barriers, std::span(&done, 1), signals, waited.fence);
}

VulkanHostImage::Importing VulkanHostImage::idle_importing() {
  for (const Importing& each : importing_)
    if (vk_->fence_status_(vk_->device_, each.fence) == 0) {
      vk_->reset_fences_(vk_->device_, 1, &each.fence);
      return each;
    }
  Importing& made = importing_.emplace_back();
  const SemaphoreCreateInfo semaphore;
  const FenceCreateInfo fence;
  if (vk_->create_semaphore_(vk_->device_, &semaphore, nullptr, &made.semaphore) != 0 ||
      vk_->create_fence_(vk_->device_, &fence, nullptr, &made.fence) != 0)
    throw Error(ErrorCode::out_of_memory, "Vulkan: the host's device has no room for a semaphore.");
  return made;
}

CommandsHandle* VulkanHostImage::commands(std::span<const ImageBarrier> barriers) {
  std::vector<std::int32_t> key;
  for (const ImageBarrier& each : barriers) {
    key.push_back(each.old_layout);
    key.push_back(each.new_layout);
    key.push_back(each.old_family == family_external);
  }
  CommandsHandle*& recorded = commands_[key];
  if (recorded) return recorded;
  CommandsAllocateInfo info;
  info.pool = vk_->pool_;
  const CommandsBeginInfo begin;
  if (vk_->allocate_commands_(vk_->device_, &info, &recorded) != 0 || vk_->begin_commands_(recorded, &begin) != 0)
    throw Error(ErrorCode::out_of_memory, "Vulkan: the host's device has no room for a command buffer.");
  for (const ImageBarrier& each : barriers)
    if (each.old_layout != each.new_layout || each.old_family != each.new_family)
      vk_->barrier_(recorded, all_commands, all_commands, 0, 0, nullptr, 0, nullptr, 1, &each);
  vk_->end_commands_(recorded);
  return recorded;
}

void VulkanHostImage::submit(std::span<const ImageBarrier> barriers, std::span<const Semaphore> waits,
                             std::span<const Semaphore> signals, Object fence) {
  std::vector<Object> waited, signalled;
  std::vector<std::uint64_t> waited_values, signalled_values;
  for (const Semaphore& each : waits) {
    waited.push_back(object_of(each.semaphore));
    waited_values.push_back(each.value);
  }
  for (const Semaphore& each : signals) {
    signalled.push_back(object_of(each.semaphore));
    signalled_values.push_back(each.value);
  }
  const std::vector<std::uint32_t> stages(waited.size(), all_commands);
  CommandsHandle* const recorded = commands(barriers);
  TimelineSubmitInfo timeline;
  timeline.wait_count = static_cast<std::uint32_t>(waited.size());
  timeline.wait_values = waited_values.data();
  timeline.signal_count = static_cast<std::uint32_t>(signalled.size());
  timeline.signal_values = signalled_values.data();
  const auto has_value = [](const Semaphore& each) { return each.value != 0; };
  SubmitInfo info;
  if (std::ranges::any_of(waits, has_value) || std::ranges::any_of(signals, has_value)) info.next = &timeline;
  info.wait_count = timeline.wait_count;
  info.waits = waited.data();
  info.wait_stages = stages.data();
  info.command_count = 1;
  info.commands = &recorded;
  info.signal_count = timeline.signal_count;
  info.signals = signalled.data();
  if (const std::int32_t result = vk_->submit_(vk_->queue_, 1, &info, fence); result != 0)
    throw Error(ErrorCode::device_lost,
                "Vulkan: vkQueueSubmit on the host's queue gives the VkResult " + std::to_string(result) + ".");
}

}  // namespace tessera

#include "core/platform/shared_image.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "core/platform/library.h"
#include "core/platform/vulkan_abi.h"
#include <tessera/error.h>

namespace tessera {
namespace {

using namespace vulkan;

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorCode::unsupported, "Vulkan: " + why + "."); }

constexpr std::int32_t format_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return rgba32_float;
    case DType::f16: return rgba16_float;
    case DType::i32: return rgba32_sint;
    case DType::i8: return rgba8_sint;
    case DType::u8:
    case DType::boolean: break;
  }
  return rgba8_uint;
}

// Dawn and ANGLE expect of a texture that it is copied from and to, sampled and drawn to.
constexpr std::uint32_t usage = 0x01 | 0x02 | 0x04 | 0x10;

// A Vulkan device that does nothing but hold memory. Never freed, like the devices of the backends that it serves.
class Holder {
 public:
  explicit Holder(const VulkanDriver&);

  Procedure<DeviceHandle*, Object, MemoryRequirements*> requirements;
  Function<DeviceHandle*, const ImageCreateInfo*, const void*, Object*> create_image;
  Function<DeviceHandle*, const MemoryAllocateInfo*, const void*, Object*> allocate;
  Function<DeviceHandle*, Object, Object, std::uint64_t> bind;
  Function<DeviceHandle*, const SemaphoreCreateInfo*, const void*, Object*> create_semaphore;
  Function<DeviceHandle*, const GetFdInfo*, int*> memory_fd, semaphore_fd;
  Procedure<DeviceHandle*, Object, const void*> destroy_image, free_memory, destroy_semaphore;

  DeviceHandle* device = nullptr;
  MemoryTypes memory_types{};
};

Holder::Holder(const VulkanDriver& driver) {
  const OnlyVulkanDriver only(driver);
  void* const loader = open_library(library_names.vulkan);
  if (!loader) refuse("the loader " + std::string(library_names.vulkan) + " is not there");
  const auto load = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(find_in(loader, name));
    if (!function) refuse(std::string("the loader lacks ") + name);
  };
  Function<const InstanceCreateInfo*, const void*, InstanceHandle**> create_instance{};
  Function<InstanceHandle*, std::uint32_t*, PhysicalHandle**> enumerate{};
  Procedure<PhysicalHandle*, MemoryTypes*> types_of{};
  Function<PhysicalHandle*, const DeviceCreateInfo*, const void*, DeviceHandle**> create_device{};
  void* (*device_function)(DeviceHandle*, const char*) = nullptr;
  load(create_instance, "vkCreateInstance");
  load(enumerate, "vkEnumeratePhysicalDevices");
  load(types_of, "vkGetPhysicalDeviceMemoryProperties");
  load(create_device, "vkCreateDevice");
  load(device_function, "vkGetDeviceProcAddr");

  const ApplicationInfo application;
  InstanceCreateInfo instance_info;
  instance_info.application = &application;
  InstanceHandle* instance = nullptr;
  if (create_instance(&instance_info, nullptr, &instance) != 0) refuse("the driver does not start");
  std::array<PhysicalHandle*, 2> devices{};
  auto count = static_cast<std::uint32_t>(devices.size());
  if (enumerate(instance, &count, devices.data()) != 0 || count != 1)
    refuse("the driver has several devices, so that it is not clear which one both backends are on");

  types_of(devices[0], &memory_types);
  const float priority = 0;
  QueueCreateInfo queue;
  queue.priorities = &priority;
  const std::array extensions{"VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd"};
  DeviceCreateInfo info;
  info.queues = &queue;
  info.extension_count = static_cast<std::uint32_t>(extensions.size());
  info.extensions = extensions.data();
  if (create_device(devices[0], &info, nullptr, &device) != 0)
    refuse("the driver cannot share memory (VK_KHR_external_memory_fd, VK_KHR_external_semaphore_fd)");

  const auto load_of_device = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(device_function(device, name));
    if (!function) refuse(std::string("the driver lacks ") + name);
  };
  load_of_device(requirements, "vkGetImageMemoryRequirements");
  load_of_device(create_image, "vkCreateImage");
  load_of_device(allocate, "vkAllocateMemory");
  load_of_device(bind, "vkBindImageMemory");
  load_of_device(create_semaphore, "vkCreateSemaphore");
  load_of_device(memory_fd, "vkGetMemoryFdKHR");
  load_of_device(semaphore_fd, "vkGetSemaphoreFdKHR");
  load_of_device(destroy_image, "vkDestroyImage");
  load_of_device(free_memory, "vkFreeMemory");
  load_of_device(destroy_semaphore, "vkDestroySemaphore");
}

const Holder& holder_on(const VulkanDriver& driver) {
  const std::lock_guard starting(driver_start_lock());
  static auto& holders = *new std::map<std::string, std::unique_ptr<const Holder>>;
  std::unique_ptr<const Holder>& holder = holders[driver.manifest.string()];
  if (!holder) holder = std::make_unique<const Holder>(driver);
  return *holder;
}

class VulkanImage final : public SharedImage {
 public:
  VulkanImage(const Holder& holder, const ImageSpec& image_spec) : SharedImage(image_spec), vk_(holder) {}
  ~VulkanImage() override {
    for (const Object semaphore : semaphores_) vk_.destroy_semaphore(vk_.device, semaphore, nullptr);
    vk_.destroy_image(vk_.device, image_, nullptr);
    vk_.free_memory(vk_.device, memory_, nullptr);
  }
  VulkanImage(const VulkanImage&) = delete;
  VulkanImage& operator=(const VulkanImage&) = delete;

  void make() {  // the destructor frees what this made before it throws
    info_.next = &external_;
    info_.format = format_of(spec.dtype);
    info_.width = spec.width;
    info_.height = spec.height;
    info_.usage = usage;
    if (vk_.create_image(vk_.device, &info_, nullptr, &image_) != 0) refuse("it cannot make a shared image");
    allocate();
    const ExternalInfo exported{.type = export_semaphore};
    const SemaphoreCreateInfo semaphore{.next = &exported};
    for (std::size_t i = 0; i < semaphores_.size(); ++i) {
      if (vk_.create_semaphore(vk_.device, &semaphore, nullptr, &semaphores_[i]) != 0)
        refuse("it cannot make a shared semaphore");
      semaphore_fds_[i] = descriptor(vk_.semaphore_fd, get_semaphore_fd, semaphores_[i]);
    }
    memory_fd_ = descriptor(vk_.memory_fd, get_memory_fd, memory_);
  }

  Memory memory() const override {
    return {memory_fd_.get(), allocation_.size, allocation_.memory_type, &info_, usage};
  }
  int semaphore(std::size_t which) const override { return semaphore_fds_[which].get(); }

 private:
  void allocate() {
    MemoryRequirements needed;
    vk_.requirements(vk_.device, image_, &needed);
    std::uint32_t type = static_cast<std::uint32_t>(std::countr_zero(needed.types));
    for (std::uint32_t i = 0; i < vk_.memory_types.type_count; ++i)
      if ((needed.types >> i & 1) && (vk_.memory_types.types[i].flags & device_local)) {
        type = i;
        break;
      }
    const ExternalInfo exported{.type = export_memory};
    allocation_ = {.next = &exported, .size = needed.size, .memory_type = type};
    const std::int32_t result = vk_.allocate(vk_.device, &allocation_, nullptr, &memory_);
    allocation_.next = nullptr;
    if (result != 0 || vk_.bind(vk_.device, image_, memory_, 0) != 0)
      throw Error(ErrorCode::out_of_memory,
                  "Vulkan: there is no room for a shared image of " + std::to_string(needed.size) + " bytes.");
  }

  Fd descriptor(Function<DeviceHandle*, const GetFdInfo*, int*> get, std::int32_t type, Object object) const {
    const GetFdInfo info{.type = type, .object = object};
    int fd = -1;
    if (get(vk_.device, &info, &fd) != 0) refuse("it cannot hand out shared memory");
    return Fd(fd);
  }

  const Holder& vk_;
  const ExternalInfo external_{.type = external_image};
  ImageCreateInfo info_;
  MemoryAllocateInfo allocation_;
  Object image_ = 0, memory_ = 0;
  std::array<Object, 2> semaphores_{};
  Fd memory_fd_;
  std::array<Fd, 2> semaphore_fds_;
};

}  // namespace

ImageSpec image_for(DType dtype, std::int64_t elements) {
  if (dtype == DType::boolean) dtype = DType::u8;
  const auto step = static_cast<std::int64_t>(256 / (4 * size_of(dtype)));
  const std::int64_t texels = (elements + 3) / 4;
  const auto square = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(texels))));
  const std::int64_t width = std::max<std::int64_t>(1, (square + step - 1) / step) * step;
  return {dtype, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>((texels + width - 1) / width)};
}

std::shared_ptr<SharedImage> make_shared_image(const VulkanDriver& driver, const ImageSpec& spec) {
  auto image = std::make_shared<VulkanImage>(holder_on(driver), spec);
  image->make();
  return image;
}

}  // namespace tessera

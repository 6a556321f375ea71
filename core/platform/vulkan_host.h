// A Vulkan device of a host's, and images of it in memory that other devices of the driver can import.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/platform/driver_start.h"
#include "core/platform/shared_image.h"
#include "core/platform/vulkan_abi.h"
#include <tessera/video_memory.h>
#include <tessera/vulkan.h>

namespace tessera {

// The GPU and the driver: memory crosses between devices where both are equal.
struct VulkanIds {
  std::string name;  // for people
  std::array<std::uint8_t, 16> device{}, driver{};
  bool matches(const VulkanIds& other) const { return device == other.device && driver == other.driver; }
};
// Of all devices of a driver. Takes driver_start_lock().
std::vector<VulkanIds> vulkan_ids(const VulkanDriver&);
// Of a host's device. Throws invalid_argument, with `op`, for handles that are missing.
VulkanIds vulkan_ids(std::string_view op, const vulkan::HostDevice&);

class VulkanHost {
 public:
  // Throws invalid_argument, with `op`, for handles that are missing, and unsupported for functions that are.
  VulkanHost(std::string_view op, const vulkan::HostDevice&);
  ~VulkanHost();
  VulkanHost(const VulkanHost&) = delete;
  VulkanHost& operator=(const VulkanHost&) = delete;

  const VulkanIds& ids() const { return ids_; }
  bool has_dma_bufs() const { return memory_handle_ == vulkan::handle_dma_buf; }  // else opaque descriptors

  // An image in a dma-buf, without its descriptor: its fourcc, modifier and planes. Throws unsupported or
  // invalid_argument, with `op`.
  DmaBuf layout_of(std::string_view op, vulkan::Object image, const vulkan::ImageCreateInfo&) const;

 private:
  friend class VulkanHostImage;

  std::uint64_t modifier_of_image(std::string_view op, vulkan::Object image) const;
  std::uint32_t plane_count(std::string_view op, std::int32_t format, std::uint64_t modifier) const;

  vulkan::Function<vulkan::DeviceHandle*, const vulkan::GetFdInfo*, int*> memory_fd_, semaphore_fd_;
  vulkan::Function<vulkan::DeviceHandle*, const vulkan::ImportSemaphoreInfo*> import_semaphore_;
  vulkan::Function<vulkan::DeviceHandle*, const vulkan::SemaphoreCreateInfo*, const void*, vulkan::Object*>
      create_semaphore_;
  vulkan::Function<vulkan::DeviceHandle*, const vulkan::CommandPoolCreateInfo*, const void*, vulkan::Object*>
      create_pool_;
  vulkan::Function<vulkan::DeviceHandle*, const vulkan::CommandsAllocateInfo*, vulkan::CommandsHandle**>
      allocate_commands_;
  vulkan::Procedure<vulkan::DeviceHandle*, vulkan::Object, std::uint32_t, vulkan::CommandsHandle* const*>
      free_commands_;
  vulkan::Function<vulkan::CommandsHandle*, const vulkan::CommandsBeginInfo*> begin_commands_;
  vulkan::Function<vulkan::CommandsHandle*> end_commands_;
  vulkan::Procedure<vulkan::CommandsHandle*, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, const void*,
                    std::uint32_t, const void*, std::uint32_t, const vulkan::ImageBarrier*>
      barrier_;
  vulkan::Function<vulkan::QueueHandle*, std::uint32_t, const vulkan::SubmitInfo*, vulkan::Object> submit_;
  vulkan::Function<vulkan::QueueHandle*> wait_idle_;
  vulkan::Function<vulkan::DeviceHandle*, const vulkan::FenceCreateInfo*, const void*, vulkan::Object*> create_fence_;
  vulkan::Function<vulkan::DeviceHandle*, vulkan::Object> fence_status_;
  vulkan::Function<vulkan::DeviceHandle*, std::uint32_t, const vulkan::Object*> reset_fences_;
  vulkan::Procedure<vulkan::DeviceHandle*, vulkan::Object, const void*> destroy_semaphore_, destroy_fence_,
      destroy_pool_;

  // Of dma-bufs; null for others, and the latter two where the host has no modifiers.
  vulkan::Procedure<vulkan::DeviceHandle*, vulkan::Object, const vulkan::Subresource*, vulkan::SubresourceLayout*>
      subresource_layout_ = nullptr;
  vulkan::Function<vulkan::DeviceHandle*, vulkan::Object, vulkan::ImageModifier*> modifier_of_ = nullptr;
  vulkan::Procedure<vulkan::PhysicalHandle*, std::int32_t, vulkan::FormatProperties*> format_properties_ = nullptr;

  VulkanIds ids_;
  vulkan::DeviceHandle* device_;
  vulkan::PhysicalHandle* physical_;
  vulkan::QueueHandle* queue_;
  std::uint32_t family_, memory_handle_;
  vulkan::Object pool_ = 0;
};

struct VulkanFormat {
  std::int32_t code = 0;  // a VkFormat
  std::string_view name{};
  bool is_float = true;  // or normalised: such images can be written
};

// How the host's work on an image is ordered with the importer's.
enum class VulkanOrder {
  semaphores,  // of the driver that both have
  sync_files,  // of the kernel
  waiting,     // by the thread, where the importer knows neither
};

// An image of the host's, with exported memory. With semaphores, there are two of them: the host's queue signals one
// when it has handed the image over, and waits for the other before it takes the image back.
class VulkanHostImage {
 public:
  // Throws invalid_argument or unsupported, with `op`, where the image cannot be shared.
  VulkanHostImage(std::string_view op, std::shared_ptr<const VulkanHost>, const vulkan::Image&, VulkanOrder);
  ~VulkanHostImage();  // waits until the queue is idle
  VulkanHostImage(const VulkanHostImage&) = delete;
  VulkanHostImage& operator=(const VulkanHostImage&) = delete;

  const VulkanFormat& format() const { return format_; }
  std::uint32_t width() const { return info_.width; }
  std::uint32_t height() const { return info_.height; }
  std::uint32_t usage() const { return info_.usage; }
  bool is(const vulkan::Image&) const;  // as far as one can tell

  // For importers, who copy the descriptors that are lent here.
  SharedImage::Memory memory() const;
  bool is_dedicated() const { return is_dedicated_; }
  std::uint32_t create_flags() const { return info_.flags; }
  const void* view_formats() const { return external_.next; }  // for VkImageCreateInfo::pNext; null where there is none
  const DmaBuf* dma_buf() const { return dma_buf_ ? &*dma_buf_ : nullptr; }  // null: memory() is the driver's own
  VulkanOrder order() const { return order_; }
  // Semaphores; or the sync file of the last hand_over(), -1 where that is done.
  int handed_over() const { return handed_over_fd_.get(); }
  int given_back() const { return given_back_fd_.get(); }

  // The importer has the image in the layout VK_IMAGE_LAYOUT_GENERAL and owns it as VK_QUEUE_FAMILY_EXTERNAL.
  void hand_over(std::int64_t layout, std::span<const vulkan::Semaphore> waits);
  // With the layouts of the importer's last barrier. `done` is a semaphore that is signalled instead of given_back(),
  // or a sync file. Without one the importer's work is done, unless there are semaphores.
  struct GivenBack {
    Fd done{};
    std::int32_t old_layout = vulkan::layout_general, new_layout = vulkan::layout_general;
  };
  void take_back(GivenBack, std::int64_t layout, std::span<const vulkan::Semaphore> signals);

 private:
  void export_all(std::string_view op);
  Fd exported(vulkan::Function<vulkan::DeviceHandle*, const vulkan::GetFdInfo*, int*>, const vulkan::GetFdInfo&,
              const std::string& what) const;
  vulkan::CommandsHandle* commands(std::span<const vulkan::ImageBarrier>);
  vulkan::ImageBarrier barrier(std::int64_t old_layout, std::int64_t new_layout) const;
  void submit(std::span<const vulkan::ImageBarrier>, std::span<const vulkan::Semaphore> waits,
              std::span<const vulkan::Semaphore> signals, vulkan::Object fence = 0);
  // A semaphore that can have another payload once the queue has waited for it, which the fence tells.
  struct Importing {
    vulkan::Object semaphore = 0, fence = 0;
  };
  Importing idle_importing();

  std::shared_ptr<const VulkanHost> vk_;
  VulkanFormat format_;
  vulkan::Object image_, memory_;
  std::uint64_t bytes_;
  std::uint32_t memory_type_;
  bool is_dedicated_, is_concurrent_ = false;
  VulkanOrder order_;
  std::optional<DmaBuf> dma_buf_;
  vulkan::ExternalInfo external_{.type = vulkan::external_image};
  std::vector<std::int32_t> view_formats_;
  vulkan::FormatList formats_;
  vulkan::ImageCreateInfo info_;
  vulkan::Object handed_over_ = 0, given_back_ = 0;
  Fd memory_fd_, handed_over_fd_, given_back_fd_;
  std::vector<Importing> importing_;  // as many as there are frames under way
  // Recorded once for each pair of layouts, or two, and submitted again and again.
  std::map<std::vector<std::int32_t>, vulkan::CommandsHandle*> commands_;
};

}  // namespace tessera

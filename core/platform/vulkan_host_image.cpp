#include <algorithm>
#include <bit>

#include "core/base/fail.h"
#include "core/platform/vulkan_host.h"
#include "core/platform/vulkan_image_memory.h"

namespace tessera {
namespace {

using namespace vulkan;

// Handles of such objects are pointers or numbers, by the platform.
template <class Handle>
Object object_of(Handle handle) {
  return std::bit_cast<Object>(handle);
}
Semaphore semaphore_of(Object object) { return {std::bit_cast<VkSemaphore>(object)}; }

constexpr const char* no_semaphore_export = "the driver does not export semaphores as file descriptors";

}  // namespace

VulkanHostImage::VulkanHostImage(std::string_view op, std::shared_ptr<const VulkanHost> host, const Image& image,
                                 VulkanOrder order)
    : vk_(std::move(host)),
      image_(object_of(image.image)),
      memory_(object_of(image.memory)),
      bytes_(image.memory_size),
      memory_type_(image.memory_type),
      is_dedicated_(image.is_dedicated),
      order_(order) {
  if (!image.image || !image.create_info || !image.memory)
    fail(ErrorCode::invalid_argument, op,
         std::string("Image::") +
             (!image.image         ? "image"
              : !image.create_info ? "create_info"
                                   : "memory") +
             " is null.");
  info_ = *reinterpret_cast<const ImageCreateInfo*>(image.create_info);
  check_image(op, info_, vk_->memory_handle_);
  if (image.memory_size == 0)
    fail(ErrorCode::invalid_argument, op, "memory_size is 0; it is the VkMemoryAllocateInfo::allocationSize.");
  format_ = shared_format(op, info_.format);
  if (vk_->has_dma_bufs()) dma_buf_ = vk_->layout_of(op, image_, info_);
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
  const auto described = [&](const std::string& what) { return std::string(op) + ": " + what; };
  memory_fd_ = exported(
      vk_->memory_fd_,
      {.type = get_memory_fd, .object = memory_, .handle_type = static_cast<std::int32_t>(vk_->memory_handle_)},
      described("the driver does not export the image's memory; allocate it with a "
                "VkExportMemoryAllocateInfo for " +
                std::string(name_of_handle(vk_->memory_handle_))));
  if (!memory_fd_) fail(ErrorCode::unsupported, op, "the driver gives no file descriptor of the image's memory.");
  if (dma_buf_)
    for (DmaBufPlane& plane : dma_buf_->planes) plane.fd = memory_fd_.get();
  if (order_ == VulkanOrder::waiting) return;
  const ExternalInfo exportable{.type = export_semaphore,
                                .handle_types = order_ == VulkanOrder::sync_files ? handle_sync_fd : handle_opaque_fd};
  const SemaphoreCreateInfo semaphore{.next = &exportable};
  const auto make = [&](Object& made) {
    if (vk_->create_semaphore_(vk_->device_, &semaphore, nullptr, &made) != 0)
      fail(ErrorCode::unsupported, op, "the host's device makes no semaphore that can be exported.");
  };
  make(handed_over_);
  if (order_ == VulkanOrder::sync_files) return;  // each use has a file of its own
  make(given_back_);
  const std::string why = described(no_semaphore_export);
  handed_over_fd_ = exported(vk_->semaphore_fd_, {.type = get_semaphore_fd, .object = handed_over_}, why);
  given_back_fd_ = exported(vk_->semaphore_fd_, {.type = get_semaphore_fd, .object = given_back_}, why);
  if (!handed_over_fd_ || !given_back_fd_) throw Error(ErrorCode::unsupported, why + ".");
}

Fd VulkanHostImage::exported(Function<DeviceHandle*, const GetFdInfo*, int*> get, const GetFdInfo& info,
                             const std::string& what) const {
  int fd = -1;
  const std::int32_t result = get(vk_->device_, &info, &fd);
  if (result != 0) throw Error(ErrorCode::unsupported, what + " (VkResult " + std::to_string(result) + ").");
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
  if (order_ == VulkanOrder::waiting) {
    submit(barriers, waits, {});
    vk_->wait_idle_(vk_->queue_);
    return;
  }
  const Semaphore done = semaphore_of(handed_over_);
  submit(barriers, waits, std::span(&done, 1));
  if (order_ == VulkanOrder::sync_files)
    handed_over_fd_ =
        exported(vk_->semaphore_fd_, {.type = get_semaphore_fd, .object = handed_over_, .handle_type = handle_sync_fd},
                 std::string("Vulkan: ") + no_semaphore_export);
}

void VulkanHostImage::take_back(GivenBack given, std::int64_t layout, std::span<const Semaphore> signals) {
  Importing waited{.semaphore = given_back_};  // which is null without semaphores
  if (given.done) {
    waited = idle_importing();
    ImportSemaphoreInfo info;
    if (order_ == VulkanOrder::sync_files) info.handle_type = handle_sync_fd;
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
  submit(barriers, std::span(&done, waited.semaphore ? 1 : 0), signals, waited.fence);
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

// Images of a Vulkan host's, as imported by a backend.
#pragma once
#include <list>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/kernel/backend.h"
#include "core/platform/vulkan_host.h"
#include <tessera/texture_part.h>

namespace tessera {

// An object of the backend's device over the memory of a host's image.
class ImportedVulkanImage {
 public:
  virtual ~ImportedVulkanImage() = default;

  // The device owns the image from begin() to end(), and waits for VulkanHostImage::handed_over(). With
  // VulkanOrder::waiting, the image has been handed over when it begins, and the device is done when it has ended.
  virtual void begin(const VulkanHostImage&, bool has_pixels) = 0;
  virtual VulkanHostImage::GivenBack end() = 0;

  // The part is such as checked_part() gives. These throw as from_texture and to_texture do, with `op`.
  virtual std::shared_ptr<HostSource> source(std::string_view op, const std::string& channels, DType,
                                             const TexturePart&) = 0;
  virtual std::unique_ptr<HostTarget> target(std::string_view op, const TexturePart&, bool flip_y) = 0;
};

// Both sides of an image, the host's and the backend's.
class SharedVulkanImage final : public HostAccess {
 public:
  SharedVulkanImage(std::string_view op, std::shared_ptr<const VulkanHost>, const vulkan::Image&, VulkanOrder,
                    Backend&);
  void begin() override;
  void end() override;

  const VulkanHostImage& host() const { return *host_; }
  ImportedVulkanImage& imported() { return *imported_; }
  bool can_be_used(const vulkan::Image& image) const { return host_ && !is_broken_ && host_->is(image); }
  void forget();

  // Of the next use, see vulkan::FromImage and vulkan::ToImage.
  std::int64_t layout = vulkan::layout_undefined, layout_after = vulkan::layout_general;
  std::vector<vulkan::Semaphore> waits, signals;

 private:
  std::unique_ptr<VulkanHostImage> host_;  // null once it is forgotten
  std::unique_ptr<ImportedVulkanImage> imported_;
  bool is_broken_ = false;  // nobody knows what the devices still do with it
};

class VulkanImages {
 public:
  static constexpr std::size_t most = 64;

  void set_host(std::shared_ptr<const VulkanHost>);  // null: none
  const VulkanHost* host() const { return host_.get(); }
  // With the present backend's device; none: nobody has looked yet whether the host's memory can come to it.
  std::optional<VulkanOrder> order;

  std::shared_ptr<SharedVulkanImage> get(std::string_view op, const vulkan::Image&, Backend&);
  void forget(VkImage);
  void clear();  // the images; the device is lost or left

 private:
  struct Known {
    VkImage name;
    std::shared_ptr<SharedVulkanImage> image;
  };
  std::shared_ptr<const VulkanHost> host_;
  std::list<Known> known_;  // most recently used last
};

}  // namespace tessera

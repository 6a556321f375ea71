#include "core/kernel/vulkan_images.h"

#include <algorithm>
#include <utility>

namespace tessera {

std::unique_ptr<ImportedVulkanImage> Backend::import_image(const VulkanHostImage&) {
  throw Error(ErrorCode::unsupported, device().name + " cannot import images of Vulkan devices.");
}

SharedVulkanImage::SharedVulkanImage(std::string_view op, std::shared_ptr<const VulkanHost> host,
                                     const vulkan::Image& image, VulkanOrder order, Backend& backend)
    : host_(std::make_unique<VulkanHostImage>(op, std::move(host), image, order)),
      imported_(backend.import_image(*host_)) {}

void SharedVulkanImage::begin() {
  if (!host_)
    throw Error(ErrorCode::invalid_argument,
                "compute: a tensor was to be read from an image of a Vulkan host's that tessera has forgotten since: "
                "by vulkan::forget(), or because too many others were used.");
  try {
    host_->hand_over(layout, waits);
    waits.clear();
    imported_->begin(*host_, layout != vulkan::layout_undefined);
  } catch (...) {
    is_broken_ = true;
    throw;
  }
}

void SharedVulkanImage::end() {
  try {
    host_->take_back(imported_->end(), layout_after, signals);
    signals.clear();
    layout = layout_after;
  } catch (...) {
    is_broken_ = true;
    throw;
  }
}

void SharedVulkanImage::forget() {
  host_.reset();  // the queue is idle then, and so is the device that it waited for
  imported_.reset();
}

void VulkanImages::set_host(std::shared_ptr<const VulkanHost> host) {
  clear();
  host_ = std::move(host);
}

std::shared_ptr<SharedVulkanImage> VulkanImages::get(std::string_view op, const vulkan::Image& image,
                                                     Backend& backend) {
  const auto known = std::ranges::find(known_, image.image, &Known::name);
  if (known != known_.end() && known->image->can_be_used(image)) {
    known_.splice(known_.end(), known_, known);
    return known_.back().image;
  }
  forget(image.image);
  auto shared = std::make_shared<SharedVulkanImage>(op, host_, image, order.value(), backend);
  known_.push_back({image.image, shared});
  if (known_.size() > most) {
    known_.front().image->forget();
    known_.pop_front();
  }
  return shared;
}

void VulkanImages::forget(VkImage name) {
  const auto known = std::ranges::find(known_, name, &Known::name);
  if (known == known_.end()) return;
  known->image->forget();
  known_.erase(known);
}

void VulkanImages::clear() {
  order.reset();
  for (const Known& known : known_) known.image->forget();
  known_.clear();
}

}  // namespace tessera

#include "core/kernel/imported_images.h"

#include <algorithm>

namespace tessera {
namespace {

// Each context keeps so many for the next tensor: a frame loop with a few tensors on the way finds its images again.
constexpr std::size_t most_images = 16;
constexpr std::uint64_t most_image_bytes = std::uint64_t{256} << 20;

}  // namespace

std::unique_ptr<ImportedImage> Backend::import_image(const std::shared_ptr<SharedImage>&) {
  throw Error(ErrorCode::unsupported, device().name + " cannot share memory with other devices.");
}

ImportedImages::ImportedImages() : device_(std::make_shared<int>()) {}

std::shared_ptr<SharedImage> ImportedImages::take_image(const VulkanDriver& driver, const ImageSpec& spec,
                                                        const std::shared_ptr<const void>& other_device) {
  throw_where_it_should_fail();
  const auto unused = std::find_if(known_.rbegin(), known_.rend(), [&](const Known& known) {
    return known.image->spec == spec && known.other_device.lock() == other_device && known.image->take();
  });
  return unused == known_.rend() ? make_shared_image(driver, spec) : unused->image;
}

ImportedImage& ImportedImages::imported(Backend& backend, const std::shared_ptr<SharedImage>& image,
                                        const std::shared_ptr<const void>& other_device) {
  const auto entry =
      std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return known.image == image; });
  if (entry != known_.end()) {
    std::rotate(entry, entry + 1, known_.end());
    return *known_.back().imported;
  }
  drop_surplus();
  known_.push_back({image, backend.import_image(image), other_device});
  return *known_.back().imported;
}

// Images that are taken belong to a tensor or a crossing, and stay.
void ImportedImages::drop_surplus() {
  std::erase_if(known_, [](const Known& known) { return known.other_device.expired() || known.image->is_abandoned(); });
  std::uint64_t bytes = 0;
  std::size_t count = 0;
  for (auto known = known_.rbegin(); known != known_.rend(); ++known) {
    if (known->image->is_taken()) continue;
    bytes += known->image->spec.bytes();
    if (++count > most_images || bytes > most_image_bytes) known->other_device.reset();
  }
  std::erase_if(known_, [](const Known& known) { return known.other_device.expired(); });
}

bool ImportedImages::is_refused(const std::shared_ptr<const void>& other_device) const {
  return std::ranges::any_of(refused_, [&](const auto& device) { return device.lock() == other_device; });
}

void ImportedImages::trim() {
  drop_surplus();
  std::erase_if(known_, [](const Known& known) { return !known.image->is_taken(); });
}

void ImportedImages::clear() {
  known_.clear();
  refused_.clear();
  device_ = std::make_shared<int>();
}

void ImportedImages::throw_where_it_should_fail() {
  if (until_failure_ > 0 && --until_failure_ == 0) throw Error(ErrorCode::unsupported, "the crossing was made to fail");
}

}  // namespace tessera

// Images that two devices see, as imported by one of them.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera {

// The images that a context has imported and may use again.
class ImportedImages {
 public:
  ImportedImages();

  // Lives as long as the device does: images of a lost device are of no use to others.
  const std::shared_ptr<const void>& device() const { return device_; }

  // An image that both devices have seen before, or a new one: taken, until the caller gives it back.
  std::shared_ptr<SharedImage> take_image(const VulkanDriver&, const ImageSpec&,
                                          const std::shared_ptr<const void>& other_device);
  ImportedImage& imported(Backend&, const std::shared_ptr<SharedImage>&,
                          const std::shared_ptr<const void>& other_device);

  // After a failure to share, tensors go through the host between the two devices.
  void refuse(const std::shared_ptr<const void>& other_device) { refused_.push_back(other_device); }
  bool is_refused(const std::shared_ptr<const void>& other_device) const;

  void trim();   // drops images that nobody uses now
  void clear();  // the device is lost or left

  void fail(int nth) { until_failure_ = nth; }  // for tests
  void throw_where_it_should_fail();

 private:
  struct Known {
    std::shared_ptr<SharedImage> image;
    std::unique_ptr<ImportedImage> imported;
    std::weak_ptr<const void> other_device;
  };
  void drop_surplus();

  std::vector<Known> known_;  // most recently used last
  std::shared_ptr<const void> device_;
  std::vector<std::weak_ptr<const void>> refused_;
  int until_failure_ = 0;  // 0: none is made to fail
};

}  // namespace tessera

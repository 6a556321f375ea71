// Keeps the images of other devices that dispatches use in this device's hands for as long as the dispatches run.
#pragma once
#include <span>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera {

// The images of a host's in memory of another device that dispatches use: each is this device's while this lives.
class AccessedImages {
 public:
  explicit AccessedImages(std::span<const Dispatch> dispatches) {
    for (const Dispatch& dispatch : dispatches) {
      for (const BoundInput& input : dispatch.inputs)
        if (input.source) add(input.source->access.get());
      if (const HostSource* source = dispatch.pass ? dispatch.pass->as_source() : nullptr) add(source->access.get());
    }
    for (const Dispatch& dispatch : dispatches)
      if (dispatch.target) add(dispatch.target->access.get());  // last: the host may be told when that is done
  }
  ~AccessedImages() {
    while (ended_ < begun_) try {
        end();
      } catch (const Error&) {  // the submission has failed already
      }
  }
  AccessedImages(const AccessedImages&) = delete;
  AccessedImages& operator=(const AccessedImages&) = delete;

  bool is_empty() const { return images_.empty(); }
  void begin() {
    for (; begun_ < images_.size(); ++begun_) images_[begun_]->begin();
  }
  void end() {
    while (ended_ < begun_) images_[ended_++]->end();
  }

 private:
  void add(HostAccess* image) {
    if (!image) return;
    std::erase(images_, image);
    images_.push_back(image);
  }

  std::vector<HostAccess*> images_;
  std::size_t begun_ = 0, ended_ = 0;
};

}  // namespace tessera

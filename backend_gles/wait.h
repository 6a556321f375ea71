// The one place where this backend blocks.
#pragma once
#include "backend_gles/handle.h"

namespace tessera::gles {

// Reached when the device has done all that was encoded before it.
class Fence {
 public:
  explicit Fence(std::shared_ptr<const Device>);  // also submits what was encoded; the context is current

  bool is_reached() const;  // also true after a loss: then nothing will come any more
  void wait() const;        // sleeps

 private:
  std::shared_ptr<const Device> device_;
  Sync sync_;
};

}  // namespace tessera::gles

// The one place where this backend blocks.
#pragma once
#include "backend_gles/handle.h"

namespace tessera::gles {

// Reached when the device has done all that was encoded before it.
class Fence {
 public:
  explicit Fence(std::shared_ptr<const Device>);  // also submits all commands so far; the context is current

  // A fence of a lost context counts as reached: whoever goes on to read is told of the loss.
  bool is_reached() const { return is_reached_within(0); }
  void wait() const;  // sleeps

 private:
  bool is_reached_within(GLuint64 nanoseconds) const;

  std::shared_ptr<const Device> device_;
  Sync sync_;
};

}  // namespace tessera::gles

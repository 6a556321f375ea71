// A buffer that the host reads: mapped when the device has done all that was submitted before.
#pragma once
#include <cstdint>
#include <string>

#include "backend_webgpu/device.h"

namespace tessera::webgpu {

// Stays where it is: Dawn's callback points to it.
class Mapping {
 public:
  Mapping(const Device&, WGPUBuffer, std::uint64_t bytes);
  ~Mapping();  // unmaps the buffer
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  bool ready(std::uint64_t nanoseconds);  // waits for so long at the most
  const void* data() const;               // of a ready one; null where it failed
  const std::string& failure() const { return failure_; }

 private:
  const Device& device_;
  WGPUBuffer buffer_;
  std::uint64_t bytes_;
  WGPUFuture future_{};
  bool is_pending_ = true, is_mapped_ = false;
  std::string failure_;
};

}  // namespace tessera::webgpu

// Copies of buffers to the host that run beside everything else: into a staging buffer, which is mapped then.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"

namespace tessera::webgpu {

// A buffer that is mapped when the device has done all that was submitted before. Stays where it is: Dawn's callback
// points to it.
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
  mutable const void* data_ = nullptr;  // a page gives a range out once
  std::string failure_;
};

// Keeps a few staging buffers for the next download. Any thread may call.
class StagingPool {
 public:
  struct Staging {
    Handle<WGPUBuffer> handle;
    std::uint64_t bytes = 0;
  };

  explicit StagingPool(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  Staging take(std::uint64_t bytes);
  void give_back(Staging);
  void trim();
  const std::shared_ptr<Device>& device() const { return device_; }

 private:
  std::shared_ptr<Device> device_;
  std::mutex lock_;
  std::vector<Staging> free_;
};

// Submits the copy of `count` bytes from byte `first` on.
std::unique_ptr<Download> start_download(std::shared_ptr<StagingPool>, const BoundBuffer&, std::uint64_t first,
                                         std::uint64_t count);
// The same for Backend::download_at_once: submits copies of parts while others are taken, if there are many bytes.
std::unique_ptr<Download> start_download_in_parts(std::shared_ptr<StagingPool>, const BoundBuffer&, std::uint64_t first,
                                                  std::uint64_t count);

}  // namespace tessera::webgpu

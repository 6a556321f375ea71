// Copies of buffers to the host that run beside everything else: into a staging buffer, which is mapped then.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"

namespace tessera::webgpu {

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

}  // namespace tessera::webgpu

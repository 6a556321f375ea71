// A texture over memory that other devices see too, by Dawn's shared texture memory.
#pragma once
#include <memory>

#include "backend_webgpu/device.h"
#include "core/platform/vulkan_host.h"

namespace tessera::webgpu {

class SharedTexture {
 public:
  // `memory` describes it to Dawn, which copies the descriptors in there. `name` is for people and for labels: "shared
  // image". Throws unsupported where Dawn refuses it.
  SharedTexture(std::shared_ptr<Device>, const char* name, WGPUChainedStruct& memory, WGPUExtent3D size,
                WGPUTextureFormat, WGPUTextureUsage);

  WGPUTexture get() const { return texture_.get(); }
  const std::shared_ptr<Device>& device() const { return device_; }

  // Submissions between these two may use the texture. Errors go to the scope that the caller has opened.
  struct Begin {
    std::int32_t old_layout = vulkan::layout_general, new_layout = old_layout;  // of the barrier that gave it away
    bool has_pixels = true;
    WGPUSharedFence waited = nullptr;  // null: nobody is at work on the memory
  };
  void begin(const Begin&) const;
  // `done` is empty where Dawn gives neither a semaphore nor a sync file.
  struct End {
    VulkanHostImage::GivenBack given{};
    bool is_sync_file = false;
  };
  End end() const;

  void throw_refusal(ErrorScope&) const;  // closes the scope

 private:
  std::shared_ptr<Device> device_;
  const char* name_;
  Handle<WGPUSharedTextureMemory> memory_;
  Handle<WGPUTexture> texture_;
};

// Memory of a Vulkan device of the same driver.
WGPUSharedTextureMemoryOpaqueFDDescriptor opaque_memory(const SharedImage::Memory&, bool is_dedicated = false);
// For Begin::waited: a semaphore of such a device, and a file that any device gives. Dawn copies the descriptors.
Handle<WGPUSharedFence> import_semaphore(const Device&, int fd);
Handle<WGPUSharedFence> import_sync_file(const Device&, int fd);

}  // namespace tessera::webgpu

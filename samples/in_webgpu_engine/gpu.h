// The engine's WebGPU device, and where its frames go: a window's surface, or a texture off screen.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "support/webgpu_surface.h"

using sample::Owned;
using sample::text;

class Gpu {
 public:
  explicit Gpu(GLFWwindow*);  // null: off screen

  void resize(sample::Size);
  WGPUTextureFormat target_format() const { return format_; }
  Owned<WGPUTexture> next_target();  // to draw into; null where the window has none at the moment
  void present();
  std::vector<std::uint8_t> target_pixels();  // off screen: the last frame, RGBA

  Owned<WGPUBuffer> buffer(std::uint64_t bytes, WGPUBufferUsage, const void* contents = nullptr) const;
  Owned<WGPUTexture> texture(sample::Size, WGPUTextureFormat, WGPUTextureUsage) const;

  WGPUInstance instance() const { return instance_.get(); }
  WGPUDevice device() const { return device_.get(); }
  WGPUQueue queue() const { return queue_.get(); }

 private:
  void wait_for(WGPUFuture) const;

  Owned<WGPUInstance> instance_;
  Owned<WGPUAdapter> adapter_;
  Owned<WGPUDevice> device_;
  Owned<WGPUQueue> queue_;
  std::optional<sample::Surface> surface_;  // has to go before the device that draws into it
  WGPUTextureFormat format_ = WGPUTextureFormat_RGBA8Unorm;
  sample::Size size_{};
  Owned<WGPUTexture> off_screen_;
};

// The engine's WebGPU device, and where its frames go: a window's surface, or a texture off screen.
#pragma once
#include <webgpu/webgpu.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "support/window.h"

struct Release {
  void operator()(WGPUInstance x) const { wgpuInstanceRelease(x); }
  void operator()(WGPUSurface x) const { wgpuSurfaceRelease(x); }
  void operator()(WGPUAdapter x) const { wgpuAdapterRelease(x); }
  void operator()(WGPUDevice x) const { wgpuDeviceRelease(x); }
  void operator()(WGPUQueue x) const { wgpuQueueRelease(x); }
  void operator()(WGPUBuffer x) const { wgpuBufferRelease(x); }
  void operator()(WGPUTexture x) const { wgpuTextureRelease(x); }
  void operator()(WGPUTextureView x) const { wgpuTextureViewRelease(x); }
  void operator()(WGPUSampler x) const { wgpuSamplerRelease(x); }
  void operator()(WGPUShaderModule x) const { wgpuShaderModuleRelease(x); }
  void operator()(WGPURenderPipeline x) const { wgpuRenderPipelineRelease(x); }
  void operator()(WGPUBindGroupLayout x) const { wgpuBindGroupLayoutRelease(x); }
  void operator()(WGPUBindGroup x) const { wgpuBindGroupRelease(x); }
  void operator()(WGPUCommandEncoder x) const { wgpuCommandEncoderRelease(x); }
  void operator()(WGPUCommandBuffer x) const { wgpuCommandBufferRelease(x); }
  void operator()(WGPURenderPassEncoder x) const { wgpuRenderPassEncoderRelease(x); }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release>;

inline WGPUStringView text(std::string_view s) { return {s.data(), s.size()}; }

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
  Owned<WGPUSurface> surface_;  // has to go before the device that draws into it
  WGPUTextureFormat format_ = WGPUTextureFormat_RGBA8Unorm;
  sample::Size size_{};
  Owned<WGPUTexture> off_screen_;
};

// Owning handles of WebGPU objects, and strings as WebGPU passes them.
#pragma once
#include <webgpu/webgpu.h>

#include <string>
#include <string_view>
#include <utility>

namespace tessera::webgpu {

inline void release(WGPUAdapter object) { wgpuAdapterRelease(object); }
inline void release(WGPUBindGroup object) { wgpuBindGroupRelease(object); }
inline void release(WGPUBindGroupLayout object) { wgpuBindGroupLayoutRelease(object); }
inline void release(WGPUBuffer object) { wgpuBufferRelease(object); }
inline void release(WGPUCommandBuffer object) { wgpuCommandBufferRelease(object); }
inline void release(WGPUCommandEncoder object) { wgpuCommandEncoderRelease(object); }
inline void release(WGPUComputePassEncoder object) { wgpuComputePassEncoderRelease(object); }
inline void release(WGPUComputePipeline object) { wgpuComputePipelineRelease(object); }
inline void release(WGPUDevice object) { wgpuDeviceRelease(object); }
inline void release(WGPUInstance object) { wgpuInstanceRelease(object); }
inline void release(WGPUPipelineLayout object) { wgpuPipelineLayoutRelease(object); }
inline void release(WGPUQuerySet object) { wgpuQuerySetRelease(object); }
inline void release(WGPUQueue object) { wgpuQueueRelease(object); }
inline void release(WGPURenderPassEncoder object) { wgpuRenderPassEncoderRelease(object); }
inline void release(WGPURenderPipeline object) { wgpuRenderPipelineRelease(object); }
inline void release(WGPUSampler object) { wgpuSamplerRelease(object); }
inline void release(WGPUShaderModule object) { wgpuShaderModuleRelease(object); }
inline void release(WGPUSharedFence object) { wgpuSharedFenceRelease(object); }
inline void release(WGPUSharedTextureMemory object) { wgpuSharedTextureMemoryRelease(object); }
inline void release(WGPUTexture object) { wgpuTextureRelease(object); }
inline void release(WGPUTextureView object) { wgpuTextureViewRelease(object); }

inline void add_reference(WGPUBindGroup object) { wgpuBindGroupAddRef(object); }
inline void add_reference(WGPUBuffer object) { wgpuBufferAddRef(object); }
inline void add_reference(WGPUDevice object) { wgpuDeviceAddRef(object); }
inline void add_reference(WGPUInstance object) { wgpuInstanceAddRef(object); }
inline void add_reference(WGPUTexture object) { wgpuTextureAddRef(object); }
inline void add_reference(WGPUTextureView object) { wgpuTextureViewAddRef(object); }

// Takes over the reference that a wgpu function returned.
template <class T>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T object) : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_) release(object_);
  }

  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T object_ = nullptr;
};

// One more reference to an object that others hold, too.
template <class T>
Handle<T> shared(T object) {
  add_reference(object);
  return Handle(object);
}

// Valid as long as `text` is.
inline WGPUStringView view_of(std::string_view text) { return {text.data(), text.size()}; }

inline std::string string_of(WGPUStringView view) {
  if (!view.data) return {};
  return view.length == WGPU_STRLEN ? std::string(view.data) : std::string(view.data, view.length);
}

}  // namespace tessera::webgpu

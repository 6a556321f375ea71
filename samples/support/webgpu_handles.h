// WebGPU's handles, released at the end of their scope.
#pragma once
#include <webgpu/webgpu.h>

#include <memory>
#include <string_view>
#include <type_traits>

namespace sample {

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
  void operator()(WGPUComputePipeline x) const { wgpuComputePipelineRelease(x); }
  void operator()(WGPUPipelineLayout x) const { wgpuPipelineLayoutRelease(x); }
  void operator()(WGPUBindGroupLayout x) const { wgpuBindGroupLayoutRelease(x); }
  void operator()(WGPUBindGroup x) const { wgpuBindGroupRelease(x); }
  void operator()(WGPUCommandEncoder x) const { wgpuCommandEncoderRelease(x); }
  void operator()(WGPUCommandBuffer x) const { wgpuCommandBufferRelease(x); }
  void operator()(WGPURenderPassEncoder x) const { wgpuRenderPassEncoderRelease(x); }
  void operator()(WGPUComputePassEncoder x) const { wgpuComputePassEncoderRelease(x); }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Release>;

inline WGPUStringView text(std::string_view s) { return {s.data(), s.size()}; }

}  // namespace sample

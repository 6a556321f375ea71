#include "backend_webgpu/kernel_cache.h"

#include <algorithm>

#include "backend_webgpu/shader.h"

namespace tessera::webgpu {

KernelCache::KernelCache(std::shared_ptr<Device> device, std::shared_ptr<BindGroups> bind_groups)
    : device_(std::move(device)),
      bind_groups_(std::move(bind_groups)),
      workgroup_size_(std::min(
          {64u, device_->limits().maxComputeWorkgroupSizeX, device_->limits().maxComputeInvocationsPerWorkgroup})) {}

WGPUComputePipeline KernelCache::get(const Kernel& kernel, KernelUses* uses) {
  return pipelines_.get(kernel.key, uses, [&] { return compile(kernel); }).get();
}

Compiled<Handle<WGPUComputePipeline>> KernelCache::compile(const Kernel& kernel) const {
  const Compilation compilation(device_->messages());
  const std::string text = shader_text(kernel, workgroup_size_);
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view_of(text);
  WGPUShaderModuleDescriptor module{};
  module.nextInChain = &source.chain;
  module.label = view_of(kernel.key);

  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view_of(kernel.key);
  descriptor.layout = bind_groups_->pipeline_layout(kernel.inputs.size());
  descriptor.compute.entryPoint = view_of("main");

  ErrorScope rejected(*device_, WGPUErrorFilter_Validation);
  ErrorScope failed(*device_, WGPUErrorFilter_Internal);
  const Handle shader(wgpuDeviceCreateShaderModule(device_->get(), &module));
  descriptor.compute.module = shader.get();
  Handle pipeline(wgpuDeviceCreateComputePipeline(device_->get(), &descriptor));
  std::string error = failed.close();
  error += rejected.close();
  device_->throw_faults();
  if (!pipeline || !error.empty())
    throw Error(ErrorCode::compile_failed,
                "WebGPU: " + device_->info().name + " does not take the kernel " + kernel.key + ": " + error);
  compilation.succeeded([&] { return "kernel " + label_of(kernel); }, text);
  return {std::move(pipeline), text.size()};
}

}  // namespace tessera::webgpu

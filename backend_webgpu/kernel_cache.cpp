#include "backend_webgpu/kernel_cache.h"

#include <algorithm>

#include "backend_webgpu/program.h"
#include "backend_webgpu/shader.h"

namespace tessera::webgpu {

KernelCache::KernelCache(std::shared_ptr<Device> device, std::shared_ptr<BindGroups> bind_groups)
    : device_(std::move(device)),
      bind_groups_(std::move(bind_groups)),
      workgroup_size_(std::min(
          {64u, device_->limits().maxComputeWorkgroupSizeX, device_->limits().maxComputeInvocationsPerWorkgroup})) {}

WGPUComputePipeline KernelCache::get(const Kernel& kernel, KernelUses* uses) {
  return CompiledCache::get(kernel.key, uses, [&] { return compile(kernel); }).get();
}

Compiled<Handle<WGPUComputePipeline>> KernelCache::compile(const Kernel& kernel) const {
  const Compilation compilation(device_->messages());
  const BlobLookups before = device_->blob_lookups();
  const std::string text = shader_text(kernel, workgroup_size_);
  Handle pipeline = make_compute_pipeline(*device_, text, "kernel " + kernel.label,
                                          bind_groups_->pipeline_layout(kernel.inputs.size()));
  const bool is_from_cache = device_->blob_lookups().are_hits_since(before);
  compilation.succeeded([&] { return "kernel " + kernel.label; }, text, is_from_cache);
  return {std::move(pipeline), text.size(), is_from_cache};
}

}  // namespace tessera::webgpu

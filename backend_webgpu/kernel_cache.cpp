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

bool KernelCache::get_beside(const Kernel& kernel, KernelUses* uses) {
  if (!contains(kernel.key)) {
    auto begun = under_way_.find(kernel.key.text());
    if (begun == under_way_.end()) begun = under_way_.emplace(kernel.key.text(), begin(kernel)).first;
    if (!begun->second.pipeline.is_done()) return false;
  }
  get(kernel, uses);
  return true;
}

KernelCache::UnderWay KernelCache::begin(const Kernel& kernel) const {
  Compilation compilation(device_->messages());
  const BlobLookups before = device_->blob_lookups();
  std::string text = shader_text(kernel, workgroup_size_, device_->octets());
  PipelineBeside pipeline(device_, text, "kernel " + kernel.label, bind_groups_->pipeline_layout(kernel.inputs.size()));
  return {std::move(text), std::move(compilation), before, std::move(pipeline)};
}

Compiled<Handle<WGPUComputePipeline>> KernelCache::compile(const Kernel& kernel) {
  const auto tell = [&](const Compilation& compilation, const std::string& text, bool is_from_cache) {
    compilation.succeeded([&] { return "kernel " + kernel.label; }, text, is_from_cache);
  };
  if (auto begun = under_way_.extract(kernel.key.text())) {
    UnderWay& work = begun.mapped();
    Handle<WGPUComputePipeline> pipeline = work.pipeline.take();
    const bool is_from_cache = device_->blob_lookups().are_hits_since(work.before);
    tell(work.compilation, work.text, is_from_cache);
    return {std::move(pipeline), work.text.size(), is_from_cache};
  }
  const Compilation compilation(device_->messages());
  const BlobLookups before = device_->blob_lookups();
  const std::string text = shader_text(kernel, workgroup_size_, device_->octets());
  Handle pipeline = make_compute_pipeline(*device_, text, "kernel " + kernel.label,
                                          bind_groups_->pipeline_layout(kernel.inputs.size()));
  const bool is_from_cache = device_->blob_lookups().are_hits_since(before);
  tell(compilation, text, is_from_cache);
  return {std::move(pipeline), text.size(), is_from_cache};
}

void KernelCache::trim() {
  std::erase_if(under_way_,
                [](const auto& begun) { return begun.second.pipeline.is_done(); });  // the rest would be waited for
  CompiledCache::trim();
}

}  // namespace tessera::webgpu

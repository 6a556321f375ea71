// Compiled kernels, by their key.
#pragma once
#include <memory>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"
#include "core/kernel/compiled_cache.h"
#include "core/kernel/kernel.h"

namespace tessera::webgpu {

class KernelCache : public CompiledCache<Handle<WGPUComputePipeline>> {
 public:
  KernelCache(std::shared_ptr<Device>, std::shared_ptr<BindGroups>);

  // Compiles where need be. Throws compile_failed, and remembers nothing then.
  WGPUComputePipeline get(const Kernel&, KernelUses*);

  std::uint32_t workgroup_size() const { return workgroup_size_; }

 private:
  Compiled<Handle<WGPUComputePipeline>> compile(const Kernel&) const;

  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_;
  const std::uint32_t workgroup_size_;
};

}  // namespace tessera::webgpu

// Compiled kernels, by their key.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"
#include "backend_webgpu/pipeline_beside.h"
#include "core/kernel/compiled_cache.h"
#include "core/kernel/kernel.h"

namespace tessera::webgpu {

class KernelCache : public CompiledCache<Handle<WGPUComputePipeline>> {
 public:
  KernelCache(std::shared_ptr<Device>, std::shared_ptr<BindGroups>);

  // Compiles where need be. Throws compile_failed, and remembers nothing then.
  WGPUComputePipeline get(const Kernel&, KernelUses*);
  // See Backend::prepare_beside.
  bool get_beside(const Kernel&, KernelUses*);
  void trim();

  std::uint32_t workgroup_size() const { return workgroup_size_; }

 private:
  struct UnderWay {
    std::string text;
    Compilation compilation;
    BlobLookups before;
    PipelineBeside pipeline;
  };

  Compiled<Handle<WGPUComputePipeline>> compile(const Kernel&);
  UnderWay begin(const Kernel&) const;

  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_;
  const std::uint32_t workgroup_size_;
  std::map<std::string, UnderWay> under_way_;  // by the keys of kernels
};

}  // namespace tessera::webgpu

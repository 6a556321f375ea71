// Kernels of the user's own: whole compute shaders, with the bindings that <tessera/custom.h> tells.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "backend_webgpu/host_pass.h"
#include "core/custom.h"

namespace tessera::webgpu {

class CustomKernels {
 public:
  explicit CustomKernels(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  // Compiles at the first use. Throws compile_failed with the driver's words.
  const PassPipeline& get(const CustomCall&, KernelUses*);

  // `parameters` is where the words of the call are.
  PreparedPass prepare(const Dispatch&, const BoundBuffer& parameters);

  CompiledCache<PassPipeline>& cache() { return pipelines_; }
  const CompiledCache<PassPipeline>& cache() const { return pipelines_; }

 private:
  Compiled<PassPipeline> compile(const CustomCall&) const;

  std::shared_ptr<Device> device_;
  CompiledCache<PassPipeline> pipelines_;  // by bindings, workgroup size and text
};

std::vector<std::uint32_t> words_of(const CustomCall&);

}  // namespace tessera::webgpu

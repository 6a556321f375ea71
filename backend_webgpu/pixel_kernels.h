// Compiled pixel kernels, by their key.
#pragma once
#include <memory>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"
#include "backend_webgpu/host_pass.h"
#include "backend_webgpu/host_views.h"
#include "backend_webgpu/parameters.h"
#include "backend_webgpu/pixel_text.h"
#include "core/kernel/compiled_cache.h"
#include "core/kernel/pixel_kernel.h"

namespace tessera::webgpu {

struct PixelPipeline : PassPipeline {
  std::uint64_t id = 0;  // among those of BoundBuffer: of the layout of its bind groups
  PixelEntry entry{};
  std::ptrdiff_t drawn_output = -1;  // among the kernel's; -1: none
  std::uint64_t word_bytes = 0;
};

class PixelKernels : public CompiledCache<PixelPipeline> {
 public:
  PixelKernels(std::shared_ptr<Device> device, std::shared_ptr<BindGroups> bind_groups)
      : device_(std::move(device)), bind_groups_(std::move(bind_groups)) {}

  // Compiles where need be. Throws compile_failed, and remembers nothing then.
  const PixelPipeline& get(const PixelKernel&, KernelUses*);

  // The pass of a dispatch, whose words these are.
  PreparedPass pass(const Dispatch&, const PixelPipeline&, HostViews&, const BoundBuffer& words);

 private:
  Compiled<PixelPipeline> compile(const PixelKernel&) const;
  Handle<WGPUBindGroup> group(const Dispatch&, const PixelPipeline&, HostViews&, BoundBuffer words);

  WGPUSampler linear_filter();

  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_;
  Handle<WGPUSampler> linear_filter_;
};

// Adds the words of a dispatch, followed by those of its host's textures.
void add_pixel_words(Parameters&, const Dispatch&);

PixelLimits pixel_limits(const WGPULimits&);

}  // namespace tessera::webgpu

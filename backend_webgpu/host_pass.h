// Work on what a host lent: read a texture or a buffer into a tensor, write a tensor into a texture.
//
// A pass is prepared before anything is recorded, and only then recorded: whatever can fail, fails without a trace.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"
#include "core/compiled_cache.h"

namespace tessera::webgpu {

struct PassPipeline {
  Handle<WGPUComputePipeline> compute;  // one of the two
  Handle<WGPURenderPipeline> render;
  Handle<WGPUBindGroupLayout> layout;  // of group 0
};

// Compiled when first used, by name.
class PassPipelines {
 public:
  explicit PassPipelines(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  const PassPipeline& compute(const std::string& name, const std::function<std::string()>& text);
  // A triangle over all of a target of this format.
  const PassPipeline& render(const std::string& name, WGPUTextureFormat, const std::function<std::string()>& text);
  CompiledCache<PassPipeline>& cache() { return pipelines_; }
  const CompiledCache<PassPipeline>& cache() const { return pipelines_; }

 private:
  template <class Make>
  Compiled<PassPipeline> compile(const std::string& name, const std::string& text, const Make&) const;

  std::shared_ptr<Device> device_;
  CompiledCache<PassPipeline> pipelines_;
};

// What a pass is prepared with.
struct PassResources {
  Device& device;
  PassPipelines& pipelines;
  const BoundBuffer *input, *output;  // of the tensor that it reads, or that it makes; else null
  BoundBuffer parameters;             // its words, at their offset
};

struct PreparedPass {
  const PassPipeline* pipeline;
  Handle<WGPUBindGroup> group;
  Handle<WGPUTextureView> target;                          // of a render pass
  std::uint32_t groups_x = 0, groups_y = 1, groups_z = 1;  // of a compute pass
  std::vector<BoundBuffer> cleared{};                      // become zero before it: it need not write all of them
};

class WebGpuPass : public HostPass {
 public:
  virtual std::vector<std::uint32_t> words() const = 0;  // its parameters
  virtual PreparedPass prepare(const PassResources&) const = 0;
};

void record(WGPUCommandEncoder, const PreparedPass&, const WGPUPassTimestampWrites* = nullptr);

WGPUBindGroupEntry entry_for(std::uint32_t binding, const BoundBuffer&);
WGPUBindGroupEntry entry_for(std::uint32_t binding, WGPUTextureView);
Handle<WGPUBindGroup> make_group(const Device&, const PassPipeline&, const std::vector<WGPUBindGroupEntry>&);
Handle<WGPUTextureView> view_of(WGPUTexture);  // its first level

// Invocations of a compute pass: in groups of `pass_group_size`, in rows where there are too many for one.
inline constexpr std::uint32_t pass_group_size = 64;
void set_invocations(PreparedPass&, std::uint64_t count, const Device&);

}  // namespace tessera::webgpu

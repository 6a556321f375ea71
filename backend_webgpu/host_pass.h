// Passes of their own: copies from and to a host's buffers, custom kernels, and pixel kernels that draw into a host's
// texture.
//
// A pass is prepared before anything is recorded, and only then recorded: whatever can fail, fails without a trace.
#pragma once
#include <compare>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"
#include "core/kernel/compiled_cache.h"

namespace tessera::webgpu {

struct PassPipeline {
  Handle<WGPUComputePipeline> compute;  // or a render pipeline
  Handle<WGPURenderPipeline> render;
  Handle<WGPUBindGroupLayout> layout;  // of group 0
};

// The pipelines of passes and of custom kernels.
class PassPipelines : public CompiledCache<PassPipeline> {
 public:
  using Text = std::function<std::string()>;
  using Make = std::function<PassPipeline(const std::string& text)>;

  explicit PassPipelines(std::shared_ptr<Device> device) : device_(std::move(device)) {}
  // `name` is for people.
  const PassPipeline& get(const std::string& key, const std::string& name, const Text&, const Make&,
                          KernelUses* = nullptr);
  const PassPipeline& compute(const std::string& key, const Text&);

 private:
  std::shared_ptr<Device> device_;
};

struct PassTools {
  Device& device;
  PassPipelines& pipelines;
  BoundBuffer parameters{};  // the pass's words, at their offset
};

struct DrawnRectangle {
  std::uint32_t x, y, width, height;
};

// Instead of a pipeline.
struct BufferCopy {
  WGPUBuffer from, to;
  std::uint64_t from_offset, to_offset, bytes;
};

struct PreparedPass {
  const PassPipeline* pipeline;
  Handle<WGPUBindGroup> group;
  Handle<WGPUTextureView> target;                          // of a render pass
  std::uint32_t depth_slice = WGPU_DEPTH_SLICE_UNDEFINED;  // of a target in 3-D
  std::optional<DrawnRectangle> rectangle{};               // none: every pixel of the target is drawn
  std::uint32_t groups_x = 0, groups_y = 1, groups_z = 1;  // of a compute pass
  std::vector<BoundBuffer> cleared{};                      // are zero when the pass begins, which need not write them
  std::optional<BufferCopy> copy{};
};

// Each HostPass is one of these too.
class WebGpuPass {
 public:
  virtual ~WebGpuPass() = default;
  virtual std::vector<std::uint32_t> words(const Dispatch&) const { return {}; }  // its parameters
  // Checks the host's object and compiles, before anything of the submission is recorded.
  virtual PreparedPass prepare(const PassTools&, const Dispatch&) const = 0;
};

// `label` is for debuggers.
void record(WGPUCommandEncoder, const PreparedPass&, std::string_view label, const WGPUPassTimestampWrites* = nullptr);

WGPUBindGroupEntry entry_for(std::size_t binding, WGPUTextureView);
Handle<WGPUBindGroup> make_group(const Device&, const PassPipeline&, const std::vector<WGPUBindGroupEntry>&);

// A level of a texture, with one layer, or with all slices of a 3-D texture.
struct TextureSlice {
  WGPUTexture texture;
  std::uint32_t level = 0, layer = 0;
  WGPUTextureAspect aspect = WGPUTextureAspect_All;
  auto operator<=>(const TextureSlice&) const = default;
};
Handle<WGPUTextureView> view_of(const TextureSlice&);

// Workgroups that do not fit into one row are dispatched in rows of equal length.
struct WorkgroupRows {
  std::uint32_t length, rows;
};
WorkgroupRows rows_of_workgroups(std::uint64_t workgroups, const Device&);

// The invocations of a compute pass, in groups of `pass_group_size`.
inline constexpr std::uint32_t pass_group_size = 64;
void set_invocations(PreparedPass&, std::uint64_t count, const Device&);

}  // namespace tessera::webgpu

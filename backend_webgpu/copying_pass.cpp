#include "backend_webgpu/copying_pass.h"

#include "core/embedded_shader.h"

namespace tessera::webgpu {
namespace {

class CopyingPass final : public WebGpuPass {
 public:
  CopyingPass(WGPUBuffer buffer, const BufferPart& part) : buffer_(shared(buffer)), part_(part) {}

  std::vector<std::uint32_t> words() const override {
    return {static_cast<std::uint32_t>(part_.skip), static_cast<std::uint32_t>(part_.bytes), 0, 0};
  }

  PreparedPass prepare(const PassResources& resources) const override {
    PreparedPass pass{.pipeline = &resources.pipelines.compute(
                          "copy of a buffer", [] { return std::string(embedded_shader("from_buffer.wgsl")); })};
    const BoundBuffer source{.handle = buffer_.get(), .bytes = part_.bound_bytes(), .offset = part_.offset};
    pass.group =
        make_group(resources.device, *pass.pipeline,
                   {entry_for(0, resources.parameters), entry_for(1, source), entry_for(2, *resources.output)});
    set_invocations(pass, resources.output->bytes / 4, resources.device);
    return pass;
  }

 private:
  Handle<WGPUBuffer> buffer_;
  BufferPart part_;
};

}  // namespace

std::unique_ptr<WebGpuPass> copying_pass(WGPUBuffer buffer, const BufferPart& part) {
  return std::make_unique<CopyingPass>(buffer, part);
}

}  // namespace tessera::webgpu

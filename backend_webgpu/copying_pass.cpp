#include "backend_webgpu/copying_pass.h"

#include "backend_webgpu/storage.h"
#include "core/kernel/embedded_shader.h"

namespace tessera::webgpu {
namespace {

class CopyingPass final : public HostPass, public WebGpuPass {
 public:
  CopyingPass(WGPUBuffer buffer, const BufferPart& part) : buffer_(shared(buffer)), part_(part) {}

  std::vector<std::uint32_t> words(const Dispatch&) const override {
    return {narrow<std::uint32_t>(part_.skip), narrow<std::uint32_t>(part_.bytes), 0, 0};
  }

  PreparedPass prepare(const PassTools& tools, const Dispatch& dispatch) const override {
    PreparedPass pass{.pipeline = &tools.pipelines.compute(
                          "copy of a buffer", [] { return std::string(embedded_shader("from_buffer.wgsl")); })};
    const BoundBuffer source{.handle = buffer_.get(), .bytes = part_.bound_bytes(), .offset = part_.offset};
    const BoundBuffer& output = buffer_of(*dispatch.output);
    pass.group = make_group(tools.device, *pass.pipeline,
                            {entry_for(0, tools.parameters), entry_for(1, source), entry_for(2, output)});
    set_invocations(pass, output.bytes / 4, tools.device);
    return pass;
  }

 private:
  Handle<WGPUBuffer> buffer_;
  BufferPart part_;
};

}  // namespace

std::unique_ptr<HostPass> copying_pass(WGPUBuffer buffer, const BufferPart& part) {
  return std::make_unique<CopyingPass>(buffer, part);
}

}  // namespace tessera::webgpu

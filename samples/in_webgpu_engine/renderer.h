// The engine's frame: a pass that draws the scene, bloom, and a pass that shows it with darkened corners.
#pragma once
#include "gpu.h"

// tessera: begin
#include <optional>
#include <tessera/tessera.h>
#include <tessera/webgpu.h>
// tessera: end

class Renderer {
 public:
  Renderer(Gpu&, bool with_bloom);

  void resize(sample::Size);
  void draw(int frame);  // one submission
  void report() const;   // what the frames have cost

 private:
  void record_scene(WGPUCommandEncoder, int frame);
  void record_present(WGPUCommandEncoder, WGPUTexture target);
  Owned<WGPURenderPipeline> pipeline(const char* wgsl, WGPUTextureFormat, bool is_scene) const;
  Owned<WGPUBindGroup> bindings(WGPURenderPipeline, std::vector<WGPUBindGroupEntry>) const;

  Gpu& gpu_;
  sample::Size size_{};
  Owned<WGPUBuffer> vertices_, indices_, uniforms_;
  Owned<WGPUTexture> cube_texture_, scene_, depth_;
  Owned<WGPURenderPipeline> scene_pipeline_, present_pipeline_;
  Owned<WGPUBindGroup> scene_bindings_, present_bindings_;
  // tessera: begin
  std::optional<tessera::Context> tensors_;  // on the engine's device; none without bloom
  Owned<WGPUTexture> bloomed_;
  // tessera: end
};

// The engine's frame: a pass that draws the scene, bloom, and a pass that shows it with darkened corners.
#pragma once
#include "gpu.h"

// tessera: begin
#include <optional>
#include <tessera/tessera.h>
#include <tessera/vulkan.h>
// tessera: end

class Renderer {
 public:
  Renderer(Gpu&, bool with_bloom);
  ~Renderer();
  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  void resize(sample::Size);
  void draw(int frame);
  std::vector<std::uint8_t> target_pixels();  // the last frame, RGBA, from the top
  void report() const;                        // what the frames have cost

 private:
  struct Pass {
    vk::raii::Pipeline pipeline{nullptr};
    vk::raii::DescriptorSet bindings{nullptr};
  };
  vk::raii::Pipeline pipeline(std::span<const std::uint32_t> vertex, std::span<const std::uint32_t> fragment,
                              bool is_scene) const;
  vk::raii::DescriptorSet bindings(const Image& texture) const;
  void begin_drawing(const vk::raii::CommandBuffer&, Image& target, bool with_depth);
  void draw_scene(int frame);
  void show();

  Gpu& gpu_;
  sample::Size size_{};
  Buffer vertices_, indices_, uniforms_;
  Image cube_texture_, scene_, depth_, target_;
  vk::raii::Sampler sampler_{nullptr};
  vk::raii::DescriptorSetLayout binding_layout_{nullptr};
  vk::raii::PipelineLayout layout_{nullptr};
  vk::raii::DescriptorPool binding_pool_{nullptr};
  Pass scene_pass_, show_pass_;
  // tessera: begin
  std::optional<tessera::Context> tensors_;  // on the engine's GPU; none without bloom
  Image bloomed_;
  // tessera: end
};

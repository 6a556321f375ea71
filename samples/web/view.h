// One picture of the page: a context, and the filters that run on it. The page has two of them, side by side.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "pipeline.h"

// A texture of the page's, which has made it in the context or on the device that handle() gives.
struct PageTexture {
  unsigned name = 0;  // in Emscripten's table of textures, or in tessera's of the objects of WebGPU; 0: none
  video::Size size{};
};

class View {
 public:
  explicit View(tessera::BackendKind backend) : gpu_(tessera::Context::create({.prefer = {backend}})) {}

  tessera::Context& gpu() { return gpu_; }
  // Moves to another backend with every tensor that is alive: those of the scene, of networks, of earlier frames.
  void use(tessera::BackendKind);
  // Emscripten's number of the WebGL2 context, or the number of the GPUDevice.
  int handle() const;

  // The size of what is drawn from now on, which the filters may enlarge.
  video::Size set(video::Size source, const std::vector<std::string>& filters);

  // Draws frame `number` of the built-in scene, or of the middle of a texture, in one submission: with WebGL2 to the
  // canvas of its context, with WebGPU into `target`.
  void draw(int number, const PageTexture& source, unsigned target);

 private:
  tessera::Tensor image_of(const PageTexture&);

  tessera::Context gpu_;
  video::Size source_{}, shown_{};
  std::optional<video::Pipeline> pipeline_;
};

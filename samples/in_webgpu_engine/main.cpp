// A small WebGPU engine with a window, and tessera in it: what it took to embed it is between `tessera: begin` and
// `tessera: end`, in renderer.h and renderer.cpp. docs/embedding.md explains these lines.
#include <cstdio>
#include <exception>
#include <optional>

#include "renderer.h"
#include "support/options.h"
#include "support/png.h"

namespace {

void run(const sample::Options& options) {
  const sample::Size size{options.width, options.height};
  std::optional<sample::Window> window;
  if (options.headless_frames == 0) window.emplace("tessera in a WebGPU engine", size, sample::Window::Api::none);
  Gpu gpu(window ? window->handle() : nullptr);
  Renderer renderer(gpu, options.with_tessera);
  for (int i = 0; window ? window->is_open() : i < options.headless_frames; ++i) {
    renderer.resize(window ? window->size() : size);
    renderer.draw(options.still >= 0 ? options.still : i);
  }
  if (!window) sample::write_png(options.picture, size.width, size.height, gpu.target_pixels());
  renderer.report();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(sample::parse_options(argc, argv,
                              "A spinning cube, drawn by a WebGPU engine that has its bloom from tessera."));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in_webgpu_engine: %s\n", error.what());
    return 1;
  }
}

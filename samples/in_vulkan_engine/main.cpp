// A small Vulkan engine, and tessera in it: what it took to embed it is between `tessera: begin` and `tessera: end`, in
// renderer.h and renderer.cpp. docs/embedding.md explains these lines. It draws off screen: drivers that show windows
// and share memory are graphics cards', and the sample is to run everywhere.
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "renderer.h"
#include "support/options.h"
#include "support/png.h"

namespace {

void run(const sample::Options& options) {
  if (options.headless_frames == 0) throw std::runtime_error("it has no window; say --headless FRAMES PICTURE.png");
  const sample::Size size{options.width, options.height};
  Gpu gpu;
  Renderer renderer(gpu, options.with_tessera);
  renderer.resize(size);
  for (int i = 0; i < options.headless_frames; ++i) renderer.draw(options.still >= 0 ? options.still : i);
  sample::write_png(options.picture, size.width, size.height, renderer.target_pixels());
  renderer.report();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(sample::parse_options(argc, argv,
                              "A spinning cube, drawn by a Vulkan engine that has its bloom from tessera."));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in_vulkan_engine: %s\n", error.what());
    return 1;
  }
}

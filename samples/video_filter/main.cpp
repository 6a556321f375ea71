// Live filters on video that never leaves the GPU between decoding and display, on WebGPU or on OpenGL ES. The filters
// are in filters.cpp; --help tells the rest.
#include <cstdio>
#include <exception>

#include "headless.h"
#include "window_loop.h"

int main(int argc, char** argv) {
  try {
    const video::Options options = video::parse_options(argc, argv);
    if (options.headless) video::run_headless(options);
    else video::run_in_window(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "video_filter: %s\n", error.what());
    return 1;
  }
}

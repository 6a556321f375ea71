// The command line.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "frame.h"
#include <tessera/context.h>

namespace video {

struct Options {
  std::string source = "scene";
  std::vector<std::string> filters{"none"};
  std::optional<Size> size;                     // of the window or the frames; none: 1280x720, or what the source has
  std::optional<tessera::BackendKind> backend;  // none: the first that works
  std::string driver;
  std::filesystem::path cache;  // a folder for compiled kernels; empty: none
  int first = 0;                // frame of the built-in scene
  bool still = false;           // stand still there
  bool headless = false, compare = false;
  int frames = 60;  // headless
  std::string out = "video_filter.png";
  std::string stills;  // a folder: one picture for each filter

  tessera::ContextOptions context_options() const { return {.driver = driver, .cache_dir = cache}; }
};

// Explains itself and ends the program for --help; throws std::runtime_error with one line for what it does not know.
Options parse_options(int argc, char** argv);

}  // namespace video

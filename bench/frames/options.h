// The command line of bench/frames.
#pragma once
#include <optional>

#include "bench/frames/pipeline.h"

namespace tessera::bench {

struct Options {
  std::vector<BackendKind> backends{BackendKind::webgpu, BackendKind::gles};
  std::string driver;  // part of a device's name or driver; none: the best one
  std::vector<Size> sizes{{1280, 720}, {640, 480}};
  std::vector<int> channels{3, 4};
  std::vector<std::string> only;  // names of pipelines; none: all
  int runs = 31;
  bool json = false, kernels = false, cpu = false, is_release = false;
  std::string picture, pictures_to;
};

extern const char* const usage;
std::optional<Options> parse_options(int count, char** arguments);  // none where they make no sense

}  // namespace tessera::bench

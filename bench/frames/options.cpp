#include "bench/frames/options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace tessera::bench {

const char* const usage = R"(frames: pipelines of frames as tensor code, beside the shaders that one would write by hand
  --backend webgpu|gles    both where it is not given
  --driver NAME            part of a device's name or driver: "EGL Mesa", "ANGLE on lavapipe"
  --size WxH[,WxH]         1280x720,640x480 where it is not given
  --channels RGB|RGBA      both where it is not given
  --only NAME[,NAME]       some of the pipelines
  --runs N                 frames of each way, in turns; 31 where it is not given
  --picture FILE           a PNG that the camera sees, rather than a scene of the program's own
  --pictures FOLDER        writes a PNG of each pipeline's frame, by tensors above and by hand below, and measures nothing
  --kernels                below each line, tessera's kernels and how long the device works on each in a frame
  --release                in a host as it is released: errors are asked about later, and nothing is named for debuggers
  --cpu                    CPU time of all threads in place of times: for software drivers on a machine that is busy
  --json                   instead of the table
)";

namespace {

std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  std::istringstream text(list);
  for (std::string part; std::getline(text, part, ',');) parts.push_back(part);
  return parts;
}

bool is_known(const std::string& name) {
  return std::ranges::any_of(all_pipelines(), [&](const Entry& entry) { return name == entry.name; });
}

bool set(Options& options, const std::string& name, const std::string& value) {
  if (name == "--backend") {
    if (value != "webgpu" && value != "gles") return false;
    options.backends = {value == "webgpu" ? BackendKind::webgpu : BackendKind::gles};
  } else if (name == "--driver") {
    options.driver = value;
  } else if (name == "--size") {
    options.sizes.clear();
    for (const std::string& part : parts_of(value)) {
      Size size{};
      if (std::sscanf(part.c_str(), "%dx%d", &size.width, &size.height) != 2) return false;
      options.sizes.push_back(size);
    }
  } else if (name == "--channels") {
    if (value != "RGB" && value != "RGBA") return false;
    options.channels = {static_cast<int>(value.size())};
  } else if (name == "--only") {
    options.only = parts_of(value);
    return std::ranges::all_of(options.only, is_known);
  } else if (name == "--runs") {
    options.runs = std::atoi(value.c_str());
    return options.runs > 0;
  } else if (name == "--picture") {
    options.picture = value;
  } else if (name == "--pictures") {
    options.pictures_to = value;
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::optional<Options> parse_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (name == "--json") options.json = true;
    else if (name == "--kernels") options.kernels = true;
    else if (name == "--cpu") options.cpu = true;
    else if (name == "--release") options.is_release = true;
    else if (i + 1 == count || !set(options, name, arguments[++i])) return std::nullopt;
  }
  return options;
}

}  // namespace tessera::bench

#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "filters.h"
#include "support/options.h"

namespace video {
namespace {

void explain() {
  std::printf(
      "Live filters on video, on the GPU.\n\n"
      "  video_filter [SOURCE] [options]\n\n"
      "SOURCE is a video, a picture, 'camera' or 'camera:/dev/video1'; without one a scene is drawn.\n"
      "  --filter A,B,...   one filter after the other\n"
      "  --backend NAME     webgpu, gles; headless also cpu\n"
      "  --driver NAME      part of a device's name or driver, such as 'SwiftShader' (not for gles in a window)\n"
      "  --cache FOLDER     for compiled kernels, which the next start finds there; '' for none;\n"
      "                     $XDG_CACHE_HOME/tessera or ~/.cache/tessera unless told\n"
      "  --size WxH         of the window or the frames; 1280x720, or that of the source, unless told\n"
      "  --first N          begin the scene at frame N\n"
      "  --still N          stand still there\n"
      "  --headless         render off screen, without a display:\n"
      "    --frames N       how many; 60 unless told\n"
      "    --out FILE       .png: the last frame, or each one for a name like frame_%%04d.png; .mp4: a video; .rgb: "
      "raw\n"
      "                     frames of 8-bit red, green and blue; video_filter.png unless told\n"
      "    --compare        webgpu, gles and eight times their difference, side by side\n"
      "    --stills FOLDER  one picture for each filter, instead of all that\n\n"
      "Filters:\n");
  for (const FilterEntry& entry : filters()) std::printf("  %-11s %s\n", entry.name, entry.what_it_does);
  std::printf(
      "\nKeys: Tab the other backend; 0 to 9 a filter, Left and Right the one before or after; Space pause; S save a\n"
      "picture; Escape close.\n");
}

// For programs of this user; empty where the system does not tell.
std::filesystem::path cache_of_user() {
  const auto folder = [](const char* variable) -> std::filesystem::path {
    const char* const value = std::getenv(variable);
    return value ? value : "";
  };
  if (const auto cache = folder("XDG_CACHE_HOME"); cache.is_absolute()) return cache / "tessera";
  if (const auto home = folder("HOME"); home.is_absolute()) return home / ".cache" / "tessera";
  return {};
}

tessera::BackendKind backend_named(const std::string& name) {
  for (const auto kind : {tessera::BackendKind::webgpu, tessera::BackendKind::gles, tessera::BackendKind::cpu})
    if (name == to_string(kind)) return kind;
  throw std::runtime_error("there is no backend '" + name + "'; there are webgpu, gles and cpu");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  constexpr int most = 100'000'000;
  Options options;
  options.cache = cache_of_user();
  bool has_source = false;
  int at = 1;
  while (at < argc) {
    const std::string option = argv[at++];
    const auto value = [&] {
      if (at >= argc) throw std::runtime_error(option + " needs a value; --help explains");
      return std::string(argv[at++]);
    };
    if (option == "--help") {
      explain();
      std::exit(0);
    } else if (option == "--filter") {
      options.filters = parse_filters(value());
    } else if (option == "--backend") {
      options.backend = backend_named(value());
    } else if (option == "--driver") {
      options.driver = value();
    } else if (option == "--cache") {
      options.cache = value();
    } else if (option == "--size") {
      options.size = sample::parse_size(value());
    } else if (option == "--first" || option == "--still") {
      options.still = option == "--still";
      options.first = sample::parse_number(value(), 0, most);
    } else if (option == "--headless") {
      options.headless = true;
    } else if (option == "--frames") {
      options.frames = sample::parse_number(value(), 1, most);
    } else if (option == "--out") {
      options.out = value();
    } else if (option == "--compare") {
      options.compare = true;
    } else if (option == "--stills") {
      options.stills = value();
    } else if (!option.starts_with("-") && !has_source) {
      options.source = option;
      has_source = true;
    } else {
      throw std::runtime_error("unknown option '" + option + "'; --help lists them");
    }
  }
  const bool needs_no_window = options.compare || !options.stills.empty();
  if (needs_no_window && !options.headless) throw std::runtime_error("--compare and --stills go with --headless");
  return options;
}

}  // namespace video

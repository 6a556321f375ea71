#include "support/options.h"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace sample {
namespace {

constexpr int largest_size = 8192;

}  // namespace

int parse_number(const std::string& text, int lowest, int highest) {
  char* end = nullptr;
  const long value = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < lowest || value > highest)
    throw std::runtime_error("'" + text + "' is not a number from " + std::to_string(lowest) + " to " +
                             std::to_string(highest));
  return static_cast<int>(value);
}

Size parse_size(const std::string& text) {
  const std::size_t x = text.find('x');
  if (x == std::string::npos) throw std::runtime_error("'" + text + "' is not a size like 960x540");
  return {parse_number(text.substr(0, x), 1, largest_size), parse_number(text.substr(x + 1), 1, largest_size)};
}

Options parse_options(int argc, char** argv, const char* what_it_is) {
  Options options;
  int at = 1;
  const auto next = [&](std::string_view option) {
    if (at >= argc) throw std::runtime_error(std::string(option) + " needs a value; --help explains");
    return std::string(argv[at++]);
  };
  while (at < argc) {
    const std::string_view option = argv[at++];
    if (option == "--help") {
      std::printf(
          "%s\n\n"
          "  --headless N FILE  render N frames off screen, without a display, and write the last one to FILE, a PNG\n"
          "  --size WxH         of the window or the picture; 960x540 unless told\n"
          "  --still N          stand still at frame N of the animation\n"
          "  --without-tessera  the engine alone: no bloom\n"
          "Escape closes the window.\n",
          what_it_is);
      std::exit(0);
    } else if (option == "--headless") {
      options.headless_frames = parse_number(next(option), 1, 1'000'000);
      options.picture = next(option);
    } else if (option == "--size") {
      const Size size = parse_size(next(option));
      options.width = size.width;
      options.height = size.height;
    } else if (option == "--still") {
      options.still = parse_number(next(option), 0, 1'000'000);
    } else if (option == "--without-tessera") {
      options.with_tessera = false;
    } else {
      throw std::runtime_error("unknown option '" + std::string(option) + "'; --help lists them");
    }
  }
  return options;
}

}  // namespace sample

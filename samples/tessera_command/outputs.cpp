#include "outputs.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace command {
namespace {

using tessera::Shape;

// Numbers go from what `range` says to 0 and 255.
void write_picture(const Outputs& outputs, const Options& options) {
  for (const auto& [name, elements] : outputs) {
    const Shape& shape = elements.shape;
    const int rank = shape.rank();
    if (rank < 2 || shape.size() == 0) continue;
    const auto is_channels = [](std::int64_t size) { return size == 1 || size == 3 || size == 4; };
    const bool is_plane = rank == 2, channels_first = !is_plane && is_channels(shape[-3]);
    if (!is_plane && !channels_first && !is_channels(shape[-1])) continue;
    const std::int64_t channels = is_plane ? 1 : shape[channels_first ? -3 : -1];
    const std::int64_t height = shape[is_plane || channels_first ? -2 : -3],
                       width = shape[is_plane || channels_first ? -1 : -2];
    std::vector<std::uint8_t> bytes;
    for (std::int64_t i = 0; i < height * width; ++i)
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::int64_t at = channels_first ? c * height * width + i : i * channels + c;
        const float share =
            (elements.numbers[static_cast<std::size_t>(at)] - options.lowest) / (options.highest - options.lowest);
        bytes.push_back(static_cast<std::uint8_t>(std::lround(std::clamp(share, 0.0f, 1.0f) * 255)));
      }
    if (!stbi_write_png(options.out.c_str(), static_cast<int>(width), static_cast<int>(height),
                        static_cast<int>(channels), bytes.data(), static_cast<int>(width * channels)))
      throw std::runtime_error("cannot write " + options.out);
    std::printf("%s: output %s\n", options.out.c_str(), name.c_str());
    return;
  }
  throw std::runtime_error("no output is a picture of 1, 3 or 4 channels; --out FOLDER writes .npy files");
}

std::string file_name(std::string name) {
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == ':' || c == '\\'; }, '_');
  return name + ".npy";
}

}  // namespace

void print(const std::string& name, const Elements& elements, int top) {
  const std::vector<float>& numbers = elements.numbers;
  std::printf("output %s %s", name.c_str(), elements.shape.to_string().c_str());
  if (numbers.empty()) return void(std::puts(", empty"));
  const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  std::printf(": %g to %g, mean %g\n", *least, *most, sum / static_cast<double>(numbers.size()));
  std::vector<std::size_t> order(numbers.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto count = std::min(order.size(), static_cast<std::size_t>(top));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::size_t a, std::size_t b) { return numbers[a] > numbers[b]; });
  for (std::size_t i = 0; i < count; ++i) std::printf("  %12g at %zu\n", numbers[order[i]], order[i]);
}

void write(const Outputs& outputs, const Options& options) {
  if (options.out.empty()) return;
  if (options.out.ends_with(".png")) return write_picture(outputs, options);
  std::filesystem::create_directories(options.out);
  for (const auto& [name, elements] : outputs)
    write_npy((std::filesystem::path(options.out) / file_name(name)).string(), elements);
  std::printf("%s: %zu outputs\n", options.out.c_str(), outputs.size());
}

}  // namespace command

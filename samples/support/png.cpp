#include "support/png.h"

#include <stdexcept>

#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"  // it writes other formats too
#include <stb_image_write.h>
#pragma GCC diagnostic pop

namespace sample {

void write_png(const std::string& path, int width, int height, const std::vector<std::uint8_t>& pixels) {
  const std::size_t channels = pixels.size() / (static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  std::vector<std::uint8_t> rgb;
  for (std::size_t i = 0; i < pixels.size(); i += channels)
    rgb.insert(rgb.end(), {pixels[i], pixels[i + 1], pixels[i + 2]});
  if (!stbi_write_png(path.c_str(), width, height, 3, rgb.data(), width * 3))
    throw std::runtime_error("cannot write " + path);
}

}  // namespace sample

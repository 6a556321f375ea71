// Three convolutions at half the size; make_network.py wrote their weights, and tells what they do.
#include "filters.h"

#include <cstdlib>
#include <filesystem>

#include <tessera/safetensors.h>

namespace video {

using namespace tessera;

Filter make_network(Context& gpu, Size size) {
  const char* elsewhere = std::getenv("VIDEO_FILTER_NETWORK");
  const auto weights =
      load_safetensors(gpu, elsewhere ? elsewhere : VIDEO_FILTER_FOLDER "/network.safetensors").tensors;
  const auto layer = [=](const Tensor& image, const std::string& name) {
    const Tensor filter = weights.at(name + ".weight");
    return relu(conv2d(pad(image, {{}, {1, 1}, {1, 1}, {}}, PadMode::edge), filter) + weights.at(name + ".bias"));
  };
  return [=](const Tensor& image, int) {
    const Tensor half = resize_bilinear(expand_dims(image), (size.height + 1) / 2, (size.width + 1) / 2);
    const Tensor drawn = layer(layer(layer(half, "lines_and_colours"), "ink"), "picture");
    const Tensor colours = slice(drawn, {0, 0, 0, 0}, {1, -1, -1, 3});
    return clip(resize_bilinear(squeeze(colours, {0}), size.height, size.width), 0, 1);
  };
}

}  // namespace video

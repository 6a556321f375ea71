// Filters by networks of others: a mask of people by MediaPipe's selfie segmentation, and pictures twice as large by
// ESRGAN. third_party/README.md tells where they come from.
#include "filters.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include <tessera/model.h>

namespace video {

using namespace tessera;

namespace {

// None where the build did not fetch it; VIDEO_FILTER_MODELS names another folder.
std::optional<Model> load_network(Context& gpu, const char* file, const char* instead) {
  const char* elsewhere = std::getenv("VIDEO_FILTER_MODELS");
  const std::filesystem::path path = std::filesystem::path(elsewhere ? elsewhere : VIDEO_FILTER_MODELS) / file;
  if (std::filesystem::exists(path)) return Model::load(gpu, path);
  std::fprintf(stderr, "video_filter: there is no %s: %s\n", path.c_str(), instead);
  return {};
}

// What the network makes of the image, whose only input and output are one image each.
Tensor image_of(const Model& network, const Tensor& image) {
  return squeeze(network({{network.inputs()[0].name, expand_dims(image)}})[network.outputs()[0].name], {0});
}

// The mean of each 2 x 2 pixels of an enlarged image is to be the pixel that it was made of: what is missing is added.
// That makes edges sharper, whoever enlarged it.
Tensor true_to(const Tensor& image, Tensor larger) {
  for (int turn = 0; turn < 2; ++turn) {
    const Tensor seen = squeeze(average_pool(expand_dims(larger), {.size = {2, 2}}), {0});
    larger = larger + resize_bilinear(image - seen, larger.shape()[0], larger.shape()[1]);
  }
  return clip(larger, 0, 1);
}

}  // namespace

Filter make_background(Context& gpu, Size size) {
  constexpr int side = 256;  // of the image that the network takes
  if (const std::optional<Model> network =
          load_network(gpu, "selfie/selfie.json", "an oval in the middle stays sharp instead of people"))
    return [network = *network, size](const Tensor& image, int) {
      const Tensor people = image_of(network, resize_bilinear(image, side, side));
      return mix(strong_blur(image), image, resize_bilinear(people, size.height, size.width));
    };
  const Tensor mask = clip(squared_radius(gpu, size) * 2.5f - 0.6f, 0, 1).compute();
  return [=](const Tensor& image, int) { return mix(image, strong_blur(image), mask); };
}

Filter make_upscale(Context& gpu, Size size) {
  if (const std::optional<Model> network =
          load_network(gpu, "esrgan-slim-x2/model.json", "pictures are enlarged without a network"))
    return [network = *network, size](const Tensor& image, int) {
      constexpr int margin = 6;  // beyond which the network sees zeros, and dark borders
      const Tensor wider = pad(image * 255.0f, {{margin, margin}, {margin, margin}, {}}, PadMode::edge);
      const Tensor larger =
          slice(image_of(network, wider), {2 * margin, 2 * margin, 0}, {2 * size.height, 2 * size.width, 3});
      return true_to(image, larger / 255.0f);
    };
  return [size](const Tensor& image, int) {
    return true_to(image, resize_bilinear(image, size.height * 2, size.width * 2));
  };
}

}  // namespace video

#include "filters.h"

#include <algorithm>
#include <deque>
#include <stdexcept>

namespace video {

using namespace tessera;

namespace {

int height_of(const Tensor& image) { return static_cast<int>(image.shape()[0]); }
int width_of(const Tensor& image) { return static_cast<int>(image.shape()[1]); }

}  // namespace

Tensor squared_radius(Context& gpu, Size size) {
  const Tensor x = linspace(gpu, -1, 1, size.width).reshape({1, size.width, 1});
  const Tensor y = linspace(gpu, -1, 1, size.height).reshape({size.height, 1, 1});
  return square(x) + square(y);
}

Tensor strong_blur(const Tensor& image) {
  const int height = height_of(image), width = width_of(image);
  const Tensor half = resize_bilinear(image, (height + 1) / 2, (width + 1) / 2);
  const Tensor quarter = resize_bilinear(half, (height + 3) / 4, (width + 3) / 4);
  return resize_bilinear(gaussian_blur(quarter, 1.5f), height, width);
}

namespace {

Tensor in_colours(const Tensor& grey) { return broadcast_to(grey, {grey.shape()[0], grey.shape()[1], 3}); }

// Red, green and blue count as much as the eye sees of them.
Tensor grayscale(const Tensor& image) {
  return colour_matrix(image, {0.2126f, 0.7152f, 0.0722f, 0.2126f, 0.7152f, 0.0722f, 0.2126f, 0.7152f, 0.0722f});
}

Tensor none(const Tensor& image) { return image; }
Tensor blur(const Tensor& image) { return gaussian_blur(image, 3); }
Tensor sharpen(const Tensor& image) { return clip(image + (image - gaussian_blur(image, 1)) * 2.0f, 0, 1); }

Tensor sepia(const Tensor& image) {
  return clip(colour_matrix(image, {0.393f, 0.769f, 0.189f, 0.349f, 0.686f, 0.168f, 0.272f, 0.534f, 0.131f}), 0, 1);
}

// [height,width,1], as is what follows from it.
Tensor brightness(const Tensor& image) { return mean(image, {.axes = {2}, .keep_dims = true}); }
Tensor edges(const Tensor& image) {
  const Gradient gradient = sobel(brightness(image));
  return sqrt(square(gradient.x) + square(gradient.y));
}

Tensor sobel_edges(const Tensor& image) { return in_colours(clip(edges(image), 0, 1)); }

// Lit from the upper left: what is brighter than its neighbour on that side stands out.
Tensor emboss(const Tensor& image) {
  const Gradient gradient = sobel(brightness(image));
  return in_colours(clip((gradient.x + gradient.y) * -0.35f + 0.5f, 0, 1));
}

Tensor pixelate(const Tensor& image) {
  const int block = std::max(height_of(image) / 40, 2);
  const Tensor blocks = average_pool(expand_dims(image), {.size = {block, block}, .padding = Padding::same});
  const Tensor large = resize(squeeze(blocks, {0}), static_cast<int>(blocks.shape()[1]) * block,
                              static_cast<int>(blocks.shape()[2]) * block, {.mode = Interpolation::nearest});
  return slice(large, {0, 0, 0}, {height_of(image), width_of(image), 3});
}

// A mean over neighbours along an axis in which those of another colour count little, so that edges stay sharp.
Tensor bilateral_along(const Tensor& image, int axis) {
  constexpr int radius = 2;
  std::vector<PadWidth> margin(3);
  margin[static_cast<std::size_t>(axis)] = {radius, radius};
  const Tensor wider = pad(image, margin, PadMode::edge);
  Tensor total = image, weights;
  for (int k = 0; k <= 2 * radius; ++k) {
    if (k == radius) continue;  // the pixel itself, whose weight is 1
    std::vector<std::int64_t> begin(3);
    begin[static_cast<std::size_t>(axis)] = k;
    const Tensor neighbour = slice(wider, begin, {image.shape()[0], image.shape()[1], 3});
    const Tensor weight = exp(square(neighbour - image) * -60.0f);
    total = total + neighbour * weight;
    weights = k == 0 ? weight + 1.0f : weights + weight;
  }
  return total / weights;
}

// A few shades, with soft steps between them, and ink along the edges.
Tensor cartoon(const Tensor& image) {
  constexpr float shades = 6;
  const Tensor smooth = bilateral_along(bilateral_along(image, 0), 1);
  const Tensor light = brightness(smooth), scaled = light * shades, below = floor(scaled);
  const Tensor shade = (below + clip((scaled - below - 0.5f) * 6.0f + 0.5f, 0, 1)) / shades;
  const Tensor ink = clip(edges(smooth) * 2.5f - 0.6f, 0, 1);
  return clip(smooth * (shade / (light + 0.01f) * (1.0f - ink)), 0, 1);
}

Filter vignette(Context& gpu, Size size) {
  const Tensor light = clip(1.1f - squared_radius(gpu, size) * 0.5f, 0, 1).compute();
  return [=](const Tensor& image, int) { return image * light; };
}

// Other noise in each frame, for `denoise` to take away.
Filter grain(Context& gpu, Size) {
  return [gpu](const Tensor& image, int frame) mutable {
    return clip(image + normal(gpu, image.shape(), static_cast<std::uint64_t>(frame), 0, 0.08f), 0, 1);
  };
}

// The mean over time, in which an earlier pixel counts less the more it differs: what moves does not smear.
constexpr std::size_t denoise_looks_back = 4;
Filter denoise(Context&, Size) {
  return [earlier = std::deque<Tensor>()](const Tensor& image, int) mutable {
    earlier.resize(denoise_looks_back, image);  // at the beginning there are none
    const Tensor smooth = separable_filter(image, {0.25f, 0.5f, 0.25f}, {0.25f, 0.5f, 0.25f});
    Tensor total = image, weights;
    for (const Tensor& before : earlier) {
      const Tensor weight = exp(square(before - smooth) * -25.0f);
      total = total + before * weight;
      weights = &before == &earlier.front() ? weight + 1.0f : weights + weight;
    }
    earlier.pop_back();
    earlier.push_front(image);
    return total / weights;
  };
}

template <Tensor (*function)(const Tensor&)>
Filter plain(Context&, Size) {
  return [](const Tensor& image, int) { return function(image); };
}

}  // namespace

const std::vector<FilterEntry>& filters() {
  static const std::vector<FilterEntry> all{
      {"none", "the source itself", plain<none>},
      {"grayscale", "as bright as the eye sees it", plain<grayscale>},
      {"sepia", "a colour matrix", plain<sepia>},
      {"blur", "a gaussian", plain<blur>},
      {"sharpen", "more of what a blur takes away", plain<sharpen>},
      {"sobel", "edges", plain<sobel_edges>},
      {"emboss", "as if lit from the upper left", plain<emboss>},
      {"pixelate", "blocks", plain<pixelate>},
      {"cartoon", "a bilateral filter, few shades and ink", plain<cartoon>},
      {"vignette", "darker towards the corners", vignette},
      {"background", "blurred around people, by a network's mask", make_background},
      {"denoise", "a mean over time", denoise, denoise_looks_back},
      {"network", "a small convolutional network: ink and watercolour", make_network},
      {"upscale", "twice as large, by a network", make_upscale, 0, 2},
      {"grain", "noise, for denoise", grain},
  };
  return all;
}

namespace {

const FilterEntry& entry_of(const std::string& name) {
  std::string names;
  for (const FilterEntry& entry : filters()) {
    if (name == entry.name) return entry;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw std::runtime_error("there is no filter '" + name + "'; there are " + names);
}

}  // namespace

std::vector<std::string> parse_filters(const std::string& comma_separated) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= comma_separated.size()) {
    const std::size_t end = std::min(comma_separated.find(',', begin), comma_separated.size());
    names.push_back(entry_of(comma_separated.substr(begin, end - begin)).name);
    begin = end + 1;
  }
  return names;
}

std::string to_string(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

std::size_t looks_back(const std::vector<std::string>& names) {
  std::size_t frames = 0;
  for (const std::string& name : names) frames += entry_of(name).looks_back;
  return frames;
}

int enlarges(const std::vector<std::string>& names) {
  int times = 1;
  for (const std::string& name : names) times *= entry_of(name).enlarges;
  return times;
}

Size size_before(const std::vector<std::string>& names, Size shown) {
  const int times = enlarges(names);
  return {std::max(shown.width / times, 1), std::max(shown.height / times, 1)};
}

Chain::Chain(Context& gpu, Size size, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const FilterEntry& entry = entry_of(name);
    links_.push_back({entry.make(gpu, size), entry.looks_back > 0});
    size = {size.width * entry.enlarges, size.height * entry.enlarges};
  }
}

Tensor Chain::operator()(Tensor image, int frame, std::vector<Tensor>& kept) const {
  for (const Link& link : links_) {
    if (link.looks_back) kept.push_back(image);
    image = link.filter(image, frame);
  }
  return image;
}

}  // namespace video

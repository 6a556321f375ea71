// The filters: each is a few lines of tensor code that make an image of an image, [height,width,3] of 0 to 1.
//
//   Chain chain(gpu, {1280, 720}, {"grain", "denoise"});
//   tessera::Tensor shown = chain(image, frame_number, kept);
//
// A chain belongs to one context and one size of images, which some filters enlarge, and remembers as many earlier
// images as its filters look back upon.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "support/window.h"
#include <tessera/tessera.h>

namespace video {

using sample::Size;

using Filter = std::function<tessera::Tensor(const tessera::Tensor& image, int frame)>;

struct FilterEntry {
  const char* name;
  const char* what_it_does;
  Filter (*make)(tessera::Context&, Size);
  std::size_t looks_back = 0;  // on how many earlier images
  int enlarges = 1;            // each side, so many times
};
const std::vector<FilterEntry>& filters();

inline tessera::Tensor mix(const tessera::Tensor& from, const tessera::Tensor& to, const tessera::Tensor& share) {
  return from + (to - from) * share;
}

// "blur,sobel" as a list. Throws std::runtime_error for a name that there is not.
std::vector<std::string> parse_filters(const std::string& comma_separated);
std::string to_string(const std::vector<std::string>& filters);

class Chain {
 public:
  Chain(tessera::Context&, Size, const std::vector<std::string>& names);

  // Nothing runs yet. Adds to `kept` what the next calls need: it is to be computed together with the result, or it
  // would be computed again each time.
  tessera::Tensor operator()(tessera::Tensor image, int frame, std::vector<tessera::Tensor>& kept) const;

 private:
  struct Link {
    Filter filter;
    bool looks_back;
  };
  std::vector<Link> links_;
};
std::size_t looks_back(const std::vector<std::string>& names);  // of a chain of them
int enlarges(const std::vector<std::string>& names);            // likewise
// Of an image that becomes as large as `shown`, or nearly.
Size size_before(const std::vector<std::string>& names, Size shown);

// network.cpp: a small convolutional network, with its weights in network.safetensors.
Filter make_network(tessera::Context&, Size);

// models.cpp: networks of others, which the build fetches. Where one is not there, it says so on stderr and does
// without.
Filter make_background(tessera::Context&, Size);
Filter make_upscale(tessera::Context&, Size);

// How far each pixel is from the middle, squared: 1 at the nearer edges, [height,width,1].
tessera::Tensor squared_radius(tessera::Context&, Size);
// As strong a blur costs a few times less on a quarter of the size.
tessera::Tensor strong_blur(const tessera::Tensor& image);

}  // namespace video

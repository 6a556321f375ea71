// The page comes without networks of others: these filters are not offered.
#include <stdexcept>

#include "filters.h"

namespace video {

Filter make_background(tessera::Context&, Size) { throw std::runtime_error("background: this page has no network"); }
Filter make_upscale(tessera::Context&, Size) { throw std::runtime_error("upscale: this page has no network"); }

}  // namespace video

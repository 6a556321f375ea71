// How an image grows at its edges before a window slides over it, the way TensorFlow names it.
#pragma once
#include <cstdint>

namespace tessera {

enum class Padding : std::uint8_t {
  valid,  // not at all: windows lie inside the image, and what is left over at the end is not used
  same,  // as much as it takes for ceil(size / stride) windows; where that is odd, the end gets one more than the start
};

}  // namespace tessera

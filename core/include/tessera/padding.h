// The growth of an image at its edges before a window slides over it, as TensorFlow names it.
#pragma once
#include <cstdint>

namespace tessera {

enum class Padding : std::uint8_t {
  valid,  // none: windows lie inside the image, and pixels left over at the end are not used
  same,  // as much as it takes for ceil(size / stride) windows; where that is odd, the end gets one more than the start
};

}  // namespace tessera

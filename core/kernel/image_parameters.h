// The parameters of kernels that find the pixels of a result in an image.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

struct Extent {
  Unsigned width, height;
  TESSERA_PARAMETERS(width, height);
};

// Those that all of them begin with.
struct ImageParameters {
  Unsigned channels;
  Extent result, image;
  Unsigned reads_texels;  // 1: four channels of a pixel are read as a texel
  TESSERA_PARAMETERS(channels, result, image, reads_texels);
};

// Along an axis, pixel i of the result lies at (i * step + start) / divisor, counted from two pixels before the image,
// so that no tap lies below zero.
struct Places {
  Unsigned step, start, divisor;
  TESSERA_PARAMETERS(step, start, divisor);
};

struct ResizeParameters {
  Unsigned channels;
  Extent result, image;
  Unsigned reads_texels;
  Places y, x;
  float cubic_coefficient;
  Unsigned taps;  // along an axis
  TESSERA_PARAMETERS(channels, result, image, reads_texels, y, x, cubic_coefficient, taps);
};

}  // namespace tessera

// The parameters and options of the kernels in the shader files resize.*, warp.*, filter.* and histogram.*.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

struct Extent {
  Unsigned width, height;
  TESSERA_PARAMETERS(width, height);
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
  Places y, x;
  float cubic_coefficient;
  Unsigned taps;  // along an axis
  TESSERA_PARAMETERS(channels, result, image, y, x, cubic_coefficient, taps);
};
struct ResizeOptions {
  Signed reads_texels;  // 1: four channels of a pixel are read as a texel
  TESSERA_PARAMETERS(reads_texels);
};

struct WarpParameters {
  Unsigned channels;
  Extent result, image;
  Unsigned reads_texels;  // 1: four channels of a pixel are read as a texel
  Unsigned taps;          // along an axis: 1 for nearest, 2 for bilinear
  TESSERA_PARAMETERS(channels, result, image, reads_texels, taps);
};
struct AffineParameters {
  WarpParameters warp;
  std::array<float, 3> x, y;  // make the place in the image of x, y and 1 of the result
  std::array<float, 4> fill;  // of the channels
  TESSERA_PARAMETERS(warp, x, y, fill);
};
struct CropParameters {
  WarpParameters warp;
  float extrapolation;
  Unsigned images;  // of the batch
  TESSERA_PARAMETERS(warp, extrapolation, images);
};

// Along one axis.
struct FilterParameters {
  Unsigned size, stride;       // of the axis: how many pixels, and from one to the next
  Unsigned reads_texels;       // 1: four neighbours are read as a texel
  Unsigned taps;               // how many
  std::vector<float> weights;  // of the taps, unless they are the second operand
  TESSERA_PARAMETERS(size, stride, reads_texels, taps, weights);
};
struct FilterOptions {
  Signed border;  // a FilterBorder
  Signed taps;    // how many, where their weights are numbers: compilers unroll the loop over them
  Signed zeros;   // bit i: tap i counts for nothing; of the first 31
  TESSERA_PARAMETERS(border, taps, zeros);
};
enum class FilterBorder : std::int32_t {
  zero,
  edge,
  reflect,
  near_reflect
};  // the last one where no tap goes twice around

struct HistogramParameters {
  Unsigned channels;
  Unsigned pixels;       // of an image
  Unsigned parts;        // of an image
  Unsigned part_pixels;  // of a part
  Unsigned padded_bins;  // of the result: a multiple of four
  Signed bins;           // that are asked for
  float low, high;       // the range
  float scale;           // bins for a unit of the value
  TESSERA_PARAMETERS(channels, pixels, parts, part_pixels, padded_bins, bins, low, high, scale);
};

}  // namespace tessera

// The parameters and options of the kernels in the shader files pool.*, conv.*, whose windows window.* finds, and
// winograd.*.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

// One spatial axis: element `tap` of window `at` is element at * stride + tap * dilation - before of the image.
struct WindowAxis {
  Signed image, result;  // sizes
  Signed taps, stride, dilation, before;
  TESSERA_PARAMETERS(image, result, taps, stride, dilation, before);

  std::int64_t reach() const { return (taps - 1) * dilation + 1; }
};

using WindowAxes = std::array<WindowAxis, 3>;  // the innermost first; those that an image lacks have one element

struct PoolingParameters {
  Unsigned result_channels;  // as many as the image has
  WindowAxes axes;
  float of_nothing;  // the maximum of a window with nothing but padding
  Unsigned divisor;  // of averages; 0: the number of elements inside the image
  TESSERA_PARAMETERS(result_channels, axes, of_nothing, divisor);
};
struct PoolingOptions {
  Signed axes;          // the number of spatial axes
  Signed reads_texels;  // 1: four channels of a pixel are read as a texel
  Signed of_floats;
  TESSERA_PARAMETERS(axes, reads_texels, of_floats);
};

struct ConvParameters {
  Unsigned result_channels, image_channels;
  WindowAxes axes;
  Unsigned result_in_group, image_in_group;  // numbers of channels
  Unsigned filter_channels;                  // result_channels, or fewer where these are padded
  TESSERA_PARAMETERS(result_channels, image_channels, axes, result_in_group, image_in_group, filter_channels);
};
struct ConvOptions {
  Signed axes;  // the number of spatial axes
  Signed is_transposed;
  Signed reading;  // a Reading of core/ops/conv.cpp
  TESSERA_PARAMETERS(axes, is_transposed, reading);
};

// In octets: see OctetTiles of core/ops/octets.h.
struct ConvOctetParameters {
  Unsigned result_channels, image_channels;
  WindowAxes axes;
  Unsigned result_in_group, image_in_group, filter_channels;
  Unsigned lanes, row_stripes, column_stripes, tiles;
  TESSERA_PARAMETERS(result_channels, image_channels, axes, result_in_group, image_in_group, filter_channels, lanes,
                     row_stripes, column_stripes, tiles);
};
struct ConvOctetOptions {
  Signed axes, is_transposed, reading;
  Signed octets;  // of pixels that an invocation makes: 1 or 2
  TESSERA_PARAMETERS(axes, is_transposed, reading, octets);
};

// conv_dot4.wgsl, in octets.
struct ConvDot4Options {
  Signed axes, is_transposed, reading, octets;
  Signed unsigned_a, unsigned_b;  // whether the image, or the filter, is u8 rather than i8
  TESSERA_PARAMETERS(axes, is_transposed, reading, octets, unsigned_a, unsigned_b);
};

// winograd.wgsl: convolutions of three by three taps, in tiles of two by two pixels of the result.
struct WinogradAxis {
  Signed image, result;  // sizes
  Signed before;         // pixels of padding
  Unsigned tiles;
  TESSERA_PARAMETERS(image, result, before, tiles);
};
struct WinogradParameters {
  Unsigned image_channels, result_channels;
  Unsigned tiles;                    // of all images
  std::array<WinogradAxis, 2> axes;  // the innermost first
  TESSERA_PARAMETERS(image_channels, result_channels, tiles, axes);
};
struct WinogradOptions {
  Signed whole_texels;  // 1: pixels of the image, rows of the filter or pixels of the result consist of whole texels
  TESSERA_PARAMETERS(whole_texels);
};

}  // namespace tessera

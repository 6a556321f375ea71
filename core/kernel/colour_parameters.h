// The parameters of the kernels in the shader files colour.*. Among them are the lengths of loops that take drivers
// long where they unroll them.
#pragma once
#include "core/kernel/image_parameters.h"

namespace tessera {

struct ColourMatrixParameters {
  Unsigned channels;           // of the image
  Unsigned rows, columns;      // of the matrix
  Unsigned reads_texels;       // 1: a pixel is a texel before and after
  std::vector<float> numbers;  // of the matrix, unless it is the second operand
  TESSERA_PARAMETERS(channels, rows, columns, reads_texels, numbers);
};

struct ColourLookupParameters {
  Unsigned channels;
  Unsigned entries;     // of the table, along an axis
  float channel_scale;  // makes 0 to 1 of a channel
  float entry_scale;    // makes the image's units of an entry
  Unsigned corners;     // of a cell of the table
  TESSERA_PARAMETERS(channels, entries, channel_scale, entry_scale, corners);
};

// The operands are y, u and v, the latter two being the same plane where u and v alternate.
struct YuvToRgbParameters {
  Extent luma, chroma;
  Unsigned chroma_stride, v_start;  // in elements
  std::array<float, 12> numbers;    // [3,4]: makes R, G and B of y, u, v and 1
  TESSERA_PARAMETERS(luma, chroma, chroma_stride, v_start, numbers);
};

struct RgbToChromaParameters {
  Unsigned channels;
  Extent image, chroma;
  Unsigned chroma_channels;
  std::array<float, 8> numbers;  // [2,4]: makes u and v of R, G, B and 1
  Unsigned colours;              // channels of the image that count
  TESSERA_PARAMETERS(channels, image, chroma, chroma_channels, numbers, colours);
};

}  // namespace tessera

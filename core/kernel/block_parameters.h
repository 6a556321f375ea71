// The parameters and options of the kernel in shaders_wgsl/blocks.wgsl, which brings results that lie in blocks into
// their order. core/run/block_plan.h plans blocks.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

// A result of lines of rows of columns. The blocks are a few rows high and a texel wide: each layer of a texture has
// one of the rows. Those beside each other come first, then the ones below them in the same line, and then the next
// line; the texture has 1 << width_bits of them in a row.
struct BlockParameters {
  Unsigned columns, rows;  // rows in a line
  Unsigned below;          // blocks below each other in a line
  Unsigned width_bits;
  Unsigned first;  // of all blocks, the first one that is in the texture
  TESSERA_PARAMETERS(columns, rows, below, width_bits, first);
};

struct BlockOptions {
  Signed height;        // of a block, in rows
  Signed whole_texels;  // 1: columns are a multiple of four
  Signed is_one_line;
  TESSERA_PARAMETERS(height, whole_texels, is_one_line);
};

}  // namespace tessera

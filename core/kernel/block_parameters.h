// The parameters and options of the kernel in shaders_wgsl/blocks.wgsl, which brings results that lie in blocks into
// their order. core/run/block_plan.h plans blocks.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

// A result of lines of rows of columns. The blocks are a few rows high and a texel wide: each layer of a texture has
// one of the rows.
struct BlockParameters {
  Unsigned columns, rows;   // rows in a line
  Unsigned step_x, step_y;  // from one block to the one below in the same line
  Unsigned line_y;          // from one line to the next
  // 1 << beside_bits rows of blocks lie beside each other, so far apart.
  Unsigned beside_bits, beside_x;
  TESSERA_PARAMETERS(columns, rows, step_x, step_y, line_y, beside_bits, beside_x);
};

struct BlockOptions {
  Signed height;        // of a block, in rows
  Signed whole_texels;  // 1: columns are a multiple of four
  Signed is_one_line;
  TESSERA_PARAMETERS(height, whole_texels, is_one_line);
};

}  // namespace tessera

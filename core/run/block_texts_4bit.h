// The pixel kernel of a product in blocks (core/run/block_texts.h) with weights of 4 bits: fragments unpack the weights
// that they read, for all rows of their block, so that weights take half a byte each wherever they lie.
#pragma once
#include "core/kernel/matmul_parameters.h"
#include "core/run/block_texts.h"

namespace tessera {

// Scales, or zero points: elements of an input of the kernel, or one number for all groups.
struct BlockGroupNumbers {
  DType dtype;
  int input = none;         // of the kernel
  std::int64_t offset = 0;  // of the input's first element
  static constexpr int none = -1;
};

struct BlockProduct4Bit {
  Matmul4BitParameters parameters;
  std::int64_t weights_offset;  // in input 1; whole texels
  BlockGroupNumbers scales, zero_points;

  std::int64_t terms() const { return 8 * parameters.groups * parameters.octets; }
  std::int64_t block_rows(int height) const { return (parameters.rows + height - 1) / height; }
  BlockGrid blocks(int height) const { return grid_of_sums(block_rows(height) * ((parameters.columns + 3) / 4)); }
};

// Input 0 has the rows of a (layout_of_rows), input 1 the weights as elements. The last words are the numbers that
// stand for scales and for zero points, where there are such.
BlockText product_text(const BlockProduct4Bit&, int height);

}  // namespace tessera

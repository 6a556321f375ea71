// The parameters and options of the kernels in shaders_wgsl/matmul*.wgsl, which walk along the axes of two operands, a
// and b, together.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

struct MatmulAxis {
  Unsigned size;
  std::array<Unsigned, 2> distances;  // from one element to the next, in a and in b
  TESSERA_PARAMETERS(size, distances);
};

struct MatmulPullParameters {
  Unsigned count;                // of the products that are summed
  std::vector<MatmulAxis> axes;  // those of the result, then those that are summed over; innermost first
  TESSERA_PARAMETERS(count, axes);
};

// For a batch of matrices, of which each invocation makes a block of texels.
struct MatmulBlockParameters {
  Unsigned count;
  Unsigned stride;              // from one texel of an invocation to its next: whole rows
  Unsigned blocks, all_blocks;  // of each matrix, and of all
  std::vector<MatmulAxis> axes;
  TESSERA_PARAMETERS(count, stride, blocks, all_blocks, axes);
};

// In octets: workgroups make tiles of a matrix, whose rows of tiles are stripes, and whose columns of tiles too.
struct MatmulOctetParameters {
  Unsigned count;
  Unsigned lanes;                        // invocations side by side, a multiple of 8; each has four columns
  Unsigned row_stripes, column_stripes;  // of each matrix
  Unsigned tiles;                        // of all
  std::vector<MatmulAxis> axes;
  TESSERA_PARAMETERS(count, lanes, row_stripes, column_stripes, tiles, axes);
};

// How the four results of a texel read their elements of a.
enum class FromA : std::int32_t { four_elements, two_elements, one_element, texel_along_sum };
enum class FromB : std::int32_t { four_elements, texel_along_result, texels_along_sum };

struct MatmulOptions {
  Signed kept_axes, summed_axes;  // numbers of axes
  Signed from_a, from_b;
  TESSERA_PARAMETERS(kept_axes, summed_axes, from_a, from_b);
};

struct MatmulOctetOptions {
  Signed kept_axes, summed_axes, from_a, from_b;
  Signed octets;  // of rows that an invocation makes: 1 or 2
  TESSERA_PARAMETERS(kept_axes, summed_axes, from_a, from_b, octets);
};

// matmul_dot4.wgsl, in octets.
struct MatmulDot4Options {
  Signed kept_axes, summed_axes, from_a, from_b, octets;
  Signed unsigned_a, unsigned_b;  // whether an operand is u8 rather than i8
  TESSERA_PARAMETERS(kept_axes, summed_axes, from_a, from_b, octets, unsigned_a, unsigned_b);
};

// matmul_split.wgsl: the words are those of matmul_pull or matmul_block.
struct MatmulSplitOptions {
  Signed kept_axes, summed_axes, from_a, from_b;
  Signed shares;  // of each sum: 4 at least, and a divisor of the workgroup's size
  TESSERA_PARAMETERS(kept_axes, summed_axes, from_a, from_b, shares);
};

// matmul_tile.wgsl: workgroups make tiles of a matrix.
struct MatmulTileParameters {
  Unsigned count;
  Unsigned row_tiles, column_tiles;  // of each matrix
  Unsigned tiles;                    // of all
  std::vector<MatmulAxis> axes;
  TESSERA_PARAMETERS(count, row_tiles, column_tiles, tiles, axes);
};

// matmul_4bit.wgsl: rows of a, and weights [columns, groups * octets * 8] of 4 bits.
struct Matmul4BitParameters {
  Unsigned rows, columns;
  Unsigned groups;  // of weights with one scale, of each column
  Unsigned octets;  // of weights in a group; four bytes, or a texel, each
  TESSERA_PARAMETERS(rows, columns, groups, octets);
};
struct Matmul4BitOptions {
  Signed in_one_row;  // whether the four results of a texel are
  TESSERA_PARAMETERS(in_one_row);
};

// The same in octets of rows.
struct Matmul4BitOctetParameters {
  Unsigned rows, columns, groups;
  Unsigned octets_of_group;
  Unsigned lanes, row_stripes, column_stripes, tiles;  // as in MatmulOctetParameters
  TESSERA_PARAMETERS(rows, columns, groups, octets_of_group, lanes, row_stripes, column_stripes, tiles);
};
struct Matmul4BitOctetOptions {
  Signed octets;  // of rows that an invocation makes: 1 or 2
  TESSERA_PARAMETERS(octets);
};

}  // namespace tessera

// The parameters and options of kernels that move elements: those in gather.wgsl, scatter.wgsl and
// concat.wgsl of shaders_wgsl.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

// Element i is offset + the sum of ((i / block) % size) * stride.
struct IndexTerm {
  Unsigned block, size;
  Signed stride;
  TESSERA_PARAMETERS(block, size, stride);
};
struct IndexMapParameters {
  Signed offset;
  std::vector<IndexTerm> terms;
  TESSERA_PARAMETERS(offset, terms);
};
struct IndexMapOptions {
  Signed terms;  // the number of terms
  TESSERA_PARAMETERS(terms);
};

struct GatherAxisParameters {
  Unsigned trailing;  // the elements of a slice
  Unsigned count;     // of indices
  Unsigned size;      // of the axis that they index
  TESSERA_PARAMETERS(trailing, count, size);
};

// An axis that is indexed.
struct IndexedAxis {
  Unsigned size, stride;
  TESSERA_PARAMETERS(size, stride);
};
struct IndexedAxesOptions {
  Signed axes;  // the number of axes
  TESSERA_PARAMETERS(axes);
};
struct GatherNdParameters {
  Unsigned trailing;  // the elements of a slice
  std::vector<IndexedAxis> axes;
  TESSERA_PARAMETERS(trailing, axes);
};
struct ScatterRowsParameters {
  std::vector<IndexedAxis> axes;
  TESSERA_PARAMETERS(axes);
};

struct ScatterParameters {
  Unsigned updates;   // the number of updates
  Unsigned trailing;  // the elements of each
  TESSERA_PARAMETERS(updates, trailing);
};
struct ScatterStartsParameters {
  Unsigned updates;       // the number of updates
  Unsigned search_steps;  // of a binary search
  TESSERA_PARAMETERS(updates, search_steps);
};
struct ScatterRunParameters {
  Unsigned rows;      // of the result
  Unsigned trailing;  // the elements of each
  TESSERA_PARAMETERS(rows, trailing);
};

struct PaddedAxis {
  Unsigned block, size;        // in the result: from one element to the next, and the number of elements
  Signed before;               // the number of elements before x
  Signed source_size, stride;  // the same in x
  TESSERA_PARAMETERS(block, size, before, source_size, stride);
};
struct PadParameters {
  Unsigned value;                // around x, as bits of x's type
  std::vector<PaddedAxis> axes;  // innermost first
  TESSERA_PARAMETERS(value, axes);
};
struct PadOptions {
  Signed mode;          // a PadMode
  Signed axes;          // the number of axes
  Signed reads_texels;  // 1: each texel is one of x, or outside
  TESSERA_PARAMETERS(mode, axes, reads_texels);
};

// The result is made of rows, each of them a piece of each operand in turn.
struct ConcatPiece {
  Signed start, size;  // in a row
  TESSERA_PARAMETERS(start, size);
};
struct ConcatParameters {
  Unsigned row_size;
  std::vector<ConcatPiece> pieces;
  TESSERA_PARAMETERS(row_size, pieces);
};
struct ConcatOptions {
  Signed reads_texels;  // 1: no texel lies in two pieces, so that operands are read by the texel
  TESSERA_PARAMETERS(reads_texels);
};

}  // namespace tessera

// The parameters and options of the kernels in shaders_wgsl/sort.wgsl. Rows of `count` elements are padded to `stride`,
// which is whole texels, and cut into blocks of `length` elements, of which the first `kept` ones in order are kept.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

struct SortKeysParameters {
  Unsigned count, stride;
  Unsigned inner;      // from one element of a row to its next
  Signed turned_bits;  // of each key: none, or all for descending order
  TESSERA_PARAMETERS(count, stride, inner, turned_bits);
};
struct SortKeysOptions {
  Signed is_float;
  TESSERA_PARAMETERS(is_float);
};

struct SortRanksParameters {
  Unsigned stride, length;
  TESSERA_PARAMETERS(stride, length);
};

struct SortBlocksParameters {
  Unsigned stride, length;
  Unsigned blocks, kept;  // blocks of a row, pairs of a block
  TESSERA_PARAMETERS(stride, length, blocks, kept);
};

struct SortMergeParameters {
  Unsigned stride, length;
  Unsigned blocks, kept;              // before
  Unsigned blocks_after, kept_after;  // of twice the length
  Unsigned run;                       // pairs that follow one another in a block, of which the first is searched for
  Unsigned runs, all_runs;            // of each block after, and of all
  TESSERA_PARAMETERS(stride, length, blocks, kept, blocks_after, kept_after, run, runs, all_runs);
};

struct SortTakeParameters {
  Unsigned count, wanted, inner, kept;
  TESSERA_PARAMETERS(count, wanted, inner, kept);
};

}  // namespace tessera

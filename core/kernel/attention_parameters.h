// The parameters and options of the kernels in shaders_wgsl/attention.wgsl. A matrix of keys serves `rows` rows of
// queries, those of all heads that share it, one head after the other; rows of queries, keys and values are whole
// texels.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

struct AttentionAxis {
  Unsigned size, distance;  // of the mask, from one element to the next
  TESSERA_PARAMETERS(size, distance);
};

struct AttentionParameters {
  Unsigned rows;          // for each matrix of keys
  Unsigned queries;       // of a head
  Unsigned keys;          // of a matrix
  Unsigned depth, width;  // texels of a query or key, and of a value
  Unsigned past;          // see Attention
  float scale;
  // In octets, which make tiles of eight rows: the stripes of them that a matrix's rows are, and the values' columns;
  // and the tiles of all.
  Unsigned stripes, column_stripes, tiles;
  std::vector<AttentionAxis> mask;  // along the keys, the queries, and the axes before those, innermost first
  TESSERA_PARAMETERS(rows, queries, keys, depth, width, past, scale, stripes, column_stripes, tiles, mask);
};

enum class MaskKind : std::int32_t { none, added, sees };

struct AttentionOptions {
  Signed mask_kind;  // a MaskKind
  Signed mask_axes;
  Signed is_causal;
  Signed columns;      // texels of values that each member of an octet sums up: 1, 2 or 4
  Signed whole_quads;  // whether the keys are a multiple of four
  TESSERA_PARAMETERS(mask_kind, mask_axes, is_causal, columns, whole_quads);
};

}  // namespace tessera

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
  // Of the cooperative kernel: invocations side by side, of which each has four rows and a texel of values; the tiles
  // of a matrix's rows, and those of all.
  Unsigned lanes, stripes, tiles;
  std::vector<AttentionAxis> mask;  // along the keys, the queries, and the axes before those, innermost first
  TESSERA_PARAMETERS(rows, queries, keys, depth, width, past, scale, lanes, stripes, tiles, mask);
};

enum class MaskKind : std::int32_t { none, added, sees };

struct AttentionOptions {
  Signed mask_kind;  // a MaskKind
  Signed mask_axes;
  Signed is_causal;
  TESSERA_PARAMETERS(mask_kind, mask_axes, is_causal);
};

}  // namespace tessera

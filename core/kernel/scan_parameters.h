// The parameters and options of the kernels in shaders_wgsl/scan.wgsl. x is [outer, count, inner], scanned along its
// second axis; positions count in the direction of the scan and are cut into blocks.
#pragma once
#include "core/kernel/parameters.h"

namespace tessera {

// The four elements of a texel lie anywhere, side by side along the axis, or side by side across it.
enum class TexelLie : std::int32_t { anywhere, along, across };

struct ScanParameters {
  Unsigned count, inner;
  Unsigned block_length;
  Unsigned is_exclusive, is_reverse;
  Signed texel_lie;  // a TexelLie
  Unsigned blocks;
  TESSERA_PARAMETERS(count, inner, block_length, is_exclusive, is_reverse, texel_lie, blocks);
};
struct ScanOptions {
  Signed is_product;
  TESSERA_PARAMETERS(is_product);
};

}  // namespace tessera

// The shapes in which kernels in octets make matrices: see shaders_wgsl/octet.wgsl.
#pragma once
#include <cstdint>

namespace tessera {

// Workgroups make tiles of a matrix, whose rows of tiles are stripes, and whose columns of tiles too.
struct OctetTiles {
  std::int64_t octets;                       // of rows that an invocation makes: 1 or 2
  std::int64_t lanes;                        // invocations side by side, each with four columns
  std::int64_t row_stripes, column_stripes;  // of each matrix
  std::int64_t tiles;                        // of all matrices
};

// Matrices narrower than this leave most of an octet idle.
constexpr std::int64_t least_columns_in_octets = 16;

// From as many products of two elements on, results whose lines do not end with a texel are worth a copy from padded
// ones.
constexpr std::int64_t least_products_to_pad = 1 << 17;

OctetTiles octet_tiles(std::int64_t rows, std::int64_t columns, std::int64_t matrices);
// The same where so many cores run a workgroup each.
OctetTiles octet_tiles_for_cores(std::int64_t cores, std::int64_t rows, std::int64_t columns, std::int64_t matrices);
// The same with so many octets of rows an invocation.
OctetTiles octet_tiles(std::int64_t octets, std::int64_t rows, std::int64_t columns, std::int64_t matrices);

}  // namespace tessera

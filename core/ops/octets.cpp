#include "core/ops/octets.h"

namespace tessera {
namespace {

constexpr std::int64_t octet_workgroup = 64;  // as in the shaders

std::int64_t steps_to(std::int64_t end, std::int64_t step) { return (end + step - 1) / step; }

}  // namespace

// The shape of which the fewest tiles do: 256 columns by 8 or 16 rows, half as many columns by twice as many rows, and
// so on.
OctetTiles octet_tiles(std::int64_t octets, std::int64_t rows, std::int64_t columns, std::int64_t matrices) {
  OctetTiles fewest{};
  for (std::int64_t lanes = octet_workgroup; lanes >= 8; lanes /= 2) {
    const std::int64_t row_stripes = steps_to(rows, 8 * octets * (octet_workgroup / lanes)),
                       column_stripes = steps_to(columns, 4 * lanes);
    const OctetTiles tiles{octets, lanes, row_stripes, column_stripes, row_stripes * column_stripes * matrices};
    if (fewest.tiles == 0 || tiles.tiles < fewest.tiles) fewest = tiles;
  }
  return fewest;
}

// Of the work on a high tile, a low one has three fifths: it reads as much of the second matrix.
constexpr std::int64_t work_on_high = 5, work_on_low = 3;

OctetTiles octet_tiles(std::int64_t rows, std::int64_t columns, std::int64_t matrices) {
  const OctetTiles high = octet_tiles(2, rows, columns, matrices), low = octet_tiles(1, rows, columns, matrices);
  constexpr std::int64_t enough_tiles = 32;  // to share the work out
  return high.tiles < enough_tiles || work_on_low * low.tiles < work_on_high * high.tiles ? low : high;
}

OctetTiles octet_tiles_for_cores(std::int64_t cores, std::int64_t rows, std::int64_t columns, std::int64_t matrices) {
  const OctetTiles high = octet_tiles(2, rows, columns, matrices), low = octet_tiles(1, rows, columns, matrices);
  return work_on_low * steps_to(low.tiles, cores) < work_on_high * steps_to(high.tiles, cores) ? low : high;
}

}  // namespace tessera

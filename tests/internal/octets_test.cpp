// The shapes in which kernels in octets make matrices.
#include <gtest/gtest.h>

#include "core/ops/octets.h"

namespace tessera::octets_test {
namespace {

TEST(OctetTiles, FewCoresTakeHighTilesThatAreFewer) {
  EXPECT_EQ(octet_tiles(256, 256, 1).octets, 1);  // 32 low tiles rather than 16 high ones, for a device of many cores
  EXPECT_EQ(octet_tiles_for_cores(2, 256, 256, 1).octets, 2);
  EXPECT_EQ(octet_tiles_for_cores(2, 256, 256, 1).tiles, 16);
  EXPECT_EQ(octet_tiles_for_cores(16, 256, 256, 1).octets, 2);
}

TEST(OctetTiles, ManyCoresShareLowTilesOut) {
  EXPECT_EQ(octet_tiles_for_cores(32, 256, 256, 1).octets, 1);
  EXPECT_EQ(octet_tiles_for_cores(64, 512, 256, 1).octets, 1);
}

TEST(OctetTiles, OneTileIsAsHighAsItsRows) {
  EXPECT_EQ(octet_tiles_for_cores(1, 8, 256, 1).octets, 1);
  EXPECT_EQ(octet_tiles_for_cores(1, 16, 256, 1).octets, 2);
  EXPECT_EQ(octet_tiles_for_cores(2, 16, 256, 1).octets, 1);  // a low tile for each core
}

}  // namespace
}  // namespace tessera::octets_test

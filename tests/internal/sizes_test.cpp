// How backends count and narrow sizes.
#include "core/base/sizes.h"

#include "support/devices.h"

namespace tessera::test {
namespace {

TEST(Sizes, AreNarrowedOnlyWhereTheyFit) {
  EXPECT_EQ(narrow<std::uint32_t>(std::int64_t{4294967295}), 4294967295u);
  EXPECT_EQ(narrow<std::int32_t>(std::uint64_t{2147483647}), 2147483647);
  EXPECT_TESSERA_ERROR(narrow<std::uint32_t>(std::int64_t{4294967296}), unsupported, "4294967296");
  EXPECT_TESSERA_ERROR(narrow<std::int32_t>(std::uint64_t{2147483648}), unsupported, "2147483648");
  EXPECT_TESSERA_ERROR(narrow<std::size_t>(-1), unsupported, "-1");
}

TEST(Sizes, AreCountedInWholeSteps) {
  EXPECT_EQ(steps_to(std::uint64_t{0}, 4), 0u);
  EXPECT_EQ(steps_to(std::uint64_t{8}, 4), 2u);
  EXPECT_EQ(steps_to(std::uint64_t{9}, 4), 3u);
  EXPECT_EQ(round_up(std::uint64_t{9}, 4), 12u);
  EXPECT_EQ(texel_count(0), 0);
  EXPECT_EQ(texel_count(Shape::max_size), std::int64_t{536870912});
  EXPECT_EQ(byte_count(Shape::max_size, DType::f32), 8589934588u);
}

}  // namespace
}  // namespace tessera::test

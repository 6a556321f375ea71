// How backends count and narrow sizes.
#include "core/base/sizes.h"

#include "core/base/spare_memory.h"
#include "support/devices.h"

namespace tessera::test::sizes_test {
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

TEST(SpareMemory, IsTakenForCopiesOfItsSize) {
  SpareMemory spare;
  const std::vector<std::byte> elements(SpareMemory::smallest, std::byte{7});
  std::vector<std::byte> copy = spare.copy_of(elements);
  EXPECT_EQ(copy, elements);
  const std::byte* place = copy.data();
  spare.give_back(copy);
  EXPECT_TRUE(copy.empty());
  EXPECT_EQ(spare.bytes(), SpareMemory::smallest);
  spare.copy_of(std::span(elements).first(elements.size() / 2 - 1));
  EXPECT_EQ(spare.bytes(), SpareMemory::smallest) << "it has more than twice the size";
  std::vector<std::byte> again = spare.copy_of(std::span(elements).first(elements.size() / 2));
  EXPECT_EQ(again.data(), place);
  EXPECT_EQ(again, std::vector<std::byte>(elements.size() / 2, std::byte{7}));
  EXPECT_EQ(spare.bytes(), 0u);
}

TEST(SpareMemory, LargeCopiesAreWholeWhereverTheyBeginAndEnd) {
  SpareMemory spare;
  std::vector<std::byte> elements(SpareMemory::beyond_caches + 300);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<std::byte>(i * 7 % 251);
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}, std::size_t{100}})
    for (const std::size_t more : {std::size_t{150}, std::size_t{149}, std::size_t{64}, std::size_t{0}}) {
      const auto from = std::span<const std::byte>(elements).subspan(first, SpareMemory::beyond_caches + more);
      std::vector<std::byte> copy = spare.copy_of(from);
      EXPECT_TRUE(std::ranges::equal(copy, from)) << more << " bytes more, from " << first << " on";
      std::ranges::fill(copy, std::byte{255});  // what the next copy is made over
      spare.give_back(copy);
    }
}

TEST(CopyPastCaches, WritesNothingBesideTheCopy) {
  std::vector<std::byte> from(300);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251 + 1);
  for (std::size_t first = 0; first < 66; ++first)
    for (const std::size_t bytes : {0, 1, 63, 64, 65, 128, 200}) {
      std::vector<std::byte> to(400), expected(400);
      copy_past_caches(std::span<const std::byte>(from).first(bytes), to.data() + first);
      std::copy_n(from.begin(), bytes, expected.begin() + static_cast<std::ptrdiff_t>(first));
      ASSERT_EQ(to, expected) << bytes << " bytes to " << first;
    }
}

TEST(SpareMemory, KeepsTheLastThatFits) {
  SpareMemory spare;
  const auto give = [&](std::size_t bytes) {
    std::vector<std::byte> memory;
    memory.reserve(bytes);
    spare.give_back(memory);
  };
  give(SpareMemory::smallest - 1);
  give(SpareMemory::most_bytes + 1);
  EXPECT_EQ(spare.bytes(), 0u) << "too small, and too large";
  give(SpareMemory::most_bytes / 2);
  give(SpareMemory::most_bytes / 2);
  EXPECT_EQ(spare.bytes(), SpareMemory::most_bytes);
  give(SpareMemory::smallest);
  EXPECT_EQ(spare.bytes(), SpareMemory::most_bytes / 2 + SpareMemory::smallest) << "the first went";
  for (int i = 0; i < 100; ++i) give(SpareMemory::smallest);
  EXPECT_EQ(spare.bytes(), 8 * SpareMemory::smallest);
  spare.trim();
  EXPECT_EQ(spare.bytes(), 0u);
}

}  // namespace
}  // namespace tessera::test::sizes_test

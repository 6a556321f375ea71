// Which compiled kernels a cache keeps.
#include "core/kernel/compiled_cache.h"

#include <gtest/gtest.h>

namespace tessera::compiled_cache_test {
namespace {

class CompiledCacheTest : public ::testing::Test {
 protected:
  // One run that uses these kernels.
  void run(std::vector<int> kernels, KernelUses* uses = nullptr) {
    for (const int kernel : kernels) {
      const int object = cache.get(std::to_string(kernel), uses, [&] { return Compiled<int>{kernel, 10}; });
      EXPECT_EQ(object, kernel);
    }
    cache.end_run();
  }
  std::uint64_t compiled_by(const std::function<void()>& work) {
    const std::uint64_t before = cache.origins().compiled;
    work();
    EXPECT_EQ(cache.count().text_bytes, cache.count().kernels * 10);
    return cache.origins().compiled - before;
  }

  CompiledCache<int> cache;
  static constexpr int limit = 128, recent = 32, greatest = 1024;
};

TEST_F(CompiledCacheTest, KeepsALimitedNumber) {
  for (int i = 0; i < 5000; ++i) run({i});
  EXPECT_EQ(cache.count().kernels, std::uint64_t{limit});
  EXPECT_EQ(compiled_by([&] { run({4999}); }), 0u);
  EXPECT_EQ(compiled_by([&] { run({5000 - limit}); }), 0u);
  EXPECT_EQ(compiled_by([&] { run({10}); }), 1u);
}

TEST_F(CompiledCacheTest, KeepsWhatTheLastRunsUsed) {
  std::vector<int> many(500);
  for (int i = 0; i < 500; ++i) many[static_cast<std::size_t>(i)] = i;
  run(many);
  EXPECT_EQ(cache.count().kernels, 500u);
  for (int i = 1; i < recent; ++i) run({1000});
  EXPECT_EQ(compiled_by([&] { run(many); }), 0u);
  for (int i = 0; i < recent; ++i) run({1000});
  EXPECT_EQ(cache.count().kernels, std::uint64_t{limit});
}

TEST_F(CompiledCacheTest, KeepsWhatAProgramReliesOn) {
  KernelUses program, other;
  run({1, 2, 3}, &program);
  run({3, 4}, &other);
  EXPECT_EQ(program.size(), 3u);
  for (int i = 100; i < 1000; ++i) run({i});
  EXPECT_EQ(compiled_by([&] { run({1, 2, 3, 4}, &program); }), 0u);
  EXPECT_EQ(cache.count().kernels, std::uint64_t{limit} + 4);
  cache.trim();
  EXPECT_EQ(cache.count().kernels, 4u);
  program.clear();
  cache.trim();
  EXPECT_EQ(cache.count().kernels, 2u);  // those of the other one
  other.clear();
  cache.trim();
  EXPECT_EQ(cache.count().kernels, 0u);
}

TEST_F(CompiledCacheTest, GrowsWithinBoundsForWorkThatComesBack) {
  const auto loop = [&](int count) {
    for (int i = 0; i < count; ++i) run({i});
  };
  EXPECT_EQ(compiled_by([&] { loop(600); }), 600u);
  EXPECT_EQ(cache.count().kernels, std::uint64_t{limit});
  compiled_by([&] { loop(600); });
  EXPECT_EQ(compiled_by([&] { loop(600); }), 0u);
  EXPECT_EQ(cache.count().kernels, 600u);
  for (int i = 0; i < 3; ++i) loop(3000);
  EXPECT_EQ(cache.count().kernels, std::uint64_t{greatest});
  cache.trim();
  loop(600);
  EXPECT_EQ(cache.count().kernels, std::uint64_t{limit});
}

TEST_F(CompiledCacheTest, RemembersNothingThatFailed) {
  EXPECT_THROW(
      cache.get(std::string("bad"), nullptr, []() -> Compiled<int> { throw Error(ErrorCode::compile_failed, "no"); }),
      Error);
  EXPECT_EQ(cache.count().kernels, 0u);
  EXPECT_EQ(cache.origins().compiled, 0u);
}

}  // namespace
}  // namespace tessera::compiled_cache_test

// ContextOptions::cache_dir: compiled kernels are kept on disk, and the next start compiles nothing.
#include <gmock/gmock.h>

#include <array>
#include <functional>
#include <mutex>
#include <thread>

#include "support/devices.h"
#include "support/temporary_folder.h"
#include "support/without_roots_rights.h"
#include <tessera/testing.h>

namespace tessera::test::cache_dir_test {
namespace {

namespace fs = std::filesystem;

const CustomKernel& tripling() {
  static const CustomKernel kernel{.name = "tripling",
                                   .inputs = {"a"},
                                   .outputs = {"result"},
                                   .wgsl = R"(
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read_write> result: array<f32>;
@compute @workgroup_size(1)
fn main(@builtin(global_invocation_id) id: vec3u) { result[id.x] = a[id.x] * 3.0; })",
                                   .glsl = "float result_at(int i) { return a_at(i) * 3.0; }"};
  return kernel;
}

using Results = std::vector<std::vector<float>>;

// Kernels of every kind: pointwise, with a core, and of the user's own.
constexpr std::uint64_t kernels = 3;
Results results_on(Context& gpu) {
  const Tensor x = gpu.tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor tripled =
      run_custom(gpu, tripling(),
                 {.inputs = {{"a", x}}, .outputs = {{"result", {.shape = {2, 3}}}}, .workgroup_count = {6, 1, 1}})
          .at("result");
  return {(x * x + 0.5f).read(), matmul(x, x, {.transpose_b = true}).read(), tripled.read()};
}

class CacheDir : public OnDevice {
 protected:
  Context start(const fs::path& folder) {
    return Context::create({.prefer = {GetParam().backend},
                            .driver = GetParam().driver,
                            .on_message =
                                [this](const Message& message) {
                                  const std::scoped_lock hold(lock_);
                                  warnings_.push_back(message.text);
                                },
                            .message_level = Message::Level::warning,
                            .cache_dir = folder});
  }
  Context start() { return start(folder_.path()); }

  void expect_compiled(const Context& gpu, std::uint64_t compiled, std::uint64_t from_cache) {
    EXPECT_EQ(gpu.stats().kernels_compiled, compiled);
    EXPECT_EQ(gpu.stats().kernels_from_cache, from_cache);
  }

  // Starts anew, and expects the results of before.
  void expect_start(std::uint64_t compiled, std::uint64_t from_cache, const Results& before) {
    Context gpu = start();
    EXPECT_EQ(results_on(gpu), before);
    expect_compiled(gpu, compiled, from_cache);
    EXPECT_THAT(warnings_, ::testing::IsEmpty());
  }

  Results first_start() {
    Context gpu = start();
    Results results = results_on(gpu);
    expect_compiled(gpu, kernels, 0);
    return results;
  }

  std::vector<fs::path> files() const { return {fs::directory_iterator(folder_.path()), fs::directory_iterator()}; }

  TemporaryFolder folder_;
  std::mutex lock_;
  std::vector<std::string> warnings_;
};

TEST_P(CacheDir, TheSecondStartCompilesNothing) {
  const Results results = first_start();
  expect_start(0, kernels, results);
  expect_start(0, kernels, results);
}

TEST_P(CacheDir, IsMadeWhereItIsMissing) {
  const fs::path deep = folder_ / "a" / "b";
  {
    Context gpu = start(deep);
    results_on(gpu);
  }
  Context gpu = start(deep);
  results_on(gpu);
  expect_compiled(gpu, 0, kernels);
}

TEST_P(CacheDir, ServesTheDeviceThatReplacesALostOne) {
  Context gpu = start();
  const Results results = results_on(gpu);
  testing::lose_device(gpu);
  warnings_.clear();
  EXPECT_EQ(results_on(gpu), results);
  expect_compiled(gpu, kernels, kernels);
}

TEST_P(CacheDir, ServesABackendThatTheContextComesBackTo) {
  Context gpu = start();
  const Results results = results_on(gpu);
  gpu.switch_backend(BackendKind::cpu);
  gpu.switch_backend(GetParam().backend, GetParam().driver);
  EXPECT_EQ(results_on(gpu), results);
  expect_compiled(gpu, kernels, kernels);
}

// Each kind of damage, by itself, is in internal/disk_cache_test.cpp.
TEST_P(CacheDir, DamagedAndForeignFilesAreIgnoredAndReplaced) {
  const Results results = first_start();
  const auto damages = std::to_array<std::function<std::string(std::string)>>({
      [](std::string bytes) { return bytes.substr(0, bytes.size() / 2); },
      [](std::string bytes) {
        bytes[bytes.size() - 20] ^= 1;
        return bytes;
      },
      [](std::string) { return "of someone else"; },
  });
  for (const auto& damage : damages) {
    for (const fs::path& file : files()) write_bytes(file, damage(bytes_of(file)));
    expect_start(kernels, 0, results);
    expect_start(0, kernels, results);
  }
}

TEST_P(CacheDir, AFolderThatCannotBeWrittenIsToldOfOnce) {
  const Results results = first_start();
  const fs::path file = folder_ / "file";
  write_bytes(file, "in the way");
  for (const fs::path& folder : {file / "folder", fs::path("/proc")}) {
    warnings_.clear();
    Context gpu = start(folder);
    EXPECT_EQ(results_on(gpu), results);
    expect_compiled(gpu, kernels, 0);
    EXPECT_THAT(warnings_, ::testing::ElementsAre(::testing::HasSubstr("cache_dir")));
  }
}

TEST_P(CacheDir, AFolderThatIsReadOnlyIsRead) {
  const Results results = first_start();
  fs::permissions(folder_.path(), fs::perms(0555));
  const WithoutRootsRights someone;
  expect_start(0, kernels, results);
  Context gpu = start();
  EXPECT_EQ((gpu.tensor({2}, {1, 2}) - 7.0f).read(), (std::vector<float>{-6, -5}));  // a kernel that is not there yet
  EXPECT_THAT(warnings_, ::testing::ElementsAre(::testing::HasSubstr("Permission denied")));
}

TEST_P(CacheDir, TwoContextsMayShareIt) {
  Context first = start(), second = start();
  Results of_second;
  std::thread other([&] { of_second = results_on(second); });
  const Results of_first = results_on(first);
  other.join();
  EXPECT_EQ(of_first, of_second);
  expect_start(0, kernels, of_first);
}

TESSERA_ON_GPU_DEVICES(CacheDir);

}  // namespace
}  // namespace tessera::test::cache_dir_test

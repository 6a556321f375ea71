// Programs that are made ready in a host's GL context, on the host's thread and a little at a time; and the kernels of
// such a context on disk.
#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>

#include "support/gles_host.h"
#include "support/temporary_folder.h"

namespace tessera::test::gles_prepare_test {
namespace {

using namespace std::chrono_literals;

constexpr int chains = 8;
constexpr std::uint64_t kernels = chains + 1;

class GlesPrepare : public OnGlesHost {
 protected:
  void SetUp() override {
    OnGlesHost::SetUp();
    if (!IsSkipped()) drop_gpu();  // this one hears all messages
  }
  Context adopt(const std::filesystem::path& cache_dir = {}) {
    return gles::adopt_current(host().loader(), {.on_message =
                                                     [this](const Message& message) {
                                                       EXPECT_LT(message.level, Message::Level::warning)
                                                           << message.text;
                                                       messages_.push_back(message.text);
                                                     },
                                                 .message_level = Message::Level::debug,
                                                 .cache_dir = cache_dir});
  }

  // A kernel for each chain, and one that sums them all.
  static Program record(Context& context) {
    return Program::record(context, {{.shape = {16}}}, [](std::span<const Tensor> in) {
      std::vector<Tensor> results;
      for (int i = 0; i < chains; ++i) {
        Tensor x = in[0] * static_cast<float>(i);
        for (int k = 0; k <= i; ++k) x = sqrt(abs(sin(x))) + 0.5f;
        results.push_back(cumsum(x));
      }
      return results;
    });
  }

  static void expect_ready(Context& context, const Program& program) {
    const Tensor x = context.full({16}, 0.25f).compute();
    context.reset_stats();
    const std::vector<Tensor> results = program.run({x});
    EXPECT_EQ(results.back().read().size(), 16u);
    EXPECT_EQ(context.stats().kernels_compiled, 0u);
    EXPECT_EQ(context.stats().kernels_from_cache, 0u);
  }

  // The milliseconds that each kernel took since this was last asked.
  std::vector<double> compilations() {
    std::vector<double> all;
    for (const std::string& text : std::exchange(messages_, {}))
      if (text.starts_with("compile: ")) all.push_back(std::strtod(text.c_str() + text.rfind(" in ") + 4, nullptr));
    return all;
  }

  std::vector<std::string> messages_;
};

TEST_P(GlesPrepare, KernelsDefinedInTheBackgroundAreCompiledByWhoWaits) {
  Context context = adopt();
  CustomKernel twice{
      .name = "twice", .inputs = {"a"}, .outputs = {"b"}, .glsl = "float b_at(int i) { return 2.0 * a_at(i); }"};
  context.reset_stats();
  const DefinedKernel defined = define_kernel(context, twice, {.in_background = true});
  EXPECT_EQ(context.stats().kernels_compiled, 0u);
  defined.wait();
  defined.wait();
  EXPECT_EQ(context.stats().kernels_compiled, 1u);
  const CustomRun run{.inputs = {{"a", context.tensor({2}, {1, 2})}}, .outputs = {{"b", {{2}}}}};
  EXPECT_EQ(defined.run(run).at("b").read(), (std::vector<float>{2, 4}));
  EXPECT_EQ(context.stats().kernels_compiled, 1u);
  twice.glsl = "float b_at(int i) { return oops; }";
  const DefinedKernel broken = define_kernel(context, twice, {.in_background = true});
  EXPECT_TESSERA_ERROR(broken.wait(), compile_failed, "twice");
}

TEST_P(GlesPrepare, OneKernelACallWhereThereIsNoTime) {
  Context context = adopt();
  const Program program = record(context);
  context.reset_stats();
  const Pending<void> unused = program.prepare();
  EXPECT_EQ(context.stats().kernels_compiled, 0u);
  std::uint64_t calls = 0;
  for (bool is_ready = false; !is_ready; ++calls) {
    ASSERT_LT(calls, 100u);
    const std::uint64_t before = context.stats().kernels_compiled;
    is_ready = context.prepare_some(0us);
    EXPECT_LE(context.stats().kernels_compiled, before + 1);
  }
  EXPECT_EQ(context.stats().kernels_compiled, kernels);
  EXPECT_GE(calls, kernels);
  expect_ready(context, program);
  EXPECT_TRUE(context.prepare_some(0us));
}

TEST_P(GlesPrepare, NoKernelIsBegunWhenTheTimeIsOver) {
  Context context = adopt();
  const Program program = record(context);
  program.prepare();
  compilations();
  for (bool is_ready = false; !is_ready;) {
    is_ready = context.prepare_some(10ms);
    std::vector<double> times = compilations();
    if (times.empty()) continue;
    times.pop_back();
    if (gl().KHR_parallel_shader_compile) continue;  // the driver may compile several at once
    constexpr double rounding_of_the_log = 0.05;
    EXPECT_LE(std::accumulate(times.begin(), times.end(), 0.0),
              10 + rounding_of_the_log * static_cast<double>(times.size()));
  }
  expect_ready(context, program);
}

TEST_P(GlesPrepare, AllAtOnceWhereThereIsTime) {
  Context context = adopt();
  const Program program = record(context), same = record(context);
  program.prepare();
  same.prepare();
  while (!context.prepare_some(1h)) std::this_thread::yield();  // a driver may compile beside us
  expect_ready(context, program);
  expect_ready(context, same);
}

TEST_P(GlesPrepare, ThePendingCompilesWhatIsLeft) {
  Context context = adopt();
  const Program program = record(context);
  Pending<void> ready = program.prepare();
  EXPECT_FALSE(ready.ready());
  context.prepare_some(0us);
  ready.get();
  expect_ready(context, program);
  EXPECT_TRUE(context.prepare_some(0us));
}

TEST_P(GlesPrepare, FramesFromTexturesIntoTextures) {
  Context context = adopt();
  const std::vector<std::uint8_t> pixels(4 * 6 * 4, 51);
  const gles::HostTexture camera{host().texture(GL_RGBA8, 4, 6, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data()), 4, 6},
      screen{host().texture(GL_RGBA8, 4, 6, GL_RGBA, GL_UNSIGNED_BYTE, nullptr), 4, 6};
  const std::vector<float> wide(9, 1.0f / 9);
  const Program program = Program::record(context, {{.shape = {6, 4, 4}}}, [&](std::span<const Tensor> in) {
    return std::vector{separable_filter(in[0], wide, wide, Border::edge)};
  });
  const auto frame = [&] { return program({gles::from_texture(context, camera)})[0]; };
  context.reset_stats();
  const Pending<void> unused = gles::prepare_to_texture(frame(), screen);
  EXPECT_EQ(context.stats().kernels_compiled, 0u);
  while (!context.prepare_some(1us)) {
  }
  EXPECT_EQ(context.stats().kernels_compiled, 2u);
  EXPECT_EQ(context.stats().dispatches, 0u);
  gles::to_texture(frame(), screen);
  EXPECT_EQ(context.stats().kernels_compiled, 2u);
  EXPECT_THAT(gles::from_texture(context, screen).read(), ::testing::Each(::testing::FloatNear(0.2f, 1e-6f)));
}

TEST_P(GlesPrepare, AProgramThatIsGoneIsNotWaitedFor) {
  Context context = adopt();
  {
    const Program program = record(context);
    program.prepare();
    EXPECT_FALSE(context.prepare_some(0us));
  }
  EXPECT_TRUE(context.prepare_some(0us));
}

TEST_P(GlesPrepare, OtherWorkGoesOnInBetween) {
  Context context = adopt();
  const Program program = record(context);
  program.prepare();
  context.prepare_some(0us);
  EXPECT_EQ((context.tensor({2}, {1, 2}) * 3.0f).read(), (std::vector<float>{3, 6}));
  EXPECT_EQ(program.run({context.full({16}, 0.25f)}).size(), std::size_t{chains});  // before it is ready
  while (!context.prepare_some(0us)) {
  }
  expect_ready(context, program);
}

TEST_P(GlesPrepare, ElsewhereItIsRefusedAndGoesOnLater) {
  Context context = adopt();
  const Program program = record(context);
  program.prepare();
  std::thread([&] { EXPECT_TESSERA_ERROR(context.prepare_some(1h), wrong_thread, "not current"); }).join();
  while (!context.prepare_some(1h)) std::this_thread::yield();
  expect_ready(context, program);
}

TEST_P(GlesPrepare, AKernelThatDoesNotCompileIsThePendingsError) {
  Context context = adopt();
  const CustomKernel wrong{.name = "wrong",
                           .inputs = {"a"},
                           .outputs = {"result"},
                           .glsl = "float result_at(int i) { return nothing(a_at(i)); }"};
  const Program program = Program::record(context, {{.shape = {2}}}, [&](std::span<const Tensor> in) {
    return std::vector{
        run_custom(context, wrong, {.inputs = {{"a", in[0]}}, .outputs = {{"result", {.shape = {2}}}}}).at("result")};
  });
  Pending<void> ready = program.prepare();
  EXPECT_TRUE(context.prepare_some(1h));
  EXPECT_TESSERA_ERROR(ready.get(), compile_failed, "nothing");
}

TEST_P(GlesPrepare, OwnContextsOnlyTell) {
  Context own = open(GetParam());
  const Program program = record(own);
  EXPECT_TRUE(own.prepare_some(0us));
  Pending<void> ready = program.prepare();
  ready.get();
  EXPECT_TRUE(own.prepare_some(0us));
  expect_ready(own, program);
}

TEST_P(GlesPrepare, TheSecondStartTakesKernelsFromTheDisk) {
  const TemporaryFolder folder;
  std::vector<float> results[2];
  for (const bool is_second : {false, true}) {
    Context context = adopt(folder.path());
    const Program program = record(context);
    context.reset_stats();
    program.prepare();
    while (!context.prepare_some(1h)) std::this_thread::yield();
    EXPECT_EQ(context.stats().kernels_compiled, is_second ? 0 : kernels);
    EXPECT_EQ(context.stats().kernels_from_cache, is_second ? kernels : 0);
    results[is_second] = program.run({context.full({16}, 0.25f)}).back().read();
    expect_ready(context, program);
  }
  EXPECT_EQ(results[0], results[1]);
}

// As after an update that a driver's version does not tell of: the file is whole, but its format is unknown.
TEST_P(GlesPrepare, BinariesThatTheDriverRefusesAreReplaced) {
  constexpr std::size_t header_bytes = 40, place_of_key_bytes = 16, place_of_checksum = 32;
  const TemporaryFolder folder;
  const auto result = [&](std::uint64_t compiled) {
    Context context = adopt(folder.path());
    const std::vector<float> values = (context.tensor({2}, {1, 2}) * 3.0f).read();
    EXPECT_EQ(context.stats().kernels_compiled, compiled);
    return values;
  };
  const std::vector<float> values = result(1);
  ASSERT_EQ(folder.files(), 1);
  const std::filesystem::path path = std::filesystem::directory_iterator(folder.path())->path();
  std::string file = bytes_of(path);
  std::uint64_t key_bytes = 0, checksum = 0xcbf29ce484222325;
  std::memcpy(&key_bytes, file.data() + place_of_key_bytes, sizeof key_bytes);
  file.replace(header_bytes + key_bytes, 4, "none");
  for (std::size_t i = header_bytes; i < file.size(); ++i)
    checksum = (checksum ^ static_cast<unsigned char>(file[i])) * 0x100000001b3;
  std::memcpy(file.data() + place_of_checksum, &checksum, sizeof checksum);
  write_bytes(path, file);
  EXPECT_EQ(result(1), values);
  EXPECT_EQ(result(0), values);
}

TESSERA_ON_GLES_DEVICES(GlesPrepare);

}  // namespace
}  // namespace tessera::test::gles_prepare_test

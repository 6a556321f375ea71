// Any thread may use any context, and reads need not be waited for.
#include <time.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::threads_test {
namespace {

class Threads : public OnDevice {};

TEST_P(Threads, AsynchronousReads) {
  const Tensor x = context().tensor({1000}, random_values(1000, -1, 1, 3));
  std::vector<Pending<std::vector<float>>> reads;
  for (int i = 0; i < 20; ++i) reads.push_back((x * static_cast<float>(i)).read_async());
  const std::vector<float> values = x.read();
  for (int i = 19; i >= 0; --i) {
    const std::vector<float> got = reads[static_cast<std::size_t>(i)].get();
    ASSERT_EQ(got.size(), values.size());
    for (std::size_t k = 0; k < got.size(); k += 100) EXPECT_FLOAT_EQ(got[k], values[k] * static_cast<float>(i));
  }
}

TEST_P(Threads, AsynchronousReadsFinishByThemselves) {
  Pending<std::vector<float>> read = context().full({10}, 4).read_async();
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!read.ready() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(read.ready());
  EXPECT_EQ(read.get(), std::vector<float>(10, 4));
}

TEST_P(Threads, AsynchronousReadsOutliveTheirContext) {
  Pending<std::vector<float>> read;
  {
    Context context = open(GetParam());
    read = (context.full({100}, 4) + 1.0f).read_async();
  }
  EXPECT_EQ(read.get(), std::vector<float>(100, 5));
}

TEST_P(Threads, CallbacksComeOnceAndMayCall) {
  const Tensor x = context().full({10}, 4).compute();
  std::atomic<int> calls = 0;
  std::vector<float> got;
  x.read_async().then([&](Pending<std::vector<float>> done) {
    got = done.get();
    EXPECT_TRUE(done.is_empty());
    EXPECT_EQ((x + 1.0f).read(), std::vector<float>(10, 5));
    ++calls;
  });
  while (calls == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(got, std::vector<float>(10, 4));

  Pending<std::vector<float>> ready = x.read_async();
  while (!ready.ready()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const std::thread::id here = std::this_thread::get_id();
  ready.then([&](Pending<std::vector<float>>) { calls += std::this_thread::get_id() == here ? 1 : 100; });
  EXPECT_EQ(calls, 2);
  EXPECT_TESSERA_ERROR(ready.get(), invalid_argument, "nothing to wait for");
  { const auto dropped = (x * 2.0f).read_async(); }
  Pending<std::vector<float>> none = context().full({0}, 1).read_async();
  EXPECT_TRUE(none.ready());
  EXPECT_TRUE(none.get().empty());
}

TEST_P(Threads, ErrorsTravelToCallbacks) {
  const bool is_wgsl = context().backend() == BackendKind::webgpu;
  if (context().backend() == BackendKind::cpu) GTEST_SKIP() << "it compiles nothing";
  CustomKernel wrong{.name = "wrong", .inputs = {"a"}, .outputs = {"result"}};
  if (is_wgsl)
    wrong.wgsl =
        "@group(0) @binding(0) var<storage, read> a: array<f32>;"
        "@group(0) @binding(1) var<storage, read_write> result: array<f32>;"
        "@compute @workgroup_size(1) fn main() { result[0] = nothing(a[0]); }";
  else wrong.glsl = "float result_at(int i) { return nothing(a_at(i)); }";
  const Program program = Program::record(context(), {{.shape = {2}}}, [&](std::span<const Tensor> in) {
    return std::vector{
        run_custom(context(), wrong, {.inputs = {{"a", in[0]}}, .outputs = {{"result", {.shape = {2}}}}}).at("result")};
  });
  std::atomic<bool> is_told = false;
  program.prepare().then([&](Pending<void> done) {
    EXPECT_TESSERA_ERROR(done.get(), compile_failed, "nothing");
    is_told = true;
  });
  while (!is_told) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

double seconds_this_thread_worked() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

class Waiting : public OnDevice {};  // not on the cpu, which computes on the thread that asks

TEST_P(Waiting, ReadsSleepUntilTheDeviceIsDone) {
  // One kernel, many times, so that the device works far longer than the thread that copies its result.
  const auto long_work = [&](std::int64_t size, int times) {
    Tensor x = context().full({size}, 1).compute();
    for (int i = 0; i < times; ++i) {
      for (int j = 0; j < 40; ++j) x = sin(x) + 1.0f;
      x.compute();
    }
    return x;
  };
  long_work(4, 1).read();  // compiles
  const Tensor result = long_work(1 << 18, 32);
  const auto start = std::chrono::steady_clock::now();
  const double worked_before = seconds_this_thread_worked();
  result.read();
  const double worked = seconds_this_thread_worked() - worked_before;
  const double waited = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LT(worked, std::max(0.02, waited / 2)) << "of " << waited << " s";
}

// Each thread works on the same context with tensors of its own and with shared ones.
void work(Context& context, const Tensor& shared, int seed, std::atomic<int>& wrong) {
  for (int i = 0; i < 25; ++i) {
    const float number = static_cast<float>(seed * 100 + i);
    const Tensor own = context.full({33}, number), both = own + shared;
    if (both.read() != std::vector<float>(33, number + 7)) ++wrong;
    if ((both * 2.0f).read_async().get() != std::vector<float>(33, 2 * (number + 7))) ++wrong;
    if (context.memory().num_tensors < 1 || !shared.is_computed()) ++wrong;
  }
}

TEST_P(Threads, FourOnOneContext) {
  const Tensor shared = context().full({33}, 7).compute();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed) threads.emplace_back([&, seed] { work(context(), shared, seed, wrong); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Threads, TwoContextsOnTwoBackends) {
  Context host = Context::create({.prefer = {BackendKind::cpu}});
  const Tensor shared = context().full({33}, 7).compute(), on_host = host.full({33}, 7).compute();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      work(seed % 2 ? host : context(), seed % 2 ? on_host : shared, seed, wrong);
      work(seed % 2 ? context() : host, seed % 2 ? shared : on_host, seed, wrong);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(Threads, ContextsOpenSideBySide) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      Context context = open(GetParam());
      if ((context.full({5}, 1) + 1.0f).read() != std::vector<float>(5, 2)) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// Devices go and others come while threads work: they see nothing of it but the time it takes.
void disturb(Context& context, const TestDevice& device) {
  for (int i = 0; i < 3; ++i) {
    testing::lose_device(context);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    context.switch_backend(BackendKind::cpu);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    context.switch_backend(device.backend, device.driver);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_P(Threads, FourOnOneContextThatMovesAndLosesDevices) {
  Context moving = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  const Tensor shared = moving.tensor({33}, std::vector<float>(33, 7)).compute();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed) threads.emplace_back([&, seed] { work(moving, shared, seed, wrong); });
  disturb(moving, GetParam());
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ((shared + 1.0f).read(), std::vector<float>(33, 8));
}

// Somebody else may be the first to meet the loss, and replace the device before the read knows of it.
TEST_P(Threads, AsynchronousReadsOutliveDevicesThatOthersReplace) {
  Context moving = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  const Tensor x = moving.full({100000}, 3).compute();
  for (int i = 0; i < 5; ++i) {
    auto first = (x * 2.0f).read_async(), second = (x + 1.0f).read_async();
    testing::lose_device(moving);
    EXPECT_EQ((x - 1.0f).read()[7], 2);
    EXPECT_EQ(first.get()[99999], 6);
    EXPECT_EQ(second.get()[5], 4);
  }
}

TEST_P(Threads, FourOnFourContextsThatMoveAndLoseDevices) {
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      Context own = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
      const Tensor kept = own.tensor({33}, std::vector<float>(33, 7)).compute();
      std::thread disturbing([&] { disturb(own, GetParam()); });
      work(own, kept, seed, wrong);
      disturbing.join();
      if ((kept + 1.0f).read() != std::vector<float>(33, 8)) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TESSERA_ON_ALL_DEVICES(Threads);
TESSERA_ON_GPU_DEVICES(Waiting);

TEST(TwoGpuBackends, FromFourThreads) {
  if (!TESSERA_HAS_WEBGPU || !TESSERA_HAS_GLES) GTEST_SKIP() << "this build leaves out a GPU backend";
  Context webgpu = Context::create({.prefer = {BackendKind::webgpu}}),
          gles = Context::create({.prefer = {BackendKind::gles}});
  const Tensor in_buffer = webgpu.full({33}, 7).compute(), in_texture = gles.full({33}, 7).compute();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int seed = 0; seed < 4; ++seed)
    threads.emplace_back([&, seed] {
      work(webgpu, in_buffer, seed, wrong);
      work(gles, in_texture, seed, wrong);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// A callback may use the context that calls it.
TEST(Messages, MayCallBack) {
  int told = 0;
  Context context = Context::create(
      {.prefer = {BackendKind::webgpu, BackendKind::cpu}, .driver = "on the host", .on_message = [&](const Message&) {
         ++told;
         throw std::runtime_error("a host's mistake");
       }});
  EXPECT_EQ(told, 1);
  EXPECT_EQ(context.full({1}, 1).read(), std::vector<float>{1});
}

}  // namespace
}  // namespace tessera::test::threads_test

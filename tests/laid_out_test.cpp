// Tensors that a Program captured are laid out for its kernels where that pays, on OpenGL ES. They are on the device
// once all the same, and remain the tensors that they were.
#include <chrono>
#include <optional>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/sharing.h>
#include <tessera/testing.h>

namespace tessera::test::laid_out_test {
namespace {

constexpr std::int64_t rows = 64, side = 256;
constexpr std::uint64_t side_bytes = side * side * sizeof(float);

class LaidOut : public OnDevice {
 protected:
  bool has_blocks() const { return GetParam().backend == BackendKind::gles; }
  // Of a product in its first run, and of those that follow.
  std::uint64_t first_kernels() const { return has_blocks() ? 4 : 1; }
  std::uint64_t kernels() const { return has_blocks() ? 3 : 1; }

  ContextOptions options() const { return {.prefer = {GetParam().backend}, .driver = GetParam().driver}; }

  static Tensor weights(Context& gpu) { return gpu.tensor({side, side}, values(side * side, 2)); }
  static std::vector<float> values(std::int64_t count, unsigned seed) {
    return random_values(static_cast<std::size_t>(count), -1, 1, seed);
  }
  static Program product(Context& gpu, const Tensor& w, std::int64_t of_rows = rows) {
    return Program::record(gpu, {{{of_rows, side}}},
                           [&](std::span<const Tensor> x) { return std::vector{matmul(x[0], w)}; });
  }
  static std::vector<float> expected(const Tensor& x, const Tensor& w) {
    Context& cpu = cpu_context();
    return matmul(cpu.tensor(x.shape(), x.read()), cpu.tensor(w.shape(), w.read())).read();
  }

  struct Cost {
    std::uint64_t kernels, submits, uploaded;
    bool operator==(const Cost&) const = default;
    friend void PrintTo(const Cost& cost, std::ostream* out) {
      *out << cost.kernels << " kernels, " << cost.submits << " submissions, " << cost.uploaded << " bytes uploaded";
    }
  };
  // Runs a program and expects this result.
  static Cost run(Context& gpu, const Program& program, const Tensor& x, const std::vector<float>& want) {
    gpu.reset_stats();
    const Tensor y = program({x})[0].compute();
    const Stats stats = gpu.stats();
    EXPECT_TRUE(all_agree(y.read(), want, 1e-4f));
    return {stats.dispatches, stats.submits, stats.bytes_uploaded};
  }
};
TESSERA_ON_EACH_BACKEND(LaidOut);

TEST_P(LaidOut, AreOnTheDeviceOnce) {
  Context gpu = open(GetParam());
  const Tensor x = gpu.tensor({rows, side}, values(rows * side, 1)).compute(), w = weights(gpu).compute();
  const std::vector<float> want = expected(x, w);
  const Program program = product(gpu, w);
  const std::uint64_t before = gpu.memory().bytes_in_use;
  EXPECT_EQ(run(gpu, program, x, want), (Cost{first_kernels(), 1, 0}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(gpu.memory().bytes_in_use, before);
    EXPECT_EQ(gpu.memory().bytes_spilled, 0u);
    if (i == 1) gpu.trim();  // which does not make the next run lay out again what the device has nowhere else
    EXPECT_EQ(run(gpu, program, x, want), (Cost{kernels(), 1, 0}));
  }
  EXPECT_TRUE(w.is_computed());
  EXPECT_EQ(w.read(), values(side * side, 2));  // from the host
  EXPECT_EQ(gpu.memory().bytes_in_use, before);
}

// Halves have all numbers of 16 and of 8 bits: of the former, a layout takes what the tensor does, of the latter twice.
TEST_P(LaidOut, InHalvesWhereTheyAreNarrow) {
  Context gpu = open(GetParam());
  const auto expect = [&]<class T>(T, std::uint64_t more) {
    std::vector<T> numbers;
    for (int i = 0; i < side * side; ++i) numbers.push_back(T(static_cast<float>(i * 37 % 201 - 100)));
    const std::vector<T> part(numbers.begin() + 7, numbers.begin() + 7 + rows * side);
    const Tensor w = gpu.tensor({side, side}, numbers).compute(), x = gpu.tensor({rows, side}, part).compute();
    const Program program = Program::record(gpu, {{x.shape(), x.dtype()}}, [&](std::span<const Tensor> in) {
      return std::vector{matmul(in[0], w).cast(DType::f32)};
    });
    const std::uint64_t before = gpu.memory().bytes_in_use;
    Context& cpu = cpu_context();
    const std::vector<float> want =
        matmul(cpu.tensor(x.shape(), part), cpu.tensor(w.shape(), numbers)).cast(DType::f32).read();
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(all_agree(program({x})[0].read(), want, 1e-3f));
    EXPECT_EQ(gpu.memory().bytes_in_use, before + (has_blocks() ? more : 0));
    EXPECT_EQ(w.read<T>(), numbers);
  };
  expect(half{}, 0);
  expect(std::int8_t{}, side * side);
}

TEST_P(LaidOut, TellWhatTheyAre) {
  Context gpu = open(GetParam());
  TensorHub hub(gpu);
  hub.publish({"w", "net"}, weights(gpu).label("weights").compute());
  const std::uint64_t before = hub.gpu_memory_usage();
  const Program program = product(gpu, hub.get({"w", "net"}));
  const Tensor y = program({gpu.full({rows, side}, 1)})[0].compute();
  EXPECT_EQ(hub.gpu_memory_usage(), before);
  EXPECT_TRUE(hub.list()[0].is_on_device);
  const std::vector<Resident> residents = gpu.why_resident(side_bytes);
  ASSERT_EQ(residents.size(), 1u) << to_string(residents);
  EXPECT_EQ(residents[0].label, "weights");
  EXPECT_EQ(residents[0].op, has_blocks() ? "tensor, laid out" : "tensor");
  EXPECT_EQ(residents[0].shape, Shape({side, side}));
  EXPECT_EQ(residents[0].bytes, side_bytes);
  EXPECT_GE(residents[0].holders, 1);

  hub.optimize_memory(0);
  EXPECT_EQ(hub.gpu_memory_usage(), 0u);
  EXPECT_FALSE(hub.list()[0].is_on_device);
  EXPECT_EQ(program({gpu.full({rows, side}, 1)})[0].read(), y.read());
  EXPECT_EQ(hub.gpu_memory_usage(), before);
}

// The pool has room for the weights and what a run of them needs, and never for the weights twice.
TEST_P(LaidOut, ComeInParts) {
  Context gpu = open(GetParam());
  constexpr std::int64_t count = 8, large = 512;
  std::vector<Tensor> all;
  for (unsigned i = 0; i < count; ++i) all.push_back(gpu.tensor({large, large}, values(large * large, i)).compute());
  const Program program = Program::record(gpu, {{{rows, large}}}, [&](std::span<const Tensor> x) {
    Tensor y = x[0];
    for (const Tensor& w : all) y = matmul(y, w) * 0.05f;
    return std::vector{y};
  });
  const Tensor x = gpu.tensor({rows, large}, values(rows * large, 9)).compute();
  gpu.reset_stats();
  const std::uint64_t before = gpu.memory().bytes_in_use;
  const std::vector<float> first = program({x})[0].read();
  // A weight is a megabyte. While one is laid out, the device has it twice.
  EXPECT_LE(gpu.memory().bytes_peak, before + (1 << 20));
  EXPECT_EQ(gpu.memory().bytes_in_use, before);
  gpu.reset_stats();
  EXPECT_EQ(program({x})[0].read(), first);
  EXPECT_LE(gpu.memory().bytes_peak, before + (1 << 20));  // x, laid out, sums, and a result of 128 KB each
  EXPECT_EQ(gpu.stats().bytes_uploaded, 0u);
}

TEST_P(LaidOut, AreSharedByPrograms) {
  Context gpu = open(GetParam());
  const Tensor w = weights(gpu).compute(), few = gpu.tensor({rows, side}, values(rows * side, 1)).compute(),
               many = gpu.tensor({2 * rows, side}, values(2 * rows * side, 1)).compute();
  const std::vector<float> want_few = expected(few, w), want_many = expected(many, w);
  const std::uint64_t before = gpu.memory().bytes_in_use;
  {
    std::optional<Program> first = product(gpu, w);
    EXPECT_EQ(run(gpu, *first, few, want_few), (Cost{first_kernels(), 1, 0}));
    const Program second = product(gpu, w, 2 * rows);
    EXPECT_EQ(run(gpu, second, many, want_many), (Cost{kernels(), 1, 0}));
    EXPECT_EQ(gpu.memory().bytes_in_use, before);
    first.reset();
    EXPECT_EQ(run(gpu, second, many, want_many), (Cost{kernels(), 1, 0}));
    EXPECT_EQ(gpu.memory().bytes_in_use, before);
  }
  // Nobody has a use for the layout any more, and nobody has asked for the elements yet.
  EXPECT_EQ(gpu.memory().bytes_in_use, before - (has_blocks() ? side_bytes : 0));
  EXPECT_EQ(matmul(few, w).read().size(), want_few.size());
  EXPECT_EQ(gpu.memory().bytes_in_use, before);
}

TEST_P(LaidOut, ComeBackForWhoReadsThemInOrder) {
  Context gpu = open(GetParam());
  const Tensor w = weights(gpu).compute(), x = gpu.tensor({rows, side}, values(rows * side, 1)).compute();
  const std::vector<float> want = expected(x, w);
  const Program program = product(gpu, w);
  run(gpu, program, x, want);
  const std::uint64_t once = gpu.memory().bytes_in_use, uploaded = has_blocks() ? side_bytes : 0;
  gpu.reset_stats();
  const std::vector<float> row = slice(w, {3, 0}, {1, side}).read();  // a view of the elements, which the host has
  const std::vector<float> all = values(side * side, 2);
  EXPECT_EQ(row, std::vector(all.begin() + 3 * side, all.begin() + 4 * side));
  EXPECT_EQ(gpu.stats().bytes_uploaded, 0u);
  EXPECT_EQ(max(abs(w - gpu.tensor({side, side}, all))).read(), std::vector{0.0f});
  EXPECT_EQ(gpu.stats().bytes_uploaded, uploaded + side_bytes);
  // Whoever has read them in order may do so again: they stay.
  EXPECT_EQ(gpu.memory().bytes_in_use, once + uploaded);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(gpu, program, x, want), (Cost{kernels(), 1, 0}));
  EXPECT_EQ(gpu.memory().bytes_in_use, once + uploaded);
}

// The same kernels may read a tensor in two ways, or two views of its storage.
TEST_P(LaidOut, StayInOrderForThoseWhoReadThemSo) {
  Context gpu = open(GetParam());
  const Tensor both = gpu.tensor({2, side, side}, values(2 * side * side, 2)).compute();
  const Tensor w = slice(both, {0, 0, 0}, {1, side, side}).reshape({side, side}),
               bias = slice(both, {1, 5, 0}, {1, 1, side}).reshape({side}),
               x = gpu.tensor({rows, side}, values(rows * side, 1)).compute();
  const std::vector<float> want =
      (matmul(cpu_context().tensor(x.shape(), x.read()), cpu_context().tensor(w.shape(), w.read())) +
       cpu_context().tensor(bias.shape(), bias.read()))
          .read();
  const Program program = Program::record(
      gpu, {{{rows, side}}}, [&](std::span<const Tensor> in) { return std::vector{matmul(in[0], w) + bias}; });
  const std::uint64_t before = gpu.memory().bytes_in_use, layout = has_blocks() ? side_bytes : 0;
  EXPECT_EQ(run(gpu, program, x, want), (Cost{first_kernels(), 1, 0}));
  EXPECT_EQ(run(gpu, program, x, want), (Cost{kernels(), 1, 0}));
  EXPECT_EQ(gpu.memory().bytes_in_use, before + layout);
}

TEST_P(LaidOut, OutliveDevicesAndBackends) {
  Context gpu = Context::create(options());
  const Tensor x = gpu.tensor({rows, side}, values(rows * side, 1)).compute(), w = weights(gpu).compute();
  const std::vector<float> want = expected(x, w);
  const Program program = product(gpu, w);
  run(gpu, program, x, want);
  const std::uint64_t before = gpu.memory().bytes_in_use;
  if (GetParam().backend != BackendKind::cpu) {
    testing::lose_device(gpu);
    run(gpu, program, x, want);
    EXPECT_EQ(gpu.stats().device_losses, 1u);
    EXPECT_EQ(gpu.memory().bytes_in_use, before);
  }
  gpu.switch_backend(BackendKind::cpu);
  EXPECT_EQ(run(gpu, program, x, want).kernels, 1u);
  gpu.switch_backend(GetParam().backend, GetParam().driver);
  run(gpu, program, x, want);
  EXPECT_EQ(run(gpu, program, x, want), (Cost{kernels(), 1, 0}));
  EXPECT_EQ(gpu.memory().bytes_in_use, before);
  EXPECT_EQ(w.read(), values(side * side, 2));
}

// Without a copy on the host there would be nothing to bring the elements back from.
TEST_P(LaidOut, StayInOrderWhereTheHostHasNone) {
  ContextOptions without = options();
  without.survive_device_loss = false;
  Context gpu = Context::create(without);
  const Tensor x = gpu.tensor({rows, side}, values(rows * side, 1)).compute(), w = weights(gpu).compute();
  const std::vector<float> want = expected(x, w);
  const Program program = product(gpu, w);
  const std::uint64_t before = gpu.memory().bytes_in_use, layout = has_blocks() ? side_bytes : 0;
  run(gpu, program, x, want);
  EXPECT_EQ(run(gpu, program, x, want), (Cost{kernels(), 1, 0}));
  EXPECT_EQ(gpu.memory().bytes_in_use, before + layout);
  gpu.trim();
  EXPECT_EQ(gpu.memory().bytes_in_use, before);
  EXPECT_EQ(run(gpu, program, x, want), (Cost{first_kernels(), 1, 0}));
  gpu.switch_backend(BackendKind::cpu);
  run(gpu, program, x, want);
  EXPECT_EQ(w.read(), values(side * side, 2));
}

TEST_P(LaidOut, EveryAllocationMayFail) {
  Context gpu = open(GetParam());
  const Tensor x = gpu.tensor({rows, side}, values(rows * side, 1)).compute(), w = weights(gpu).compute();
  const std::vector<float> want = expected(x, w);
  for (int nth = 1; nth <= 5; ++nth) {
    const Program program = product(gpu, w);
    gpu.trim();
    testing::fail_allocation(gpu, nth);
    for (int i = 0; i < 2; ++i) run(gpu, program, x, want);
    EXPECT_EQ(run(gpu, program, x, want), (Cost{kernels(), 1, 0})) << nth;
  }
}

TEST_P(LaidOut, EverySubmissionMayLoseTheDevice) {
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "The CPU is not lost.";
  Context gpu = Context::create(options());
  const Tensor x = gpu.tensor({rows, side}, values(rows * side, 1)).compute(), w = weights(gpu).compute();
  const std::vector<float> want = expected(x, w);
  for (const testing::Moment moment : {testing::Moment::before, testing::Moment::after}) {
    const Program program = product(gpu, w);
    testing::lose_device(gpu, moment, 1);
    for (int i = 0; i < 2; ++i) run(gpu, program, x, want);
    EXPECT_EQ(run(gpu, program, x, want), (Cost{kernels(), 1, 0}));
  }
}

// A budget for the weights and what their run needs: nothing leaves the device to come back in the next run.
TEST_P(LaidOut, FitIntoABudget) {
  ContextOptions with_budget = options();
  constexpr std::int64_t count = 6;
  constexpr std::uint64_t budget = count * side_bytes + 5 * rows * side * sizeof(float) + (16 << 10);
  with_budget.memory_budget = budget;
  Context gpu = Context::create(with_budget);
  std::vector<Tensor> all;
  for (unsigned i = 0; i < count; ++i) all.push_back(gpu.tensor({side, side}, values(side * side, i)).compute());
  const Program program = Program::record(gpu, {{{rows, side}}}, [&](std::span<const Tensor> x) {
    Tensor y = x[0];
    for (const Tensor& w : all) y = matmul(y, w) * 0.1f;
    return std::vector{y};
  });
  const Tensor x = gpu.tensor({rows, side}, values(rows * side, 9)).compute();
  const std::vector<float> first = program({x})[0].read();
  EXPECT_EQ(program({x})[0].read(), first);
  gpu.reset_stats();
  EXPECT_EQ(program({x})[0].read(), first);
  EXPECT_EQ(gpu.stats().bytes_uploaded, 0u);
  EXPECT_EQ(gpu.memory().bytes_spilled, 0u);
  EXPECT_LE(gpu.memory().bytes_in_use + gpu.memory().bytes_pooled, budget);

  // Others who need all of the room get it.
  {
    const Tensor large = gpu.full({static_cast<std::int64_t>(budget / sizeof(float)) - side * side / 2}, 1).compute();
    EXPECT_GE(gpu.memory().bytes_spilled, (count - 1) * side_bytes);
  }
  EXPECT_EQ(program({x})[0].read(), first);
  EXPECT_EQ(program({x})[0].read(), first);
  EXPECT_EQ(gpu.memory().bytes_spilled, 0u);
}

// Work that is being recorded or runs in slices reads the elements in order.
TEST_P(LaidOut, ServeRunsInSlices) {
  Context gpu = open(GetParam());
  const Tensor x = gpu.tensor({rows, side}, values(rows * side, 1)).compute(), w = weights(gpu).compute();
  const std::vector<float> want = expected(x, w);
  const Program program = product(gpu, w);
  run(gpu, program, x, want);
  const SlicedRun sliced = program.start({{x}});
  while (!sliced.advance(std::chrono::milliseconds(1))) {
  }
  EXPECT_TRUE(all_agree(sliced.results()[0].read(), want, 1e-4f));
  EXPECT_EQ(run(gpu, program, x, want), (Cost{kernels(), 1, 0}));
}

}  // namespace
}  // namespace tessera::test::laid_out_test

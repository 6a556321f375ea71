// Compiled kernels: how many there are, which ones stay, and how they are given back.
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::kernels_test {
namespace {

// A chain of operations that no other number gives.
Tensor chain(Tensor x, int number) {
  for (int i = 0; i < 4; ++i, number /= 4) switch (number % 4) {
      case 0: x = -x; break;
      case 1: x = x + 1.0f; break;
      case 2: x = x * x; break;
      default: x = abs(x);
    }
  return x;
}

class Kernels : public OnDevice {
 protected:
  Context own() { return Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver}); }
};

TEST_P(Kernels, AreCountedAndGoWithTrim) {
  Context context = own();
  EXPECT_EQ(context.memory().kernels, 0u);
  const Tensor x = context.tensor({3}, {0, 1, 2});
  const auto results = [&] {
    std::vector<std::vector<float>> all{map_kernel("a + 2.0", {{"a", x}}).read()};
    for (int i = 0; i < 3; ++i) all.push_back(chain(x, i).read());
    return all;
  };
  const auto before = results();
  EXPECT_EQ(context.memory().kernels, 4u);
  EXPECT_EQ(context.memory().kernels, context.stats().kernels_compiled);
  EXPECT_GT(context.memory().kernel_bytes, 400u);
  results();
  EXPECT_EQ(context.stats().kernels_compiled, 4u);

  context.trim();
  EXPECT_EQ(context.memory().kernels, 0u);
  EXPECT_EQ(context.memory().kernel_bytes, 0u);
  EXPECT_EQ(context.stats().kernels_compiled, 4u);  // so far
  EXPECT_EQ(results(), before);
  EXPECT_EQ(context.stats().kernels_compiled, 8u);
  testing::lose_device(context);
  EXPECT_EQ(results(), before);
  EXPECT_EQ(context.memory().kernels, 4u);
}

TEST_P(Kernels, OfAProgramStayAsLongAsIt) {
  Context context = own();
  const auto record = [&] {
    return Program::record(context, {{.shape = {4, 4}}}, [](std::span<const Tensor> in) {
      const Tensor y = matmul(in[0], in[0]);
      return std::vector{sum(tanh(y)), map_kernel("a * 3.0", {{"a", y}})};
    });
  };
  const Tensor x = context.full({4, 4}, 0.5f).compute();
  const auto expect_compiled = [&](const Program& program, std::uint64_t count) {
    const std::uint64_t before = context.stats().kernels_compiled;
    const std::vector<Tensor> results = program.run({x});
    EXPECT_EQ(results[1].read(), std::vector<float>(16, 3.0f));
    EXPECT_EQ(context.stats().kernels_compiled - before, count);
  };
  context.trim();
  {
    const Program first = record();
    first.run({x});
    const std::uint64_t kernels = context.memory().kernels;
    EXPECT_GE(kernels, 2u);
    const Program second = record();  // the same kernels
    context.trim();
    EXPECT_EQ(context.memory().kernels, kernels);
    expect_compiled(first, 0);
    expect_compiled(second, 0);
  }
  context.trim();
  EXPECT_EQ(context.memory().kernels, 0u);
  const Program prepared = record();
  prepared.prepare().get();
  context.trim();
  expect_compiled(prepared, 0);
  testing::lose_device(context);
  prepared.run({x});
  context.trim();
  expect_compiled(prepared, 0);
}

TESSERA_ON_GPU_DEVICES(Kernels);

// Where compiling is fast: what is counted is the same everywhere.
class ManyKernels : public Kernels {};

TEST_P(ManyKernels, AreDroppedUnlessTheyAreUsed) {
  constexpr std::uint64_t most = 160;  // the limit, and those of the last runs
  Context context = own();
  const Tensor x = context.tensor({3}, {0, 1, 2}).compute();
  const Program program = Program::record(context, {{.shape = {3}}},
                                          [](std::span<const Tensor> in) { return std::vector{in[0] * in[0] + 1.0f}; });
  program.run({x});
  const std::vector<float> first = chain(x, 0).read();
  for (int i = 1; i < 180; ++i) {
    chain(x, i).compute();
    ASSERT_LE(context.memory().kernels, most) << i;
  }
  context.reset_stats();
  EXPECT_EQ(program.run({x})[0].read(), (std::vector<float>{1, 2, 5}));
  EXPECT_EQ(context.stats().kernels_compiled, 0u);
  EXPECT_EQ(chain(x, 0).read(), first);
  EXPECT_EQ(context.stats().kernels_compiled, 1u);  // it was the oldest
}

INSTANTIATE_TEST_SUITE_P(On, ManyKernels,
                         ::testing::Values(TestDevice{"webgpu_swiftshader", BackendKind::webgpu, "SwiftShader"},
                                           TestDevice{"gles_angle_swiftshader", BackendKind::gles,
                                                      "ANGLE on SwiftShader"}),
                         device_name);

}  // namespace
}  // namespace tessera::test::kernels_test

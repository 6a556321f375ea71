// Contexts that move from one device to another while everything is alive.
#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::switching_test {
namespace {

TEST(Switching, EverythingComesAlong) {
  const std::vector<TestDevice>& devices = all_devices();
  Context context = Context::create({.prefer = {devices.front().backend}});
  const Tensor weights = context.tensor({3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor input = context.tensor({2, 3}, {1, 0, -1, 2, 1, 0}).compute();
  const Tensor done = softmax(matmul(input, weights)).compute();
  const Tensor view = slice(done, {1, 0}, {1, 2}).compute();
  const Tensor bytes = context.tensor({5}, std::vector<std::uint8_t>{1, 2, 3, 254, 255});
  const Tensor halves = context.tensor({3}, {0.5f, -2, 65504}).cast(DType::f16).compute();
  const Tensor pending = relu(matmul(input, weights) - 1.0f);
  const Program program = Program::record(context, {{.shape = {2, 2}}}, [&](std::span<const Tensor> in) {
    return std::vector{softmax(matmul(in[0], transpose(weights)) + sum(done))};
  });
  const std::vector<float> values = done.read(), program_values = program.run({done})[0].read();
  for (int round = 0; round < 2; ++round)
    for (const TestDevice& device : devices) {
      if (is_left_out(device)) continue;
      context.switch_backend(device.backend, device.driver);
      EXPECT_EQ(context.backend(), device.backend);
      EXPECT_EQ(weights.backend(), device.backend);
      EXPECT_EQ(done.read(), values) << device.name;
      EXPECT_EQ(view.read(), std::vector<float>(values.begin() + 2, values.end()));
      EXPECT_EQ(bytes.read<std::uint8_t>(), (std::vector<std::uint8_t>{1, 2, 3, 254, 255}));
      EXPECT_EQ(halves.read(), (std::vector<float>{0.5f, -2, 65504}));
      EXPECT_EQ(matmul(input, weights).read(), (std::vector<float>{-4, -4, 5, 8}));
      EXPECT_TRUE(all_agree((view * 1.0f).read(), std::vector<float>(values.begin() + 2, values.end()), 1e-6f));
      EXPECT_TRUE(all_agree(program.run({done})[0].read(), program_values, 1e-5f)) << device.name;
      if (device.backend != BackendKind::cpu) {
        testing::lose_device(context);
        EXPECT_TRUE(all_agree((done * 1.0f).read(), values, 1e-6f)) << device.name;
      }
    }
  EXPECT_EQ(pending.read(), (std::vector<float>{0, 0, 4, 7}));
}

TEST(Switching, ThatFailsChangesNothing) {
  for (const TestDevice& device : all_devices()) {
    if (is_left_out(device)) continue;
    Context context = open(device);
    const Tensor x = (context.tensor({3}, {1, 2, 3}) * 2.0f).compute();
    EXPECT_TESSERA_ERROR(context.switch_backend(BackendKind::cpu, "no such device"), not_found, "no such device");
    EXPECT_EQ(context.backend(), device.backend);
    EXPECT_EQ((x + 1.0f).read(), (std::vector<float>{3, 5, 7}));
  }
}

TEST(Switching, TensorsGoToOtherContexts) {
  for (const TestDevice& from : all_devices())
    for (const TestDevice& to : all_devices()) {
      if (is_left_out(from) || is_left_out(to)) continue;
      Context& other = shared_context(to);
      const Tensor x = shared_context(from).tensor({2, 2}, {1, 2, 3, 4}) * 2.0f;
      EXPECT_EQ((x.to(other) + 1.0f).read(), (std::vector<float>{3, 5, 7, 9}));
    }
}

}  // namespace
}  // namespace tessera::test::switching_test

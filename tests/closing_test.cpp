// Context::close, and handles that refer to nothing any more.
#include <type_traits>

#include "support/compare.h"
#include "support/devices.h"
#include <tessera/monitor.h>
#include <tessera/scope.h>
#include <tessera/sharing.h>
#include <tessera/testing.h>

namespace tessera::test::closing_test {
namespace {

class Closing : public OnDevice {};

TEST_P(Closing, FreesAllThatIsOnTheDevice) {
  Context context = open(GetParam());
  const Tensor held = (context.full({1000}, 1) + 1.0f).compute();
  const Tensor pending = held * 2.0f;
  Pending<std::vector<float>> read = (held + 3.0f).read_async();
  const Program program =
      Program::record(context, {{.shape = {3}}}, [](std::span<const Tensor> in) { return std::vector{in[0] + 1.0f}; });
  program.prepare();
  TensorHub hub(context);
  hub.publish({"held", "m"}, held);
  {
    Monitor monitor(context);
    const Scope scope(context);
    context.close();
    EXPECT_EQ(read.get(), std::vector<float>(1000, 5));  // was under way
    EXPECT_EQ(context.memory().bytes_in_use + context.memory().bytes_pooled, 0u);
    EXPECT_TESSERA_ERROR(held.read(), invalid_argument, "closed");
    EXPECT_TESSERA_ERROR(pending.compute(), invalid_argument, "closed");
    EXPECT_TESSERA_ERROR(program.run({context.full({3}, 1)}), invalid_argument, "closed");
    EXPECT_TESSERA_ERROR(context.full({2}, 1).read(), invalid_argument, "closed");
    EXPECT_TESSERA_ERROR(context.switch_backend(BackendKind::cpu), invalid_argument, "closed");
    EXPECT_TESSERA_ERROR(hub.optimize_memory(), invalid_argument, "closed");
  }
  EXPECT_EQ(held.shape(), Shape({1000}));
  EXPECT_EQ(context.backend(), GetParam().backend);
  hub.release({"held", "m"});
  context.wait();
  context.trim();
  context.close();
}

TEST_P(Closing, AfterALoss) {
  Context context = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  const Tensor x = (context.full({10}, 1) + 1.0f).compute();
  testing::lose_device(context);
  context.close();
  EXPECT_TESSERA_ERROR(x.read(), invalid_argument, "closed");
}

TEST_P(Closing, TensorsTellWhetherTheyAreEmpty) {
  Tensor x;
  EXPECT_TRUE(x.is_empty());
  x = context().full({2}, 1);
  EXPECT_FALSE(x.is_empty());
  Tensor y = std::move(x);
  EXPECT_TRUE(x.is_empty());  // NOLINT: what a moved one says is the question
  y.dispose();
  EXPECT_TRUE(y.is_empty());
  EXPECT_TESSERA_ERROR(y.read(), invalid_argument, "empty");
}

TEST_P(Closing, WhatATemporaryComputesStays) {
  const Tensor a = context().full({2}, 1);
  static_assert(std::is_same_v<decltype((a + a).compute()), Tensor>);
  static_assert(std::is_same_v<decltype((a + a).label("sum")), Tensor>);
  static_assert(std::is_same_v<decltype(a.compute()), const Tensor&>);
  const Tensor& sum = (a + a).compute();
  EXPECT_EQ(sum.read(), std::vector<float>(2, 2));
}

TESSERA_ON_ALL_DEVICES(Closing);

}  // namespace
}  // namespace tessera::test::closing_test

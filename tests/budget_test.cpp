// Devices that are full: budgets, spilling, failing allocations.
#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::budget_test {
namespace {

constexpr std::uint64_t megabyte = 1 << 20;
constexpr std::int64_t side = 512;  // a tensor of one megabyte

class Budget : public OnDevice {
 protected:
  Context with(std::uint64_t budget, Priority priority = Priority::balanced) {
    return Context::create(
        {.prefer = {GetParam().backend}, .driver = GetParam().driver, .memory_budget = budget, .priority = priority});
  }
};

TEST_P(Budget, TensorsMoveToTheHostAndComeBack) {
  Context context = with(8 * megabyte);
  std::vector<Tensor> held;
  for (int i = 0; i < 16; ++i) {
    held.push_back(context.full({side, side}, static_cast<float>(i)).compute());
    EXPECT_LE(context.memory().bytes_in_use + context.memory().bytes_pooled, 8 * megabyte);
  }
  EXPECT_EQ(context.memory().bytes_spilled, 8 * megabyte);
  EXPECT_EQ(context.memory().num_tensors, 16);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(held[static_cast<std::size_t>(i)].read()[7], static_cast<float>(i));
  // Spilled ones take part in computations as if nothing had happened.
  for (int i = 0; i < 16; ++i)
    EXPECT_EQ((held[static_cast<std::size_t>(i)] + 0.5f).read()[7], static_cast<float>(i) + 0.5f);
  EXPECT_LE(context.memory().bytes_peak, 8 * megabyte);
  held.clear();
  EXPECT_EQ(context.memory().bytes_spilled, 0u);
  EXPECT_EQ(context.memory().bytes_in_use, 0u);
}

TEST_P(Budget, ThatOneKernelExceedsIsAnError) {
  Context context = with(2 * megabyte);
  const Tensor a = context.full({side, side}, 1).compute(), b = context.full({side, side}, 2).compute();
  EXPECT_TESSERA_ERROR((a + b).compute(), out_of_memory, "2097152", "1048576");  // both, and the result
  EXPECT_EQ((a + 0.5f).read()[5], 1.5f);                                         // and the context goes on
  EXPECT_EQ(b.read()[5], 2);
}

TEST_P(Budget, ThatOneSubmissionExceedsTakesSeveral) {
  Context context = with(4 * megabyte);
  std::vector<Tensor> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(context.full({side, side}, static_cast<float>(i)).compute());
  // One kernel would read four megabytes and write one.
  EXPECT_EQ((parts[0] + parts[1] + parts[2] + parts[3]).read()[5], 6);
  // Many results at once, of which all but the last few go to the host.
  std::vector<Tensor> results;
  for (int i = 0; i < 10; ++i) results.push_back(sqrt(parts[1] * static_cast<float>(i * i)));
  context.compute(results);
  EXPECT_LE(context.memory().bytes_peak, 4 * megabyte);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(results[static_cast<std::size_t>(i)].read()[7], static_cast<float>(i));
}

TEST_P(Budget, ASumOfMoreUploadsThanFit) {
  Context context = with(10 * megabyte);
  Tensor sum = context.zeros({side, side});
  const std::vector<float> ones(side * side, 1);
  for (int i = 0; i < 40; ++i) sum = sum + context.tensor({side, side}, ones);
  EXPECT_EQ(sum.read()[9], 40);
  EXPECT_LE(context.memory().bytes_peak, 10 * megabyte);
  std::vector<Tensor> uploads;
  for (int i = 0; i < 40; ++i) uploads.push_back(context.tensor({side, side}, ones));
  context.compute(uploads);
  EXPECT_LE(context.memory().bytes_peak, 10 * megabyte);
}

TEST_P(Budget, MemoryGoesAtOnceWhereThatIsPreferred) {
  Context sparing = with(0, Priority::memory), generous = with(0, Priority::speed);
  for (Context* context : {&sparing, &generous})
    for (int i = 0; i < 80; ++i) context->full({i + 1, side}, 1).compute();
  sparing.wait();
  EXPECT_EQ(sparing.memory().bytes_pooled, 0u);
  EXPECT_GT(generous.memory().bytes_pooled, megabyte);
  generous.trim();
  EXPECT_EQ(generous.memory().bytes_pooled, 0u);
}

TEST_P(Budget, EveryAllocationMayFail) {
  const std::vector<float> values = random_values(64, -1, 1, 1);
  const auto work = [&](Context& context) {
    const Tensor x = context.tensor({8, 8}, values), y = matmul(x, x);
    return sort(softmax(y) + sum(y * x, {{0}})).read();
  };
  Context context = with(0);
  const Tensor bystander = context.full({1000}, 3).compute();
  const std::vector<float> expected = work(context);
  int survived = 0;
  for (int nth = 1; nth <= 8; ++nth) {
    context.trim();  // else nothing had to be allocated
    testing::fail_allocation(context, nth);
    try {
      EXPECT_EQ(work(context), expected);
      ++survived;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    }
    EXPECT_EQ(work(context), expected) << "after the failure of allocation " << nth;
    EXPECT_EQ(bystander.read(), std::vector<float>(1000, 3));
    EXPECT_EQ(context.memory().num_tensors, 1);
  }
  EXPECT_GT(survived, 0);
}

TESSERA_ON_ALL_DEVICES(Budget);

}  // namespace
}  // namespace tessera::test::budget_test

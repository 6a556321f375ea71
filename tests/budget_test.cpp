// Devices that are full: budgets, spilling, failing allocations.
#include "support/compare.h"
#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test {
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

TEST_P(Budget, ThatOneComputationExceedsIsAnError) {
  Context context = with(4 * megabyte);
  std::vector<Tensor> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(context.full({side, side}, 1).compute());
  // Four inputs of a megabyte each, and the result.
  EXPECT_TESSERA_ERROR((parts[0] + parts[1] + parts[2] + parts[3]).compute(), out_of_memory, "4194304", "1048576");
  EXPECT_EQ((parts[0] + parts[1]).read()[5], 2);  // and the context goes on
}

TEST_P(Budget, MemoryGoesAtOnceWhereThatIsPreferred) {
  Context sparing = with(0, Priority::memory), generous = with(0, Priority::speed);
  for (Context* context : {&sparing, &generous})
    for (int i = 0; i < 80; ++i) context->full({i + 1, side}, 1).compute();
  sparing.full({1}, 1).compute();
  EXPECT_LE(sparing.memory().bytes_pooled, 4096u);
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
  int survived = 0, refused = 0;
  for (int nth = 1; nth <= 8; ++nth) {
    context.trim();  // else nothing had to be allocated
    testing::fail_allocation(context, nth);
    try {
      EXPECT_EQ(work(context), expected);
      ++survived;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      ++refused;
    }
    EXPECT_EQ(work(context), expected) << "after the failure of allocation " << nth;
    EXPECT_EQ(bystander.read(), std::vector<float>(1000, 3));
    EXPECT_EQ(context.memory().num_tensors, 1);
  }
  EXPECT_GT(survived, 0);
}

TESSERA_ON_ALL_DEVICES(Budget);

}  // namespace
}  // namespace tessera::test

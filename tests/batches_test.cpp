// Many inputs in chunks that fit.
#include <numeric>
#include <stdexcept>

#include "support/devices.h"
#include <tessera/batches.h>
#include <tessera/testing.h>

namespace tessera::test::batches_test {
namespace {

constexpr std::uint64_t megabyte = 1 << 20;

class Batches : public OnDevice {
 protected:
  Context with(std::uint64_t budget) {
    return Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver, .memory_budget = budget});
  }
};

std::vector<Tensor> numbered(Context& context, int count, const Shape& shape) {
  std::vector<Tensor> inputs;
  for (int i = 0; i < count; ++i)
    inputs.push_back(
        context.tensor(shape, std::vector<float>(static_cast<std::size_t>(shape.size()), static_cast<float>(i))));
  return inputs;
}

Tensor mean_of_square(const Tensor& x) { return mean(square(x)); }

TEST_P(Batches, GiveEveryResultInOrder) {
  Context context = open(GetParam());
  const std::vector<Tensor> inputs = numbered(context, 20, {7, 5});
  std::vector<std::size_t> order, steps;
  for_each_batch(context, inputs, mean_of_square,
                 [&](std::size_t i, const Tensor& result) {
                   EXPECT_TRUE(result.is_computed());
                   EXPECT_FLOAT_EQ(result.read()[0], static_cast<float>(i * i));
                   order.push_back(i);
                 },
                 {.progress = [&](std::size_t done, std::size_t of) {
                   EXPECT_EQ(of, 20u);
                   EXPECT_EQ(order.size(), done);
                   steps.push_back(done);
                 }});
  std::vector<std::size_t> expected(20);
  std::iota(expected.begin(), expected.end(), 0u);
  EXPECT_EQ(order, expected);
  EXPECT_EQ(steps, (std::vector<std::size_t>{1, 20}));  // one to learn from, and all others fit
}

TEST_P(Batches, AreOneSubmissionAChunk) {
  Context context = open(GetParam());
  const std::vector<Tensor> inputs = numbered(context, 12, {64});
  std::size_t chunks = 0;
  context.reset_stats();
  for_each_batch(context, inputs, mean_of_square, [](std::size_t, const Tensor&) {},
                 {.progress = [&](std::size_t, std::size_t) { ++chunks; }});
  EXPECT_EQ(context.stats().submits, chunks);
  EXPECT_EQ(chunks, 2u);
}

TEST_P(Batches, StayWithinWhatTheyMayTake) {
  Context context = open(GetParam());
  const std::vector<Tensor> inputs = numbered(context, 10, {512, 512});
  std::vector<std::size_t> steps;
  context.reset_stats();
  for_each_batch(
      context, inputs, [](const Tensor& x) { return x * 2.0f; },
      [](std::size_t i, const Tensor& result) { EXPECT_EQ(result.read()[9], static_cast<float>(2 * i)); },
      {.progress = [&](std::size_t done, std::size_t) { steps.push_back(done); }, .max_bytes = 6 * megabyte});
  EXPECT_EQ(steps,
            (std::vector<std::size_t>{1, 4, 7, 10}));  // each takes a megabyte for the input and one for the result
  if (context.backend() != BackendKind::cpu) {
    EXPECT_LE(context.memory().bytes_peak, 6 * megabyte);
  }
}

TEST_P(Batches, HaveAsManyInputsAsTheyMay) {
  Context context = open(GetParam());
  const auto steps_with = [&](const BatchOptions& limits) {
    const std::vector<Tensor> inputs = numbered(context, 10, {64, 64});
    std::vector<std::size_t> steps;
    BatchOptions options = limits;
    options.progress = [&](std::size_t done, std::size_t) { steps.push_back(done); };
    for_each_batch(
        context, inputs, [](const Tensor& x) { return x * 2.0f; },
        [](std::size_t i, const Tensor& result) { EXPECT_EQ(result.read()[9], static_cast<float>(2 * i)); }, options);
    return steps;
  };
  using Steps = std::vector<std::size_t>;
  EXPECT_EQ(steps_with({.max_count = 4}), (Steps{4, 8, 10}));
  EXPECT_EQ(steps_with({.max_count = 100}), Steps{10});
  // With bytes as well the first one tells what one takes: 16 KB for the input, and as much for the result.
  EXPECT_EQ(steps_with({.max_bytes = megabyte, .max_count = 4}), (Steps{1, 5, 9, 10}));
  EXPECT_EQ(steps_with({.max_bytes = 100 * 1024, .max_count = 4}), (Steps{1, 4, 7, 10}));
}

TEST_P(Batches, OfACountAreSplitWhereThereIsNoRoom) {
  Context context = with(8 * megabyte);
  const std::vector<Tensor> inputs = numbered(context, 12, {512, 512});
  std::size_t taken = 0;
  for_each_batch(
      context, inputs, [](const Tensor& x) { return x + 1.0f; },
      [&](std::size_t i, const Tensor& result) {
        EXPECT_EQ(result.read()[0], static_cast<float>(i + 1));
        ++taken;
      },
      {.max_count = 12});
  EXPECT_EQ(taken, 12u);
}

TEST_P(Batches, StayWithinTheBudget) {
  Context context = with(8 * megabyte);
  const Tensor weights = context.full({512, 512}, 3).compute();
  const std::vector<Tensor> inputs = numbered(context, 24, {512, 512});
  std::size_t chunks = 0, taken = 0;
  for_each_batch(
      context, inputs, [&](const Tensor& x) { return x * weights; },
      [&](std::size_t i, const Tensor& result) {
        EXPECT_EQ(result.read()[3], static_cast<float>(3 * i));
        ++taken;
      },
      {.progress = [&](std::size_t, std::size_t) { ++chunks; }});
  EXPECT_EQ(taken, 24u);
  EXPECT_GT(chunks, 2u);
  EXPECT_LE(context.memory().bytes_peak, 8 * megabyte);
  EXPECT_EQ(weights.read()[0], 3);
}

TEST_P(Batches, SplitWhereThereIsNoRoomAfterAll) {
  Context context = with(8 * megabyte);
  std::vector<Tensor> inputs = numbered(context, 1, {16});
  for (const Tensor& large : numbered(context, 8, {512, 512})) inputs.push_back(large);
  std::size_t taken = 0;
  for_each_batch(
      context, inputs, [](const Tensor& x) { return x + 1.0f; },
      [&](std::size_t i, const Tensor& result) {
        EXPECT_EQ(result.read()[0], static_cast<float>(i == 0 ? 1 : i));
        ++taken;
      },
      {.max_bytes = 64 * megabyte});
  EXPECT_EQ(taken, 9u);
}

TEST_P(Batches, SurviveALostDevice) {
  Context context = with(0);
  const std::vector<Tensor> inputs = numbered(context, 6, {100});
  for_each_batch(
      context, inputs, [](const Tensor& x) { return x * 2.0f; },
      [&](std::size_t i, const Tensor& result) {
        if (i == 2) testing::lose_device(context);
        EXPECT_EQ(result.read()[5], static_cast<float>(2 * i));
      },
      {.max_bytes = 2000});
}

TEST_P(Batches, LetGoOfWhatNobodyHolds) {
  Context context = open(GetParam());
  const std::vector<Tensor> inputs = numbered(context, 6, {512, 512});
  for_each_batch(
      context, inputs, [](const Tensor& x) { return x + 1.0f; }, [](std::size_t, const Tensor&) {},
      {.max_bytes = 4 * megabyte});
  // The inputs are the caller's. Where the host has them anyway they are not on the device any more.
  EXPECT_EQ(context.memory().bytes_in_use, context.backend() == BackendKind::cpu ? 6 * megabyte : 0u);
}

TEST_P(Batches, BadInput) {
  Context context = open(GetParam());
  const auto body = [](const Tensor& x) { return x; };
  const auto take = [](std::size_t, const Tensor&) {};
  for_each_batch(context, {}, body, take, {.progress = [](std::size_t, std::size_t) { ADD_FAILURE(); }});
  const std::vector<Tensor> one{context.full({1}, 1)}, empty{context.full({0}, 1), Tensor()};
  EXPECT_TESSERA_ERROR(for_each_batch(context, one, nullptr, take), invalid_argument, "no function");
  EXPECT_TESSERA_ERROR(for_each_batch(context, one, body, nullptr), invalid_argument, "no function");
  EXPECT_TESSERA_ERROR(for_each_batch(context, empty, body, take), invalid_argument, "empty");
  Context other = Context::create({.prefer = {BackendKind::cpu}});
  const std::vector<Tensor> foreign{one[0], other.full({1}, 1)};
  EXPECT_TESSERA_ERROR(for_each_batch(context, foreign, body, take), invalid_argument, "input 1", "another context");
  EXPECT_TESSERA_ERROR(for_each_batch(
                           context, one, [&](const Tensor&) { return foreign[1]; }, take),
                       invalid_argument, "result for input 0");
  EXPECT_THROW(for_each_batch(context, one, body, [](std::size_t, const Tensor&) { throw std::runtime_error("own"); }),
               std::runtime_error);
  std::size_t taken = 0;  // tensors without elements are like others
  const std::vector<Tensor> without{context.full({0, 3}, 1), context.full({0, 3}, 1)};
  for_each_batch(
      context, without, [](const Tensor& x) { return x + 1.0f; }, [&](std::size_t, const Tensor&) { ++taken; });
  EXPECT_EQ(taken, 2u);
}

TESSERA_ON_ALL_DEVICES(Batches);

}  // namespace
}  // namespace tessera::test::batches_test

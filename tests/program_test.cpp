// Programs: recorded once, run with other inputs, without planning, allocating or compiling.
#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::program_test {
namespace {

class Programs : public OnDevice {};

TEST_P(Programs, RunWithOtherInputs) {
  const Tensor weights = context().tensor({3}, {1, 10, 100});
  const Program program =
      Program::record(context(), {{.shape = {2, 3}}, {.shape = {}}}, [&](std::span<const Tensor> in) {
        const Tensor scaled = in[0] * in[1] + exp(weights * 0.0f);
        return std::vector{scaled, sum(scaled * weights, {{1}})};
      });
  for (int i = 0; i < 3; ++i) {
    const auto number = static_cast<float>(i);
    const std::vector<Tensor> out = program.run({context().full({2, 3}, number), context().full({}, 2)});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].read(), std::vector<float>(6, 2 * number + 1));
    EXPECT_EQ(out[1].read(), std::vector<float>(2, 111 * (2 * number + 1)));
  }
}

TEST_P(Programs, NothingIsPlannedAllocatedOrCompiledAfterTheFirstRun) {
  const Program program = Program::record(context(), {{.shape = {100, 100}}}, [](std::span<const Tensor> in) {
    const Tensor y = relu(in[0] - mean(in[0]));
    return std::vector{y * 2.0f, max(y)};
  });
  const Tensor frame = context().tensor({100, 100}, random_values(10000, -1, 1, 1)).compute();
  program.run({frame});
  context().wait();
  context().reset_stats();
  const MemoryInfo before = context().memory();
  for (int i = 0; i < 20; ++i) program.run({frame});
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
  EXPECT_EQ(context().stats().submits, 20u);
  EXPECT_EQ(context().memory().bytes_in_use + context().memory().bytes_pooled,
            before.bytes_in_use + before.bytes_pooled);
}

TEST_P(Programs, WhatDoesNotDependOnInputsIsComputedOnce) {
  const Tensor a = context().tensor({4}, {1, 2, 3, 4}), b = context().tensor({4}, {5, 6, 7, 8});
  const Program program = Program::record(context(), {{.shape = {4}}}, [&](std::span<const Tensor> in) {
    return std::vector{in[0] + exp(a) * b, a - b, in[0]};
  });
  context().reset_stats();
  const std::vector<Tensor> out = program.run({context().zeros({4})});
  EXPECT_EQ(context().stats().dispatches, 2u);  // the input, and the sum
  EXPECT_EQ(out[1].read(), std::vector<float>(4, -4));
  EXPECT_EQ(out[2].read(), std::vector<float>(4, 0));
}

TEST_P(Programs, Prepare) {
  const Program program = Program::record(context(), {{.shape = {5}}}, [](std::span<const Tensor> in) {
    return std::vector{atan2(in[0], in[0] + 3.25f) - floor_mod(in[0], 0.75f)};
  });
  program.prepare().get();
  context().reset_stats();
  program.run({context().tensor({5}, {1, 2, 3, 4, 5})});
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(Programs, NoElements) {
  const Program program = Program::record(context(), {{.shape = {0, 3}}}, [](std::span<const Tensor> in) {
    return std::vector{in[0] + 1.0f, sum(in[0])};
  });
  const std::vector<Tensor> out = program.run({context().zeros({0, 3})});
  EXPECT_TRUE(out[0].read().empty());
  EXPECT_EQ(out[1].read(), std::vector<float>{0});
}

TEST_P(Programs, BadInput) {
  const Program program = Program::record(context(), {{.shape = {2, 3}}},
                                          [](std::span<const Tensor> in) { return std::vector{in[0] + 1.0f}; });
  EXPECT_TESSERA_ERROR(program.run({}), invalid_argument, "1", "0");
  EXPECT_TESSERA_ERROR(program.run({context().zeros({3, 2})}), shape_mismatch, "[3,2]", "[2,3]");
  EXPECT_TESSERA_ERROR(program.run({context().zeros({2, 3}, DType::i32)}), dtype_mismatch, "i32", "f32");
  Context other = Context::create({.prefer = {BackendKind::cpu}});
  EXPECT_TESSERA_ERROR(program.run({other.zeros({2, 3})}), invalid_argument, "another context");
  EXPECT_TESSERA_ERROR(
      Program::record(context(), {{.shape = {1}}},
                      [](std::span<const Tensor> in) { return std::vector{(in[0] + 1.0f).compute()}; }),
      invalid_argument, "recorded");
  EXPECT_EQ(program.run({context().zeros({2, 3})})[0].read(), std::vector<float>(6, 1));
}

TEST_P(Programs, ConstantsThatAreReadLaterStayTheSame) {
  const Tensor two = context().full({4}, 2);
  const Program program = Program::record(context(), {{.shape = {4}}},
                                          [&](std::span<const Tensor> in) { return std::vector{in[0] * two}; });
  const Tensor x = context().tensor({4}, {1, 2, 3, 4});
  EXPECT_EQ(program.run({x})[0].read(), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(two.read(), std::vector<float>(4, 2));
  EXPECT_EQ(program.run({x})[0].read(), (std::vector<float>{2, 4, 6, 8}));
}

TEST_P(Programs, InputsOfAnotherProgramCannotBeCaptured) {
  Tensor leaked;
  const Program first = Program::record(context(), {{.shape = {2}}}, [&](std::span<const Tensor> in) {
    leaked = in[0];
    return std::vector{in[0] + 1.0f};
  });
  EXPECT_TESSERA_ERROR(Program::record(context(), {{.shape = {2}}},
                                       [&](std::span<const Tensor> in) { return std::vector{in[0] + leaked}; }),
                       invalid_argument, "record", "another program", "[2]");
  EXPECT_TESSERA_ERROR(
      Program::record(context(), {{.shape = {2}}},
                      [&](std::span<const Tensor> in) { return std::vector{first({leaked})[0] * in[0]}; }),
      invalid_argument, "another program");
  // A program that is recorded by the body of another one cannot use that one's inputs either.
  EXPECT_TESSERA_ERROR(Program::record(context(), {{.shape = {2}}},
                                       [&](std::span<const Tensor> outer) {
                                         const Program inner = Program::record(
                                             context(), {{.shape = {2}}},
                                             [&](std::span<const Tensor> in) { return std::vector{in[0] + outer[0]}; });
                                         return inner({outer[0]});
                                       }),
                       invalid_argument, "another program");
  EXPECT_TESSERA_ERROR(leaked.read(), invalid_argument, "run()");
  EXPECT_EQ(first.run({context().zeros({2})})[0].read(), std::vector<float>(2, 1));
}

TEST_P(Programs, PreparingNeedNotBeWaitedFor) {
  const Program program = Program::record(context(), {{.shape = {7}}}, [](std::span<const Tensor> in) {
    std::vector<Tensor> out;
    Tensor x = in[0];
    for (int i = 0; i < 6; ++i) {
      x = cumsum(sin(x) * 0.375f + static_cast<float>(i));
      for (int k = 0; k <= i; ++k) x = sqrt(abs(x)) + 0.125f;  // each kernel differs from the others
      out.push_back(x);
    }
    return out;
  });
  context().reset_stats();
  program.prepare();  // gives a future that is thrown away
  EXPECT_LT(context().stats().kernels_compiled, 6u);
  EXPECT_EQ(program.run({context().zeros({7})})[5].read().size(), 7u);
}

TEST_P(Programs, TakeAndGivePartsOfTensors) {
  const Program program = Program::record(context(), {{.shape = {3}}}, [](std::span<const Tensor> in) {
    const Tensor twice = in[0] * 2.0f;
    return std::vector{slice(twice, {1}, {2}), twice};
  });
  const Tensor whole = context().tensor({7}, {0, 1, 2, 3, 4, 5, 6});
  for (const std::int64_t first : {0, 2, 4}) {
    const std::vector<Tensor> out = program.run({slice(whole, {first}, {3})});
    const auto number = static_cast<float>(first);
    EXPECT_EQ(out[0].read(), (std::vector<float>{2 * number + 2, 2 * number + 4}));
    EXPECT_EQ(out[1].read(), (std::vector<float>{2 * number, 2 * number + 2, 2 * number + 4}));
  }
}

TEST_P(Programs, InputsThatArePendingRunInTheSameSubmission) {
  const Program program = Program::record(context(), {{.shape = {8}}},
                                          [](std::span<const Tensor> in) { return std::vector{sum(in[0] * in[0])}; });
  const Tensor x = context().full({8}, 3).compute();
  context().reset_stats();
  const Tensor result = program.run({x - 1.0f})[0];
  EXPECT_EQ(context().stats().submits, 1u);
  EXPECT_EQ(result.read(), std::vector<float>{32});
}

TEST_P(Programs, CalledLikeAnOperationTheyAreLazy) {
  const Program program = Program::record(context(), {{.shape = {8}}}, [](std::span<const Tensor> in) {
    return std::vector{in[0] - mean(in[0]), max(in[0])};
  });
  const Tensor x = context().tensor({8}, {1, 2, 3, 4, 5, 6, 7, 8}).compute();
  program.run({x});
  context().reset_stats();
  const std::vector<Tensor> out = program({x * 2.0f});
  EXPECT_EQ(context().stats().submits, 0u);
  const Tensor sum_of_squares = (sum(square(out[0])) + out[1]).compute();
  EXPECT_EQ(context().stats().submits, 1u);
  out[1].compute();  // has been, on the way
  EXPECT_EQ(context().stats().submits, 1u);
  EXPECT_EQ(sum_of_squares.read(), std::vector<float>{4 * 42 + 16});
  EXPECT_EQ(out[1].read(), std::vector<float>{16});
}

TEST_P(Programs, FollowOneAnotherInOneSubmission) {
  const Program program = Program::record(context(), {{.shape = {3}}},
                                          [](std::span<const Tensor> in) { return std::vector{in[0] + 1.0f}; });
  Tensor x = context().zeros({3});
  const int calls = 2000;
  for (int i = 0; i < calls; ++i) x = program({x})[0];
  context().reset_stats();
  x.compute();
  EXPECT_EQ(context().stats().submits, 1u);
  EXPECT_EQ(x.read(), std::vector<float>(3, calls));
}

TEST_P(Programs, BecomePartOfOneThatCallsThem) {
  const Program inner = Program::record(context(), {{.shape = {4}}},
                                        [](std::span<const Tensor> in) { return std::vector{in[0] * 2.0f}; });
  const Program outer = Program::record(context(), {{.shape = {4}}}, [&](std::span<const Tensor> in) {
    return std::vector{inner({inner({in[0] + 1.0f})[0]})[0] - 4.0f};
  });
  const Tensor x = context().tensor({4}, {1, 2, 3, 4}).compute();
  context().reset_stats();
  EXPECT_EQ(outer.run({x})[0].read(), (std::vector<float>{4, 8, 12, 16}));
  EXPECT_EQ(context().stats().dispatches, 1u);
}

TEST_P(Programs, WhatFailsIsNotHalfDone) {
  const Program program = Program::record(context(), {{.shape = {2}}},
                                          [](std::span<const Tensor> in) { return std::vector{in[0] * 3.0f}; });
  const Tensor x = context().tensor({2}, {1, 2});
  const Tensor y = program({x})[0];
  // The program is gathered before what cannot be computed is met.
  EXPECT_TESSERA_ERROR(Program::record(context(), {{.shape = {2}}},
                                       [&](std::span<const Tensor> in) { return std::vector{(in[0] + y).compute()}; }),
                       invalid_argument, "recorded");
  EXPECT_EQ(y.read(), (std::vector<float>{3, 6}));
}

TEST_P(Programs, NoMoreSubmissionsAreUnderWayThanAllowed) {
  for (const std::size_t most : {1, 2, 5}) {
    Context paced = Context::create(
        {.prefer = {GetParam().backend}, .driver = GetParam().driver, .max_submissions_under_way = most});
    Tensor x = paced.full({1 << 14}, 0).compute();
    for (int i = 0; i < 30; ++i) {
      x = (sin(x) * 0.0f + static_cast<float>(i)).compute();
      ASSERT_LE(paced.submissions_under_way(), most);
    }
    EXPECT_EQ(x.read()[5], 29.0f);
    paced.wait();
    EXPECT_EQ(paced.submissions_under_way(), 0u);
  }
}

TESSERA_ON_ALL_DEVICES(Programs);

}  // namespace
}  // namespace tessera::test::program_test

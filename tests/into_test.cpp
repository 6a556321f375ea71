// Results in storages that tensors have already: a ring of frames allocates nothing.
#include <gmock/gmock.h>

#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::into_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class Into : public OnDevice {};

std::uint64_t held_bytes(const Context& gpu) { return gpu.memory().bytes_in_use + gpu.memory().bytes_pooled; }

TEST_P(Into, AnEmptyTargetBecomesTheResult) {
  Context& gpu = context();
  const Tensor x = gpu.tensor({3}, {1, 2, 3});
  Tensor target;
  (x + 1.0f).compute_into(target);
  EXPECT_TRUE(target.is_computed());
  EXPECT_THAT(target.read(), ElementsAre(2, 3, 4));
  Tensor pending = gpu.zeros({3});  // has no storage yet
  (x * 2.0f).compute_into(pending);
  EXPECT_THAT(pending.read(), ElementsAre(2, 4, 6));
  target.compute_into(target);
  EXPECT_THAT(target.read(), ElementsAre(2, 3, 4));
}

TEST_P(Into, AHundredFramesAllocateNothingAndTakeOneKernelEach) {
  Context gpu = open(GetParam());
  const Tensor image = gpu.tensor({8, 8, 4}, std::vector<float>(256, 0.5f)).compute();
  std::vector<Tensor> ring(3);
  const auto frame = [&](int i) {
    // The one before is read, and its lineage refers to what is overwritten.
    const Tensor& before = ring[static_cast<std::size_t>((i + 2) % 3)];
    (before * 0.5f + image * static_cast<float>(i)).compute_into(ring[static_cast<std::size_t>(i % 3)]);
  };
  for (Tensor& each : ring) (image * 0.0f).compute_into(each);
  for (int i = 0; i < 6; ++i) frame(i);
  gpu.trim();
  const std::uint64_t bytes = held_bytes(gpu);
  gpu.reset_stats();
  for (int i = 6; i < 106; ++i) {
    frame(i);
    ASSERT_EQ(held_bytes(gpu), bytes) << "frame " << i;
  }
  EXPECT_EQ(gpu.memory().bytes_peak, gpu.memory().bytes_in_use);
  EXPECT_EQ(gpu.stats().dispatches, 100u);
  double expected = 0;
  for (int i = 0; i < 106; ++i) expected = expected * 0.5 + 0.5 * i;
  EXPECT_THAT(ring[105 % 3].read(), Each(::testing::FloatNear(static_cast<float>(expected), 1e-3f)));
}

TEST_P(Into, ResultsOfAProgramComeThereByTheProgramsOwnKernels) {
  Context& gpu = context();
  const Program program = Program::record(gpu, {{.shape = {4, 6}}}, [&](std::span<const Tensor> in) {
    return std::vector{softmax(in[0]), in[0] * 3.0f};
  });
  const Tensor x = gpu.tensor({4, 6}, std::vector<float>(24, 2.0f)).compute();
  std::vector<Tensor> targets(2);
  gpu.compute_into(program({x}), targets);
  const std::uint64_t bytes = gpu.memory().bytes_in_use;
  gpu.reset_stats();
  gpu.compute_into(program({x + 1.0f}), targets);
  EXPECT_EQ(gpu.stats().submits, GetParam().backend == BackendKind::cpu ? gpu.stats().submits : 1u);
  const std::uint64_t kernels = gpu.stats().dispatches;
  EXPECT_THAT(targets[0].read(), Each(::testing::FloatNear(1.0f / 6, 1e-6f)));
  EXPECT_THAT(targets[1].read(), Each(9.0f));
  EXPECT_EQ(gpu.memory().bytes_in_use, bytes);
  gpu.reset_stats();
  program.run({x + 1.0f});
  EXPECT_EQ(kernels, gpu.stats().dispatches);  // no copies
  Tensor flat;
  program({x})[1].reshape({24}).compute_into(flat);
  program({x + 2.0f})[1].reshape({24}).compute_into(flat);
  EXPECT_THAT(flat.read(), Each(12.0f));
}

TEST_P(Into, WhatIsThereAlreadyIsCopied) {
  Context& gpu = context();
  const Tensor x = gpu.tensor({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}).compute();
  Tensor whole, row, number, upload;
  for (int i = 0; i < 2; ++i) {
    x.compute_into(whole);
    slice(x, {1, 0}, {1, 4}).compute_into(row);
    gpu.full({5}, i + 1).compute_into(number);
    gpu.tensor({2}, {7, 8}).compute_into(upload);
    // The empty ones became what was given, storage and all: let go of it.
    if (i == 0) whole = whole * 1.0f, row = (row * 1.0f).compute(), number = number * 1.0f, upload = upload * 1.0f;
    if (i == 0) gpu.compute(std::vector{whole, number, upload});
  }
  EXPECT_THAT(whole.read(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(row.read(), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(number.read(), Each(2.0f));
  EXPECT_THAT(upload.read(), ElementsAre(7, 8));
  EXPECT_THAT(x.read(), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST_P(Into, EveryTypeAndAnUploadAsTheTarget) {
  Context& gpu = context();
  const Tensor x = gpu.tensor({5}, {0, 1, 2, 3, 4}).compute();
  for (const DType dtype : {DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean}) {
    Tensor target = (x * 0.5f).cast(dtype).compute();
    x.cast(dtype).compute_into(target);
    EXPECT_EQ(target.read<float>(), x.cast(dtype).read<float>()) << to_string(dtype);
  }
  Tensor upload = gpu.tensor({5}, {9, 9, 9, 9, 9}).compute();
  const Tensor before = (upload + 1.0f).compute();  // rests on the upload's copy on the host
  (x * 3.0f).compute_into(upload);
  EXPECT_THAT(upload.read(), ElementsAre(0, 3, 6, 9, 12));
  EXPECT_THAT(before.read(), Each(10.0f));
}

TEST_P(Into, LostDevicesRebuildBothTheOldAndTheNew) {
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "the cpu is never lost";
  Context gpu = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  const Tensor x = gpu.tensor({4}, {1, 2, 3, 4});
  Tensor upload = gpu.tensor({4}, {5, 6, 7, 8}).compute(), made = (x * 2.0f).compute();
  const Tensor of_upload = (upload + x).compute(), of_made = (made + x).compute();
  (x * 10.0f).compute_into(upload);
  (x * 20.0f).compute_into(made);
  testing::lose_device(gpu);
  EXPECT_THAT(of_upload.read(), ElementsAre(6, 8, 10, 12));
  EXPECT_THAT(of_made.read(), ElementsAre(3, 6, 9, 12));
  EXPECT_THAT(upload.read(), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(made.read(), ElementsAre(20, 40, 60, 80));
  testing::lose_device(gpu, testing::Moment::before, 1);
  (x * 30.0f).compute_into(made);
  EXPECT_THAT(made.read(), ElementsAre(30, 60, 90, 120));
}

TEST_P(Into, RefusesTargetsThatDoNotFitOrThatOthersRead) {
  Context& gpu = context();
  const Tensor x = gpu.tensor({2, 3}, {1, 2, 3, 4, 5, 6}).compute(), twice = x * 2.0f;
  Tensor wide = gpu.zeros({3, 2}), ints = gpu.zeros({2, 3}, DType::i32);
  EXPECT_TESSERA_ERROR(twice.compute_into(wide), shape_mismatch, "compute_into", "[2,3]", "[3,2]");
  EXPECT_TESSERA_ERROR(twice.compute_into(ints), dtype_mismatch, "compute_into", "f32", "i32");
  Tensor target = (x + 1.0f).compute();
  {
    const Tensor other = target;
    EXPECT_TESSERA_ERROR(twice.compute_into(target), invalid_argument, "compute_into", "not the only one");
  }
  {
    const Tensor pending = target + 1.0f;
    EXPECT_TESSERA_ERROR(twice.compute_into(target), invalid_argument, "compute_into", "not computed");
    EXPECT_TESSERA_ERROR(pending.compute_into(target), invalid_argument, "the result itself");
  }
  {
    Tensor view = target.reshape({6});
    EXPECT_TESSERA_ERROR(twice.compute_into(target), invalid_argument, "compute_into");
    view.compute();
    EXPECT_TESSERA_ERROR(twice.compute_into(target), invalid_argument, "shares its storage");
    EXPECT_TESSERA_ERROR(twice.reshape({6}).compute_into(view), invalid_argument, "view");
  }
  std::vector<Tensor> both{target, target};
  EXPECT_TESSERA_ERROR(gpu.compute_into(std::vector{twice, twice}, both), invalid_argument, "not the only one");
  both.clear();
  EXPECT_TESSERA_ERROR(gpu.compute_into(std::vector{twice}, both), invalid_argument, "1 results", "0 targets");
  Context other = open(all_devices().back());
  Tensor foreign = other.zeros({2, 3});
  EXPECT_TESSERA_ERROR(twice.compute_into(foreign), invalid_argument, "compute_into", "another one on");
  EXPECT_THAT(target.read(), ElementsAre(2, 3, 4, 5, 6, 7));
  twice.compute_into(target);  // now nobody else reads it
  EXPECT_THAT(target.read(), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_P(Into, ReadsUnderWayGetTheElementsFromBefore) {
  Context& gpu = context();
  const Tensor x = gpu.tensor({4}, {1, 2, 3, 4}).compute();
  Tensor target = (x * 2.0f).compute();
  auto before = target.read_async();
  (x * 3.0f).compute_into(target);
  EXPECT_THAT(before.get(), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(target.read(), ElementsAre(3, 6, 9, 12));
}

TEST_P(Into, ATargetIsEmptyAfterWorkThatFailsOnTheWay) {
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "the cpu is never lost";
  Context gpu =
      Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver, .survive_device_loss = false});
  const Tensor x = gpu.tensor({4}, {1, 2, 3, 4}).compute();
  Tensor target = (x + 1.0f).compute();
  EXPECT_TESSERA_ERROR(gpu.compute_into(std::vector{x}, std::span(&target, std::size_t{0})), invalid_argument,
                       "0 targets");
  EXPECT_FALSE(target.is_empty());
  testing::lose_device(gpu, testing::Moment::before, 1);
  EXPECT_TESSERA_ERROR((x * 2.0f).compute_into(target), device_lost, "lost");
  EXPECT_TRUE(target.is_empty());
  gpu.tensor({4}, {5, 6, 7, 8}).compute_into(target);
  EXPECT_THAT(target.read(), ElementsAre(5, 6, 7, 8));
}

TESSERA_ON_ALL_DEVICES(Into);

}  // namespace
}  // namespace tessera::test::into_test

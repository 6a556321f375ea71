// What takes device memory, and what keeping track of it costs.
#include <malloc.h>

#include "support/devices.h"
#include <tessera/testing.h>

namespace tessera::test::memory_test {
namespace {

constexpr std::uint64_t megabyte = 1 << 20;
constexpr std::int64_t side = 512;  // a tensor of one megabyte

class Memory : public OnDevice {};

const Resident* find(const std::vector<Resident>& all, const std::string& label) {
  for (const Resident& resident : all)
    if (resident.label == label) return &resident;
  return nullptr;
}

TEST_P(Memory, TellsWhatIsThereAndWhy) {
  Context context = open(GetParam());
  const Tensor small = context.full({100}, 1).compute();
  const Tensor uploaded = context.tensor({side, side}, std::vector<float>(side * side, 2)).label("weights").compute();
  const Tensor doubled = (uploaded * 2.0f).label("doubled").compute();
  const Tensor half = (context.full({2 * side, side}, 1)).label("half").cast(DType::f16).compute();
  const Tensor copy = doubled;
  const Tensor view = doubled.reshape({side * side}).compute();
  const Tensor pending = doubled + 1.0f;

  const std::vector<Resident> found = context.why_resident();
  ASSERT_EQ(found.size(), 3u) << to_string(found);
  const Resident* weights = find(found, "weights");
  ASSERT_TRUE(weights) << to_string(found);
  EXPECT_EQ(weights->op, "tensor");
  EXPECT_EQ(weights->shape, Shape({side, side}));
  EXPECT_EQ(weights->dtype, DType::f32);
  EXPECT_GE(weights->bytes, megabyte);
  EXPECT_EQ(weights->holders, 1);
  const Resident* of_doubled = find(found, "doubled");
  ASSERT_TRUE(of_doubled) << to_string(found);
  EXPECT_EQ(of_doubled->op, "mul");
  EXPECT_EQ(of_doubled->holders, 4);  // two handles, the view, and what is pending
  const Resident& unnamed = *find(found, "");
  EXPECT_EQ(unnamed.op, "cast");
  EXPECT_EQ(unnamed.dtype, DType::f16);
  EXPECT_EQ(unnamed.shape, Shape({2 * side, side}));
  for (const Resident& resident : found)
    EXPECT_FALSE(resident.is_lent || resident.is_borrowed || resident.is_spilled) << to_string(resident);

  EXPECT_EQ(context.why_resident(1).size(), 4u);
  EXPECT_TRUE(context.why_resident(std::uint64_t{1} << 40).empty());
  EXPECT_NE(to_string(found).find("\"weights\""), std::string::npos) << to_string(found);
  EXPECT_NE(to_string(found).find("3 tensors"), std::string::npos) << to_string(found);
}

TEST_P(Memory, ListsTheLargestFirstAndWhatIsSpilled) {
  Context context =
      Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver, .memory_budget = 4 * megabyte});
  std::vector<Tensor> held;
  for (int i = 0; i < 6; ++i)
    held.push_back(
        context.full({i < 5 ? side : side / 2, side}, static_cast<float>(i)).label(std::to_string(i)).compute());
  const std::vector<Resident> found = context.why_resident(1);
  ASSERT_EQ(found.size(), 6u);
  std::uint64_t spilled = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i > 0) {
      EXPECT_GE(found[i - 1].bytes, found[i].bytes);
    }
    if (found[i].is_spilled) spilled += megabyte;
    EXPECT_EQ(found[i].op, "full");
  }
  EXPECT_EQ(spilled, context.memory().bytes_spilled);
  EXPECT_GT(spilled, 0u);
  EXPECT_TRUE(find(found, "0")->is_spilled) << "the least recently used one";
}

TEST_P(Memory, LabelsAndOriginsOutliveTheDevice) {
  if (GetParam().backend == BackendKind::cpu) GTEST_SKIP() << "the host's memory is not lost";
  Context context = Context::create({.prefer = {GetParam().backend}, .driver = GetParam().driver});
  const Tensor x = (context.full({side, side}, 1) * 3.0f).label("x").compute();
  testing::lose_device(context);
  EXPECT_EQ(x.read()[5], 3);
  const std::vector<Resident> found = context.why_resident();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].label, "x");
  EXPECT_EQ(found[0].holders, 1);
}

TEST_P(Memory, LabelsNeedATensor) { EXPECT_TESSERA_ERROR(Tensor().label("x"), invalid_argument, "empty"); }

TEST_P(Memory, OfScalarsIsSmall) {
  Context context = open(GetParam());
  std::vector<Tensor> held;
  for (int i = 0; i < 500; ++i) {
    held.push_back(context.full({}, static_cast<float>(i)).compute());
    held.push_back(context.tensor({1}, {static_cast<float>(i)}).compute());
  }
  EXPECT_EQ(context.memory().num_tensors, 1000);
  EXPECT_LE(context.memory().bytes_in_use, 1000u * 16);  // a texel each
  EXPECT_EQ(held[998].read()[0], 499);
  held.clear();
  context.trim();
  EXPECT_EQ(context.memory().bytes_in_use + context.memory().bytes_pooled, 0u);
}

TEST_P(Memory, OfADeviceIsWhatTensorsNeed) {
  Context context = open(GetParam());
  std::vector<Tensor> held;
  for (int i = 0; i < 16; ++i) held.push_back(context.full({side, side}, static_cast<float>(i)).compute());
  const MemoryInfo info = context.memory();
  EXPECT_EQ(info.num_tensors, 16);
  EXPECT_EQ(info.num_bytes, 16 * megabyte);
  EXPECT_LT(static_cast<double>(info.bytes_in_use), 1.1 * static_cast<double>(info.num_bytes));
  RecordProperty("device_bytes_per_megabyte", std::to_string(info.bytes_in_use / 16));
  std::printf("device bytes for a tensor of 1048576: %llu\n", static_cast<unsigned long long>(info.bytes_in_use / 16));
}

TEST_P(Memory, OfADeviceIsLittleMoreThanElementsOfAnyNumber) {
  Context context = open(GetParam());
  const auto extra = [&](DType dtype, std::int64_t elements) {
    const Tensor x = context.full({elements}, 1, dtype).compute();
    const MemoryInfo info = context.memory();
    EXPECT_EQ(info.num_bytes, static_cast<std::uint64_t>(elements) * size_of(dtype));
    const double taken = static_cast<double>(info.bytes_in_use) / static_cast<double>(info.num_bytes);
    EXPECT_LT(taken, 1.1) << elements << " elements of " << to_string(dtype);
    return taken - 1;
  };
  double most = 0;
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8, DType::boolean})
    for (const std::int64_t kilobytes : {64, 72, 90, 127, 128, 160, 510})
      for (const std::int64_t beyond : {0, 1, 5}) {
        const auto elements = kilobytes * 1024 / static_cast<std::int64_t>(size_of(dtype)) + beyond;
        most = std::max(most, extra(dtype, elements));
        context.trim();  // a larger storage that is free does as well
      }
  std::printf("device bytes beyond the elements: at most %.1f %%\n", 100 * most);
}

TESSERA_ON_ALL_DEVICES(Memory);

std::uint64_t allocated_by_host() {
#ifdef __GLIBC__
  const auto info = mallinfo2();
#else
  const auto info = mallinfo();
#endif
  return static_cast<std::uint64_t>(info.uordblks) + static_cast<std::uint64_t>(info.hblkhd);
}

// On the cpu backend, where the elements are the host's too: all that is allocated beyond them is tracking.
TEST(Tracking, TakesLittleOfTheHostsMemory) {
  Context context = Context::create({.prefer = {BackendKind::cpu}});
  context.full({side, side}, 1).compute();
  context.trim();
  constexpr int count = 64;
  std::vector<Tensor> held(count);
  const std::uint64_t before = allocated_by_host();
  for (int i = 0; i < count; ++i)
    held[static_cast<std::size_t>(i)] = context.full({side, side}, static_cast<float>(i)).label("tracked").compute();
  const std::uint64_t taken = allocated_by_host() - before;
  if (taken < count * megabyte) GTEST_SKIP() << "this allocator does not tell what it gives";
  const std::uint64_t overhead = (taken - count * megabyte) / count;
  EXPECT_LT(overhead, megabyte / 10);
  std::printf("host bytes to track a tensor: %llu\n", static_cast<unsigned long long>(overhead));
}

}  // namespace
}  // namespace tessera::test::memory_test

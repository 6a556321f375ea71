// Scatters with so many updates that the device sorts them, against plain loops: core/ops/scatter.cpp has the rule.
#include <cstdint>
#include <functional>

#include "support/compare.h"
#include "support/devices.h"
#include "support/host_tensor.h"

namespace tessera::test::scatter_test {
namespace {

class Scatters : public OnDevice {
 protected:
  Tensor i32(const Shape& shape, const std::vector<std::int32_t>& values) { return context().tensor(shape, values); }
  std::uint64_t dispatches(const Tensor& tensor) { return dispatches_of(context(), tensor); }
  bool is_cpu() { return context().backend() == BackendKind::cpu; }

  std::vector<std::int32_t> indices(std::int64_t count, std::int64_t low, std::int64_t high) {
    std::vector<std::int32_t> values;
    for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<std::int32_t>(choices_.between(low, high)));
    return values;
  }

  // Sums floats of which no sum is exact, and compares each bit.
  void expect_sums(const std::vector<std::int32_t>& places, std::int64_t size) {
    const auto count = static_cast<std::int64_t>(places.size());
    SCOPED_TRACE(std::to_string(count) + " updates of " + std::to_string(size) + " elements");
    const std::vector<float> updates = random_values(places.size(), -1, 1, 5);
    std::vector<float> want(static_cast<std::size_t>(size), 0), last(want);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const std::int64_t place = places[i] < 0 ? places[i] + size : places[i];
      if (place < 0 || place >= size) continue;
      want[static_cast<std::size_t>(place)] += updates[i];
      last[static_cast<std::size_t>(place)] = updates[i];
    }
    const Tensor rows = i32({count, 1}, places), values = context().tensor({count}, updates);
    EXPECT_EQ(scatter_nd(rows, values, {size}).read(), want);
    EXPECT_EQ(scatter_update(context().zeros({size}), rows, values).read(), last);
  }

  Choices choices_{23};
};

TEST_P(Scatters, AroundTheBound) {
  struct Case {
    std::int64_t updates, elements;
  };
  // Of each two, the first is not sorted yet.
  for (const Case& each : {Case{2304, 4096}, Case{2305, 4096}, Case{300, 27957}, Case{300, 27958}})
    expect_sums(indices(each.updates, -each.elements - 20, each.elements + 20), each.elements);
}

TEST_P(Scatters, OfManyUpdatesForFewPlaces) {
  constexpr std::int64_t count = 4200, size = 4111;
  const std::vector<std::int32_t> same(count, 17);
  expect_sums(same, size);
  expect_sums(std::vector<std::int32_t>(count, size - 1), size);
  expect_sums(std::vector<std::int32_t>(count, size), size);  // all are dropped
  expect_sums(std::vector<std::int32_t>(count, INT32_MIN), size);
  std::vector<std::int32_t> mixed = indices(count, -size, size - 1);
  for (std::size_t i = 0; i < mixed.size(); i += 3) mixed[i] = i % 2 ? INT32_MAX : 4;
  expect_sums(mixed, size);
}

TEST_P(Scatters, IntoOneRow) {
  const Tensor updates = context().tensor({3, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  const Tensor rows = i32({3, 1}, {0, 1, -1}), x = context().zeros({1, 5});
  EXPECT_EQ(scatter_nd(rows, updates, {1, 5}).read(), (std::vector<float>{12, 14, 16, 18, 20}));
  EXPECT_EQ(scatter_update(x, rows, updates).read(), (std::vector<float>{11, 12, 13, 14, 15}));
}

TEST_P(Scatters, OfSlicesOfEachType) {
  const Shape shape{40, 36, 3};
  const std::vector<std::int32_t> places = indices(2 * 64 * 65, -42, 42);  // of two axes, neither of which has all
  for (const DType dtype : every_dtype) {
    SCOPED_TRACE(to_string(dtype));
    const HostTensor updates = choices_.tensor({64, 65, 3}, dtype);
    HostTensor want{shape, std::vector<float>(40 * 36 * 3, 0)}, last = choices_.tensor(shape, dtype);
    const Tensor x = last.on(context(), dtype);
    for (std::size_t i = 0; i < updates.values.size(); ++i) {
      const std::int32_t at[] = {places[i / 3 * 2], places[i / 3 * 2 + 1]};
      const std::int32_t row = at[0] < 0 ? at[0] + 40 : at[0], column = at[1] < 0 ? at[1] + 36 : at[1];
      if (row < 0 || row >= 40 || column < 0 || column >= 36) continue;
      const std::size_t place = static_cast<std::size_t>(row * 36 + column) * 3 + i % 3;
      want.values[place] += updates.values[i];
      last.values[place] = updates.values[i];
    }
    for (float& value : want.values) {
      if (dtype == DType::boolean) value = value != 0;
      if (dtype == DType::i8) value = static_cast<std::int8_t>(static_cast<int>(value));
      if (dtype == DType::u8) value = static_cast<std::uint8_t>(static_cast<int>(value));
    }
    const Tensor rows = i32({64, 65, 2}, places);
    expect_equal(scatter_nd(rows, updates.on(context(), dtype), shape), want);
    expect_equal(scatter_update(x, rows, updates.on(context(), dtype)), last);
  }
}

TEST_P(Scatters, Dispatches) {
  const auto dispatches_for = [&](std::int64_t count, std::int64_t rows, std::int64_t trailing = 1) {
    const Tensor updates = context().zeros({count, trailing}).compute();
    return dispatches(scatter_nd(i32({count, 1}, indices(count, 0, 9)).compute(), updates, {rows, trailing}));
  };
  EXPECT_EQ(dispatches_for(2304, 4096), 2u);  // rows, sums
  // Rows, keys, ranks, blocks of 64 updates; merges of 37, 19, 10, 5, 3 and 2 of them; starts of runs, sums. The last
  // three merges are of more than 256 updates each, which takes two kernels on OpenGL ES.
  const std::uint64_t sorted = is_cpu() ? 2 : GetParam().backend == BackendKind::gles ? 15 : 12;
  EXPECT_EQ(dispatches_for(2305, 4096), sorted);
  EXPECT_EQ(dispatches_for(300, 27957), 2u);
  EXPECT_EQ(dispatches_for(300, 27958), is_cpu() ? 2u : 9u);
  // Few elements, few updates and few rows are never sorted.
  EXPECT_EQ(dispatches_for(100'000, 2048), 2u);
  EXPECT_EQ(dispatches_for(128, 100'000), 2u);
  EXPECT_EQ(dispatches_for(2305, 16, 300), 2u);
  EXPECT_EQ(dispatches_for(2305, 17, 300), sorted);
  // Work before and after joins the last kernel.
  const Tensor rows = i32({2305, 1}, indices(2305, 0, 4095)).compute(), updates = context().zeros({2305}).compute();
  const Tensor x = context().zeros({4096}).compute();
  EXPECT_EQ(dispatches(relu(scatter_nd(rows, abs(updates), {4096})) + x), sorted);
  EXPECT_EQ(dispatches(relu(scatter_update(x * 2.0f, rows, abs(updates)))), sorted);
}

TESSERA_ON_EACH_BACKEND(Scatters);

}  // namespace
}  // namespace tessera::test::scatter_test

// Sorting, against the standard library and against published definitions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::sort_test {
namespace {

using Indices = std::vector<std::int32_t>;
constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

bool is_below(float a, float b) { return a < b || (!std::isnan(a) && std::isnan(b)); }

class Sorting : public OnDevice {
 protected:
  // Of x [outer, count, inner] along its second axis: the first k indices of each stretch in order.
  static Indices by_hand(const std::vector<float>& values, std::int64_t count, std::int64_t inner, std::int64_t k,
                         bool descending) {
    const std::int64_t rows = static_cast<std::int64_t>(values.size()) / count;
    Indices result(static_cast<std::size_t>(rows * k));
    for (std::int64_t row = 0; row < rows; ++row) {
      Indices order(static_cast<std::size_t>(count));
      std::iota(order.begin(), order.end(), 0);
      const auto value = [&](std::int32_t index) {
        return values[static_cast<std::size_t>((row / inner * count + index) * inner + row % inner)];
      };
      std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return descending ? is_below(value(b), value(a)) : is_below(value(a), value(b));
      });
      for (std::int64_t i = 0; i < k; ++i)
        result[static_cast<std::size_t>((row / inner * k + i) * inner + row % inner)] =
            order[static_cast<std::size_t>(i)];
    }
    return result;
  }

  static std::vector<float> taken(const std::vector<float>& values, const Indices& indices, std::int64_t count,
                                  std::int64_t inner, std::int64_t k) {
    std::vector<float> result;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(indices.size()); ++i) {
      const std::int64_t outer = i / (inner * k);
      result.push_back(
          values[static_cast<std::size_t>((outer * count + indices[static_cast<std::size_t>(i)]) * inner + i % inner)]);
    }
    return result;
  }

  // Values with many ties, so that a wrong order among equals shows.
  static std::vector<float> values_for(const Shape& shape) {
    std::vector<float> values = random_values(static_cast<std::size_t>(shape.size()), -50, 50, 8);
    for (float& value : values) value = std::round(value) * 0.5f;
    return values;
  }

  void check(const Shape& shape, int axis, std::int64_t k, bool descending) {
    SCOPED_TRACE(shape.to_string() + " along " + std::to_string(axis) + ", the first " + std::to_string(k));
    std::int64_t inner = 1;
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
    const std::vector<float> values = values_for(shape);
    const Tensor x = context().tensor(shape, values);
    const Indices expected = by_hand(values, shape[axis], inner, k, descending);
    const TopK top = top_k(x, k, axis, descending);
    EXPECT_EQ(top.values.shape()[axis], k);
    EXPECT_EQ(top.indices.read<std::int32_t>(), expected);
    EXPECT_EQ(top.values.read(), taken(values, expected, shape[axis], inner, k));
    if (k != shape[axis]) return;
    EXPECT_EQ(argsort(x, axis, descending).read<std::int32_t>(), expected);
    EXPECT_EQ(sort(x, axis, descending).read(), taken(values, expected, shape[axis], inner, k));
  }
};

// The examples of ONNX's TopK.
TEST_P(Sorting, PublishedExamples) {
  const Tensor x = context().tensor({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const TopK largest = top_k(x, 3, 1);
  EXPECT_EQ(largest.values.read(), (std::vector<float>{3, 2, 1, 7, 6, 5, 11, 10, 9}));
  EXPECT_EQ(largest.indices.read<std::int32_t>(), (Indices{3, 2, 1, 3, 2, 1, 3, 2, 1}));
  EXPECT_EQ(largest.values.shape(), (Shape{3, 3}));
  const Tensor y = context().tensor({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 11, 10, 9, 8});
  const TopK smallest = top_k(y, 3, 1, false);
  EXPECT_EQ(smallest.values.read(), (std::vector<float>{0, 1, 2, 4, 5, 6, 8, 9, 10}));
  EXPECT_EQ(smallest.indices.read<std::int32_t>(), (Indices{0, 1, 2, 0, 1, 2, 3, 2, 1}));
  const Tensor same = context().full({2, 3}, 7);  // "given two equivalent values, the lower index"
  EXPECT_EQ(top_k(same, 2).indices.read<std::int32_t>(), (Indices{0, 1, 0, 1}));
  // Those of numpy.sort and numpy.argsort.
  const Tensor z = context().tensor({2, 2}, {1, 4, 3, 1});
  EXPECT_EQ(sort(z).read(), (std::vector<float>{1, 4, 1, 3}));
  EXPECT_EQ(sort(z, 0).read(), (std::vector<float>{1, 1, 3, 4}));
  EXPECT_EQ(argsort(context().tensor({3}, {3, 1, 2})).read<std::int32_t>(), (Indices{1, 2, 0}));
}

TEST_P(Sorting, LengthsAroundEachStage) {
  for (const std::int64_t length :
       {1, 2, 3, 4, 5, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000, 1024, 1025, 5000, 33333}) {
    check({length}, 0, length, false);
    check({3, length}, 1, length, true);
  }
}

TEST_P(Sorting, EveryAxis) {
  for (const bool descending : {false, true}) {
    for (const int axis : {0, 1, 2}) check({5, 6, 7}, axis, Shape({5, 6, 7})[axis], descending);
    check({130, 3}, 0, 130, descending);
    check({2, 70, 5}, 1, 70, descending);
  }
  check({2, 3, 2, 5, 2, 3}, 3, 5, true);
}

TEST_P(Sorting, TheFirstFewOfMany) {
  for (const std::int64_t k : {1, 2, 5, 63, 64, 65, 200}) {
    check({2, 1000}, 1, k, true);
    check({201, 3}, 0, k, false);
  }
  check({5000}, 0, 3, true);
  check({5001}, 0, 700, true);  // blocks that are cut in the middle of a run
  check({4, 10}, 1, 7, true);
}

TEST_P(Sorting, SpecialValues) {
  const std::vector<float> values{nan, 1, -infinity, infinity, -0.0f, 0.0f, nan, -1e-38f, 1e-38f, -0.0f};
  const Tensor x = context().tensor({10}, values);
  EXPECT_EQ(argsort(x).read<std::int32_t>(), (Indices{2, 7, 4, 5, 9, 8, 1, 3, 0, 6}));
  EXPECT_EQ(argsort(x, 0, true).read<std::int32_t>(), (Indices{0, 6, 3, 1, 8, 4, 5, 9, 7, 2}));
  const std::vector<float> sorted = sort(x).read();
  EXPECT_TRUE(all_agree(sorted, {-infinity, -1e-38f, 0, 0, 0, 1e-38f, 1, infinity, nan, nan}, 0));
  EXPECT_TRUE(std::signbit(sorted[2]) && !std::signbit(sorted[3]) &&
              std::signbit(sorted[4]));  // zeros keep their order
  std::vector<float> many(300, nan);
  many[299] = -3;
  EXPECT_EQ(sort(context().tensor({300}, many)).read()[0], -3);
}

TEST_P(Sorting, ElementTypes) {
  const Tensor halves = context().tensor({5}, as<half>({3, -2, 0.5f, 65504, -2}));
  EXPECT_EQ(sort(halves).read(), (std::vector<float>{-2, -2, 0.5f, 3, 65504}));
  EXPECT_EQ(sort(halves).dtype(), DType::f16);
  EXPECT_EQ(argsort(halves).read<std::int32_t>(), (Indices{1, 4, 2, 0, 3}));
  // Integers that a float cannot tell apart, and both ends of their range.
  const Tensor whole = context().tensor({6}, Indices{16777217, 2147483647, 16777216, -2147483647 - 1, 0, 2147483647});
  EXPECT_EQ(sort(whole).read<std::int32_t>(),
            (Indices{-2147483647 - 1, 0, 16777216, 16777217, 2147483647, 2147483647}));
  EXPECT_EQ(argsort(whole).read<std::int32_t>(), (Indices{3, 4, 2, 0, 1, 5}));
  EXPECT_EQ(argsort(whole, 0, true).read<std::int32_t>(), (Indices{1, 5, 0, 2, 4, 3}));
  const Tensor bytes = context().tensor({5}, std::vector<std::int8_t>{-128, 127, 0, -1, 127});
  EXPECT_EQ(sort(bytes, 0, true).read<std::int8_t>(), (std::vector<std::int8_t>{127, 127, 0, -1, -128}));
  const Tensor unsigned_bytes = context().tensor({5}, std::vector<std::uint8_t>{200, 0, 255, 128, 0});
  EXPECT_EQ(top_k(unsigned_bytes, 3).values.read<std::uint8_t>(), (std::vector<std::uint8_t>{255, 200, 128}));
  EXPECT_EQ(top_k(unsigned_bytes, 3, 0, false).indices.read<std::int32_t>(), (Indices{1, 4, 3}));
}

TEST_P(Sorting, NoElements) {
  EXPECT_EQ(sort(context().zeros({2, 0})).shape(), (Shape{2, 0}));
  EXPECT_EQ(argsort(context().zeros({0, 3})).shape(), (Shape{0, 3}));
  EXPECT_TRUE(argsort(context().zeros({0})).read<std::int32_t>().empty());
  const TopK none = top_k(context().zeros({2, 3}), 0);
  EXPECT_EQ(none.values.shape(), (Shape{2, 0}));
  EXPECT_EQ(none.indices.dtype(), DType::i32);
}

TEST_P(Sorting, ShortRowsTakeFourKernels) {
  const Tensor x = context().tensor({4, 16}, random_values(64, -1, 1, 2)).compute();
  context().reset_stats();
  const Tensor sorted = (sort(x) * 2.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 4u);
  EXPECT_EQ(context().stats().submits, 1u);
  const Tensor other = context().tensor({2, 30}, random_values(60, -1, 1, 3)).compute();
  context().reset_stats();
  const Tensor also_sorted = (sort(other, 0, true) * 3.0f).compute();
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
  const Tensor longer = context().tensor({5000}, random_values(5000, -1, 1, 4)).compute();
  context().reset_stats();
  const TopK top = top_k(longer, 8);
  const std::vector<Tensor> wanted{top.values, top.indices};
  context().compute(wanted);
  EXPECT_EQ(context().stats().dispatches, 12u);  // keys, ranks, blocks, seven merges, values, indices
  EXPECT_EQ(context().stats().submits, 1u);
}

TEST_P(Sorting, BadInput) {
  const Tensor x = context().zeros({2, 3});
  EXPECT_TESSERA_ERROR(top_k(x, 4), invalid_argument, "top_k", "4", "3");
  EXPECT_TESSERA_ERROR(top_k(x, 3, 0), invalid_argument, "top_k", "3", "2", "[2,3]");
  EXPECT_TESSERA_ERROR(top_k(x, -1), invalid_argument, "top_k", "-1");
  EXPECT_TESSERA_ERROR(sort(x, 2), invalid_argument, "sort", "2", "rank 2");
  EXPECT_TESSERA_ERROR(argsort(x, -3), invalid_argument, "argsort", "-3");
  EXPECT_TESSERA_ERROR(sort(context().zeros({}), 0), invalid_argument, "sort", "rank 0");
  EXPECT_TESSERA_ERROR(sort(context().zeros({2}, DType::boolean)), dtype_mismatch, "sort", "boolean");
}

TESSERA_ON_EACH_BACKEND(Sorting);

}  // namespace
}  // namespace tessera::test::sort_test

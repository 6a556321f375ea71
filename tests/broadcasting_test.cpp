// Shapes of pointwise operations: NumPy's rules, every rank, odd sizes, no elements.
#include <numeric>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::broadcasting_test {
namespace {

class Broadcasting : public OnDevice {
 protected:
  // Where element `index` of a tensor of shape `to` comes from in a tensor of shape `from`.
  static std::int64_t source_of(std::int64_t index, const Shape& from, const Shape& to) {
    std::int64_t source = 0, stride = 1;
    for (int axis = 1; axis <= to.rank(); ++axis) {
      const std::int64_t coordinate = index % to[-axis];
      index /= to[-axis];
      if (axis > from.rank()) continue;
      if (from[-axis] != 1) source += coordinate * stride;
      stride *= from[-axis];
    }
    return source;
  }

  void check(const Shape& a, const Shape& b, const Shape& result) {
    SCOPED_TRACE(a.to_string() + " - " + b.to_string());
    const auto va = random_values(static_cast<std::size_t>(a.size()), -10, 10, 1),
               vb = random_values(static_cast<std::size_t>(b.size()), -10, 10, 2);
    const Tensor difference = context().tensor(a, va) - context().tensor(b, vb);
    ASSERT_EQ(difference.shape(), result);
    std::vector<float> want;
    for (std::int64_t i = 0; i < result.size(); ++i)
      want.push_back(va[static_cast<std::size_t>(source_of(i, a, result))] -
                     vb[static_cast<std::size_t>(source_of(i, b, result))]);
    EXPECT_TRUE(all_agree(difference.read(), want, 0));
  }
};

TEST_P(Broadcasting, EqualShapesOfEveryRank) {
  check({}, {}, {});
  check({5}, {5}, {5});
  check({3, 5}, {3, 5}, {3, 5});
  check({2, 3, 5}, {2, 3, 5}, {2, 3, 5});
  check({2, 1, 3, 5}, {2, 1, 3, 5}, {2, 1, 3, 5});
  check({2, 2, 2, 3, 5}, {2, 2, 2, 3, 5}, {2, 2, 2, 3, 5});
  check({2, 1, 2, 3, 1, 5}, {2, 1, 2, 3, 1, 5}, {2, 1, 2, 3, 1, 5});
}

TEST_P(Broadcasting, EverySizeAroundATexelAndAWorkgroup) {
  for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 260, 511, 512, 513, 1023, 1025})
    check({size}, {size}, {size});
  check({1000, 1003}, {1000, 1003}, {1000, 1003});
  check({1000, 1003}, {1003}, {1000, 1003});
  check({997, 1004}, {997, 1}, {997, 1004});
}

TEST_P(Broadcasting, ScalarsAndSingleElements) {
  check({4, 3}, {}, {4, 3});
  check({}, {4, 3}, {4, 3});
  check({1}, {7}, {7});
  check({7}, {1, 1}, {1, 7});
  check({1, 1, 1}, {1}, {1, 1, 1});
}

TEST_P(Broadcasting, EveryPatternOfAThreeDimensionalTensor) {
  const std::int64_t full[] = {3, 4, 5};
  for (int ones_a = 0; ones_a < 8; ++ones_a)
    for (int ones_b = 0; ones_b < 8; ++ones_b) {
      std::vector<std::int64_t> a, b, result;
      for (int axis = 0; axis < 3; ++axis) {
        a.push_back(ones_a >> axis & 1 ? 1 : full[axis]);
        b.push_back(ones_b >> axis & 1 ? 1 : full[axis]);
        result.push_back(std::max(a.back(), b.back()));
      }
      check(Shape(a), Shape(b), Shape(result));
    }
}

// How many different elements a texel of the result has depends on how long each is repeated.
TEST_P(Broadcasting, RepeatsAroundTheLengthOfATexel) {
  for (const std::int64_t length : {1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13}) {
    check({9, length}, {9, 1}, {9, length});
    check({3, 5, length}, {5, 1}, {3, 5, length});
    check({3, 2, 5, length}, {3, 1, 5, 1}, {3, 2, 5, length});
    check({2, 3, length, 2}, {2, 1, length, 1}, {2, 3, length, 2});
  }
}

TEST_P(Broadcasting, LowerRanksAlignAtTheLastAxis) {
  check({2, 3, 4}, {4}, {2, 3, 4});
  check({2, 3, 4}, {3, 4}, {2, 3, 4});
  check({2, 3, 4}, {3, 1}, {2, 3, 4});
  check({5}, {2, 3, 5}, {2, 3, 5});
  check({2, 1, 3, 1, 2, 1}, {4, 1, 3, 1, 5}, {2, 4, 3, 3, 2, 5});
  check({1, 2, 1, 3, 1, 2}, {2, 1, 2, 1, 3, 1}, {2, 2, 2, 3, 3, 2});
}

TEST_P(Broadcasting, NoElements) {
  for (const Shape& shape : {Shape{0}, Shape{0, 3}, Shape{2, 0, 4}}) {
    const Tensor empty = context().zeros(shape);
    EXPECT_TRUE((empty + 1.0f).read().empty());
    EXPECT_TRUE((empty + empty).compute().is_computed());
  }
  EXPECT_EQ((context().zeros({0, 3}) + context().zeros({1, 3})).shape(), (Shape{0, 3}));
  EXPECT_TRUE((context().zeros({0, 3}) + context().zeros({3})).read().empty());
  EXPECT_TRUE(context().tensor({0}, std::vector<float>{}).read_async().get().empty());
}

TEST_P(Broadcasting, EveryTypeWithRows) {
  const std::vector<float> row{1, 2, 3}, all{10, 20, 30, 40, 50, 60};
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::i8, DType::u8}) {
    const Tensor sum = context().tensor({2, 3}, all).cast(dtype) + context().tensor({3}, row).cast(dtype);
    EXPECT_EQ(sum.read(), (std::vector<float>{11, 22, 33, 41, 52, 63})) << to_string(dtype);
    const Tensor stored = context().tensor({3, 1}, row).cast(dtype).compute();  // read back through its storage
    EXPECT_EQ((stored + context().zeros({3, 2}, dtype)).read(), (std::vector<float>{1, 1, 2, 2, 3, 3}))
        << to_string(dtype);
  }
}

TEST_P(Broadcasting, ReshapedOperands) {
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 0.0f);
  const Tensor x = context().tensor({3, 4}, values);
  EXPECT_EQ(x.reshape({2, 6}).reshape({12}).read(), values);
  const Tensor column = (context().tensor({3}, {100, 200, 300}) + 1.0f).reshape({3, 1});
  const Tensor sum = (x + column).reshape({4, 3}) + context().tensor({3}, {0.25f, 0.5f, 0.75f});
  std::vector<float> want;
  for (int i = 0; i < 12; ++i)
    want.push_back(static_cast<float>(i + (i / 4 + 1) * 100 + 1) + 0.25f * static_cast<float>(i % 3 + 1));
  EXPECT_EQ(sum.read(), want);
  EXPECT_TESSERA_ERROR(x.reshape({5, 2}), shape_mismatch, "[3,4]", "[5,2]", "12", "10");
}

TESSERA_ON_EACH_BACKEND(Broadcasting);

}  // namespace
}  // namespace tessera::test::broadcasting_test

// Concatenation, stacking and padding, against plain loops and published examples.
#include <algorithm>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"
#include "support/host_tensor.h"

namespace tessera::test::joins_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

std::size_t index_of(int axis) { return static_cast<std::size_t>(axis); }

class Joins : public OnDevice {
 protected:
  std::uint64_t dispatches(const Tensor& tensor) { return dispatches_of(context(), tensor); }
  void expect_padded(const HostTensor&, DType, const std::vector<PadWidth>&, PadMode);

  Choices choices_{11};
};

TEST_P(Joins, Concat) {
  int turn = 0;
  for (int rank = 1; rank <= 6; ++rank)
    for (const int count : {2, rank == 3 ? 7 : 3}) {
      const DType dtype = every_dtype[turn++ % 6];
      const Shape shape = choices_.shape(rank, rank > 4 ? 3 : 5);
      const auto axis = static_cast<int>(choices_.between(0, rank - 1));
      SCOPED_TRACE(std::to_string(count) + " like " + shape.to_string() + " along " + std::to_string(axis));
      std::vector<HostTensor> hosts;
      std::vector<Tensor> tensors;
      Position dims(shape.dims().begin(), shape.dims().end());
      std::int64_t total = 0;
      for (int i = 0; i < count; ++i) {
        dims[index_of(axis)] = choices_.between(i == 1 ? 0 : 1, 5);  // the second may be without elements
        total += dims[index_of(axis)];
        hosts.push_back(choices_.tensor(Shape(dims), dtype));
        tensors.push_back(hosts.back().on(context(), dtype));
      }
      dims[index_of(axis)] = total;
      expect_equal(concat(tensors, axis), made(Shape(dims), [&](Position at) {
                     std::size_t from = 0;
                     while (at[index_of(axis)] >= hosts[from].shape[axis])
                       at[index_of(axis)] -= hosts[from++].shape[axis];
                     return hosts[from].at(at);
                   }));
    }
}

TEST_P(Joins, ConcatOfWholeTexels) {
  for (const DType dtype : {DType::f32, DType::u8}) {
    const HostTensor a = choices_.tensor({5, 8}, dtype), b = choices_.tensor({5, 4}, dtype),
                     c = choices_.tensor({5, 12}, dtype);
    expect_equal(concat({a.on(context(), dtype), b.on(context(), dtype), c.on(context(), dtype)}, -1),
                 made({5, 24}, [&](const Position& at) {
                   return at[1] < 8 ? a.at(at) : at[1] < 12 ? b.at({at[0], at[1] - 8}) : c.at({at[0], at[1] - 12});
                 }));
  }
}

TEST_P(Joins, ConcatOfMany) {
  // One kernel for every seven, and one for what these give.
  std::vector<Tensor> tensors;
  std::vector<float> want;
  for (int i = 0; i < 17; ++i) {
    tensors.push_back(context().tensor({1, 3}, {static_cast<float>(i), 0.5f, -1}).compute());
    want.insert(want.end(), {static_cast<float>(i), 0.5f, -1});
  }
  EXPECT_EQ(dispatches(concat(tensors)), 4u);
  EXPECT_EQ(concat(tensors).read(), want);
  EXPECT_EQ(dispatches(concat(std::span(tensors).first(7))), 1u);
  EXPECT_EQ(concat(std::vector<Tensor>(60, tensors[1]), 1).shape(), (Shape{1, 180}));
  EXPECT_EQ(dispatches(concat({tensors[0]})), 0u);
}

TEST_P(Joins, ConcatTakesWorkIn) {
  const Tensor a = context().tensor({2, 2}, {1, -2, 3, -4}).compute(), b = context().tensor({2, 1}, {5, -6}).compute();
  EXPECT_EQ(dispatches(concat({relu(a), b * 2.0f, transpose(a)}, 1) + 1.0f), 1u);
  EXPECT_EQ((concat({relu(a), b * 2.0f, transpose(a)}, 1) + 1.0f).read(),
            (std::vector<float>{2, 1, 11, 2, 4, 4, 1, -11, -1, -3}));
  EXPECT_EQ(concat({a, context().full({2, 2}, 7)}, 1).read(), (std::vector<float>{1, -2, 7, 7, 3, -4, 7, 7}));
  EXPECT_EQ(concat({a, a}, 0).read(), (std::vector<float>{1, -2, 3, -4, 1, -2, 3, -4}));
}

TEST_P(Joins, Stack) {
  // The examples of TensorFlow's tf.stack.
  const Tensor x = context().tensor({2}, {1, 4}), y = context().tensor({2}, {2, 5}), z = context().tensor({2}, {3, 6});
  EXPECT_EQ(stack({x, y, z}).read(), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(stack({x, y, z}, 1).read(), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(stack({x, y, z}, -1).shape(), (Shape{2, 3}));
  EXPECT_EQ(stack({context().full({}, 1), context().full({}, 2)}).read(), (std::vector<float>{1, 2}));
}

void Joins::expect_padded(const HostTensor& host, DType dtype, const std::vector<PadWidth>& padding, PadMode mode) {
  const float value = dtype == DType::boolean ? 1 : 7;
  std::vector<std::int64_t> dims;
  for (const auto& [before, after] : padding)
    dims.push_back(before + host.shape[static_cast<int>(dims.size())] + after);
  SCOPED_TRACE(host.shape.to_string() + " to " + Shape(dims).to_string() + " mode " +
               std::to_string(static_cast<int>(mode)));
  expect_equal(pad(host.on(context(), dtype), padding, mode, value), made(Shape(dims), [&](Position at) {
                 for (std::size_t axis = 0; axis < at.size(); ++axis) {
                   const std::int64_t last = host.shape[static_cast<int>(axis)] - 1;
                   at[axis] -= padding[axis].before;
                   if (mode == PadMode::constant && (at[axis] < 0 || at[axis] > last)) return value;
                   if (mode == PadMode::edge) at[axis] = std::clamp<std::int64_t>(at[axis], 0, last);
                   if (mode == PadMode::reflect && at[axis] < 0) at[axis] = -at[axis];
                   if (mode == PadMode::reflect && at[axis] > last) at[axis] = 2 * last - at[axis];
                 }
                 return host.at(at);
               }));
}

TEST_P(Joins, PadAgainstLoops) {
  int turn = 0;
  for (int rank = 1; rank <= 6; ++rank)
    for (const PadMode mode : {PadMode::constant, PadMode::edge, PadMode::reflect}) {
      const DType dtype = every_dtype[turn++ % 6];
      const HostTensor host = choices_.tensor(choices_.shape(rank, rank > 4 ? 3 : 5), dtype);
      std::vector<PadWidth> padding;
      for (const std::int64_t dim : host.shape.dims()) {
        const std::int64_t most = choices_.between(0, 1)
                                      ? std::min<std::int64_t>(mode == PadMode::reflect ? dim - 1 : 3, rank > 4 ? 1 : 3)
                                      : 0;
        padding.push_back({choices_.between(0, most), choices_.between(0, most)});
      }
      expect_padded(host, dtype, padding, mode);
    }
}

// Whole texels are moved where the innermost elements are: of one axis, or of several without padding.
TEST_P(Joins, PadAroundWholeTexels) {
  for (const PadMode mode : {PadMode::constant, PadMode::edge, PadMode::reflect})
    for (const DType dtype : {DType::f32, DType::u8, DType::boolean}) {
      expect_padded(choices_.tensor({3, 5, 8}, dtype), dtype, {{1, 2}, {2, 1}, {}}, mode);
      expect_padded(choices_.tensor({5, 2, 6}, dtype), dtype, {{0, 3}, {}, {}}, mode);
    }
  const Tensor x = context().tensor({5, 4}, random_values(20, 0, 1, 1)).compute();
  const Tensor whole = slice(x.reshape({20}), {2}, {16}).reshape({4, 4});  // does not begin at a texel
  EXPECT_EQ(slice(pad(whole, {{1, 0}, {}}), {1, 0}, {4, 4}).read(), whole.read());
}

TEST_P(Joins, PadExamples) {
  // TensorFlow's tf.pad.
  const Tensor t = context().tensor({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(pad(t, {{1, 1}, {2, 2}}).read(),
            (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(pad(t, {{1, 1}, {2, 2}}, PadMode::reflect).read(),
            (std::vector<float>{6, 5, 4, 5, 6, 5, 4, 3, 2, 1, 2, 3, 2, 1, 6, 5, 4, 5, 6, 5, 4, 3, 2, 1, 2, 3, 2, 1}));
  // ONNX's Pad, for the pads (0, 2), (0, 0).
  const Tensor x = context().tensor({3, 2}, {1.0f, 1.2f, 2.3f, 3.4f, 4.5f, 5.7f});
  EXPECT_EQ(pad(x, {{0, 0}, {2, 0}}).read(),
            (std::vector<float>{0, 0, 1.0f, 1.2f, 0, 0, 2.3f, 3.4f, 0, 0, 4.5f, 5.7f}));
  EXPECT_EQ(pad(x, {{0, 0}, {2, 0}}, PadMode::edge).read(),
            (std::vector<float>{1.0f, 1.0f, 1.0f, 1.2f, 2.3f, 2.3f, 2.3f, 3.4f, 4.5f, 4.5f, 4.5f, 5.7f}));
  EXPECT_TRUE(
      all_agree(pad(context().tensor({2}, {nan, 1}), {{1, 1}}, -infinity).read(), {-infinity, nan, 1, -infinity}, 0));
  EXPECT_EQ(dispatches(relu(pad(relu(x.compute()), {{1, 0}, {0, 1}}))), 1u);
}

TEST_P(Joins, PadOfOtherSizesCompilesNothing) {
  pad(choices_.tensor({3, 4}, DType::f32).on(context()), {{1, 1}, {2, 2}}).compute();
  context().reset_stats();
  pad(choices_.tensor({5, 9}, DType::f32).on(context()), {{2, 0}, {0, 3}}, 4).compute();
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(Joins, NoElements) {
  const Tensor none = context().zeros({0}), x = context().tensor({3}, {1, 2, 3});
  EXPECT_EQ(concat({context().zeros({0, 2}), context().zeros({0, 2})}, 1).shape(), (Shape{0, 4}));
  EXPECT_EQ(concat({none, x, none}).read(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(stack({none, none}).shape(), (Shape{2, 0}));
  EXPECT_EQ(pad(none, {{1, 2}}, 5).read(), (std::vector<float>{5, 5, 5}));
  EXPECT_EQ(pad(context().zeros({0, 2}), {{0, 0}, {1, 1}}, PadMode::edge).shape(), (Shape{0, 4}));
}

TEST_P(Joins, BadInput) {
  const Tensor x = context().zeros({2, 3});
  EXPECT_TESSERA_ERROR(concat({x, context().zeros({3, 3})}, 1), shape_mismatch, "concat", "[2,3]", "[3,3]");
  EXPECT_TESSERA_ERROR(concat({x, context().zeros({2})}, 0), shape_mismatch, "concat", "[2,3]", "[2]");
  EXPECT_TESSERA_ERROR(concat({x, x}, 2), invalid_argument, "concat", "2", "rank 2");
  EXPECT_TESSERA_ERROR(concat({context().full({}, 1)}, 0), invalid_argument, "concat", "rank 0");
  EXPECT_TESSERA_ERROR(concat(std::span<const Tensor>{}), invalid_argument, "concat", "at least 1");
  EXPECT_TESSERA_ERROR(concat({x, context().zeros({2, 3}, DType::i32)}), dtype_mismatch, "concat", "f32", "i32");
  EXPECT_TESSERA_ERROR(stack({x, context().zeros({3, 2})}), shape_mismatch, "stack", "[2,3]", "[3,2]");
  EXPECT_TESSERA_ERROR(stack({x, x}, 3), invalid_argument, "stack", "3");
  EXPECT_TESSERA_ERROR(pad(x, {{1, 1}}), invalid_argument, "pad", "1 paddings", "2 axes");
  EXPECT_TESSERA_ERROR(pad(x, {{0, 0}, {-1, 0}}), invalid_argument, "pad", "-1", "axis 1 of [2,3]");
  EXPECT_TESSERA_ERROR(pad(x, {{2, 0}, {0, 0}}, PadMode::reflect), invalid_argument, "pad", "padding 2", "size 2");
  EXPECT_TESSERA_ERROR(pad(context().zeros({0}), {{1, 0}}, PadMode::edge), invalid_argument, "pad", "axis 0 of [0]");
  EXPECT_TESSERA_ERROR(pad(context().zeros({2}, DType::u8), {{1, 0}}, 300), dtype_mismatch, "pad", "300", "u8");
}

TESSERA_ON_EACH_BACKEND(Joins);

}  // namespace
}  // namespace tessera::test::joins_test

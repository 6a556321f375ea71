// Joins, look-ups and what is made of element indices, against plain loops and published examples.
#include <cmath>
#include <cstdint>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"
#include "support/host_tensor.h"

namespace tessera::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

std::size_t index_of(int axis) { return static_cast<std::size_t>(axis); }

class Gather : public OnDevice {
 protected:
  static void expect(const Tensor& got, const HostTensor& want) {
    EXPECT_EQ(got.shape(), want.shape);
    EXPECT_EQ(got.read(), want.values);
  }
  Tensor i32(const Shape& shape, const std::vector<std::int32_t>& values) { return context().tensor(shape, values); }
  std::uint64_t dispatches(const Tensor& tensor) {
    context().reset_stats();
    tensor.compute();
    return context().stats().dispatches;
  }

  Choices choices_{11};
};

class Joins : public Gather {};
class LookUps : public Gather {};
class Indices : public Gather {};

TEST_P(Joins, Concat) {
  int turn = 0;
  for (int rank = 1; rank <= 6; ++rank)
    for (const int count : {2, 3, 7}) {
      const DType dtype = every_dtype[turn++ % 6];
      const Shape shape = choices_.shape(rank, rank > 4 ? 3 : 5);
      const auto axis = static_cast<int>(choices_.between(0, rank - 1));
      SCOPED_TRACE(std::to_string(count) + " like " + shape.to_string() + " along " + std::to_string(axis));
      std::vector<HostTensor> hosts;
      std::vector<Tensor> tensors;
      Coordinates dims(shape.dims().begin(), shape.dims().end());
      std::int64_t total = 0;
      for (int i = 0; i < count; ++i) {
        dims[index_of(axis)] = choices_.between(i == 1 ? 0 : 1, 5);  // the second may be without elements
        total += dims[index_of(axis)];
        hosts.push_back(choices_.tensor(Shape(dims), dtype));
        tensors.push_back(hosts.back().on(context(), dtype));
      }
      dims[index_of(axis)] = total;
      expect(concat(tensors, axis), made(Shape(dims), [&](Coordinates at) {
               std::size_t from = 0;
               while (at[index_of(axis)] >= hosts[from].shape[axis]) at[index_of(axis)] -= hosts[from++].shape[axis];
               return hosts[from].at(at);
             }));
    }
}

TEST_P(Joins, ConcatOfWholeTexels) {
  for (const DType dtype : {DType::f32, DType::f16, DType::i32, DType::u8}) {
    const HostTensor a = choices_.tensor({5, 8}, dtype), b = choices_.tensor({5, 4}, dtype),
                     c = choices_.tensor({5, 12}, dtype);
    expect(concat({a.on(context(), dtype), b.on(context(), dtype), c.on(context(), dtype)}, -1),
           made({5, 24}, [&](const Coordinates& at) {
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

TEST_P(Joins, PadAgainstLoops) {
  int turn = 0;
  for (int rank = 1; rank <= 6; ++rank)
    for (const PadMode mode : {PadMode::constant, PadMode::edge, PadMode::reflect})
      for (int times = 0; times < 2; ++times) {
        const DType dtype = every_dtype[turn++ % 6];
        const HostTensor host = choices_.tensor(choices_.shape(rank, rank > 4 ? 3 : 5), dtype);
        const float value = dtype == DType::boolean ? 1 : 7;
        std::vector<PadWidth> padding;
        std::vector<std::int64_t> dims;
        for (const std::int64_t dim : host.shape.dims()) {
          const std::int64_t most =
              choices_.between(0, 1) ? std::min<std::int64_t>(mode == PadMode::reflect ? dim - 1 : 3, rank > 4 ? 1 : 3)
                                     : 0;
          padding.push_back({choices_.between(0, most), choices_.between(0, most)});
          dims.push_back(padding.back().before + dim + padding.back().after);
        }
        SCOPED_TRACE(host.shape.to_string() + " to " + Shape(dims).to_string() + " mode " +
                     std::to_string(static_cast<int>(mode)));
        expect(pad(host.on(context(), dtype), padding, mode, value), made(Shape(dims), [&](Coordinates at) {
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

TEST_P(LookUps, GatherAgainstLoops) {
  int turn = 0;
  for (int rank = 1; rank <= 6; ++rank)
    for (int times = 0; times < 3; ++times) {
      const DType dtype = every_dtype[turn++ % 6];
      const HostTensor host = choices_.tensor(choices_.shape(rank, rank > 4 ? 3 : 5), dtype);
      const auto axis = static_cast<int>(choices_.between(0, rank - 1));
      const std::int64_t size = host.shape[axis];
      const Shape indices = choices_.shape(static_cast<int>(choices_.between(0, 2)), 4);
      std::vector<std::int32_t> values;
      for (std::int64_t i = 0; i < indices.size(); ++i)
        values.push_back(static_cast<std::int32_t>(choices_.between(-size, size - 1)));
      SCOPED_TRACE(host.shape.to_string() + " along " + std::to_string(axis) + " by " + indices.to_string());
      std::vector<std::int64_t> dims(host.shape.dims().begin(), host.shape.dims().end());
      dims.erase(dims.begin() + axis);
      dims.insert(dims.begin() + axis, indices.dims().begin(), indices.dims().end());
      expect(gather(host.on(context(), dtype), i32(indices, values), axis),
             made(Shape(dims), [&](const Coordinates& at) {
               std::int64_t element = 0;
               for (int i = 0; i < indices.rank(); ++i) element = element * indices[i] + at[index_of(axis + i)];
               const std::int64_t index = values[static_cast<std::size_t>(element)];
               Coordinates from(at.begin(), at.begin() + axis);
               from.push_back(index < 0 ? index + size : index);
               from.insert(from.end(), at.begin() + axis + indices.rank(), at.end());
               return host.at(from);
             }));
    }
}

TEST_P(LookUps, GatherExamples) {
  // ONNX's Gather, axis 0 and axis 1.
  const Tensor x = context().tensor({3, 2}, {1.0f, 1.2f, 2.3f, 3.4f, 4.5f, 5.7f});
  EXPECT_EQ(gather(x, i32({2, 2}, {0, 1, 1, 2})).read(),
            (std::vector<float>{1.0f, 1.2f, 2.3f, 3.4f, 2.3f, 3.4f, 4.5f, 5.7f}));
  const Tensor y = context().tensor({3, 3}, {1.0f, 1.2f, 1.9f, 2.3f, 3.4f, 3.9f, 4.5f, 5.7f, 5.9f});
  const Tensor columns = gather(y, i32({1, 2}, {0, 2}), 1);
  EXPECT_EQ(columns.shape(), (Shape{3, 1, 2}));
  EXPECT_EQ(columns.read(), (std::vector<float>{1.0f, 1.9f, 2.3f, 3.9f, 4.5f, 5.9f}));
  // Outside: the nearest one.
  EXPECT_EQ(gather(context().tensor({3}, {1, 2, 3}), i32({5}, {-3, -4, 3, INT32_MAX, INT32_MIN})).read(),
            (std::vector<float>{1, 1, 3, 3, 1}));
  EXPECT_EQ(gather(y, i32({}, {-1})).read(), (std::vector<float>{4.5f, 5.7f, 5.9f}));
}

TEST_P(LookUps, GatherTakesWorkIn) {
  const Tensor table = context().tensor({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}).compute(), ids = i32({2}, {3, 0}).compute();
  EXPECT_EQ(dispatches(gather(table * 2.0f, ids) + 1.0f), 1u);
  EXPECT_EQ((gather(table * 2.0f, ids) + 1.0f).read(), (std::vector<float>{15, 17, 3, 5}));
  EXPECT_EQ(dispatches(gather(exp(table), i32({9}, std::vector<std::int32_t>(9, 1)).compute())),
            2u);  // what is read again is computed once
}

TEST_P(LookUps, GatherNd) {
  // ONNX's GatherND and TensorFlow's tf.gather_nd.
  const Tensor data = context().tensor({2, 2}, {0, 1, 2, 3});
  EXPECT_EQ(gather_nd(data, i32({2, 2}, {0, 0, 1, 1})).read(), (std::vector<float>{0, 3}));
  EXPECT_EQ(gather_nd(data, i32({2, 1}, {1, 0})).read(), (std::vector<float>{2, 3, 0, 1}));
  const Tensor cube = context().tensor({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(gather_nd(cube, i32({2, 2}, {0, 1, 1, 0})).read(), (std::vector<float>{2, 3, 4, 5}));
  const Tensor pairs = gather_nd(cube, i32({2, 1, 2}, {0, 1, 1, 0}));
  EXPECT_EQ(pairs.shape(), (Shape{2, 1, 2}));
  EXPECT_EQ(pairs.read(), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(gather_nd(data, i32({2, 2}, {-1, -2, 5, -9})).read(), (std::vector<float>{2, 2}));  // negative; outside
  for (const DType dtype : every_dtype) {
    const HostTensor host = choices_.tensor({3, 4, 2, 5}, dtype);
    std::vector<std::int32_t> rows;
    for (int i = 0; i < 7; ++i)
      rows.insert(rows.end(), {static_cast<std::int32_t>(choices_.between(0, 2)),
                               static_cast<std::int32_t>(choices_.between(0, 3))});
    expect(gather_nd(host.on(context(), dtype), i32({7, 2}, rows)), made({7, 2, 5}, [&](const Coordinates& at) {
             const auto row = static_cast<std::size_t>(2 * at[0]);
             return host.at({rows[row], rows[row + 1], at[1], at[2]});
           }));
  }
}

TEST_P(LookUps, ScatterNd) {
  // TensorFlow's tf.scatter_nd: single elements, whole slices, and duplicates, which are summed.
  EXPECT_EQ(scatter_nd(i32({4, 1}, {4, 3, 1, 7}), context().tensor({4}, {9, 10, 11, 12}), {8}).read(),
            (std::vector<float>{0, 11, 0, 10, 9, 0, 0, 12}));
  const std::vector<float> slice{5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7, 8, 8, 8, 8}, none(16, 0);
  std::vector<float> updates = slice, want = slice;
  updates.insert(updates.end(), slice.begin(), slice.end());
  for (const auto* part : {&none, &slice, &none}) want.insert(want.end(), part->begin(), part->end());
  EXPECT_EQ(scatter_nd(i32({2, 1}, {0, 2}), context().tensor({2, 4, 4}, updates), {4, 4, 4}).read(), want);
  EXPECT_EQ(scatter_nd(i32({3, 1}, {1, 1, 1}), context().tensor({3}, {1, 2, 4}), {3}).read(),
            (std::vector<float>{0, 7, 0}));
  // Negative indices count from the end; what is outside is dropped.
  EXPECT_EQ(scatter_nd(i32({4, 1}, {-1, 3, -4, INT32_MAX}), context().tensor({4}, {1, 2, 4, 8}), {3}).read(),
            (std::vector<float>{0, 0, 1}));
  EXPECT_EQ(scatter_nd(i32({2, 2}, {0, 3, 1, -1}), context().tensor({2}, {1, 2}), {2, 3}).read(),
            (std::vector<float>{0, 0, 0, 0, 0, 2}));
}

TEST_P(LookUps, ScatterNdOfEachType) {
  for (const DType dtype : every_dtype) {
    SCOPED_TRACE(to_string(dtype));
    const HostTensor updates = choices_.tensor({9, 3}, dtype);
    std::vector<std::int32_t> rows;
    for (int i = 0; i < 9; ++i) rows.push_back(i < 2 ? 4 : i);  // two for row 4, of which one more comes with i = 4
    HostTensor want{{10, 3}, std::vector<float>(30, 0)}, last = choices_.tensor({10, 3}, dtype);
    const Tensor x = last.on(context(), dtype);
    for (std::size_t i = 0; i < 27; ++i) {
      const std::size_t place = static_cast<std::size_t>(rows[i / 3]) * 3 + i % 3;
      want.values[place] += updates.values[i];
      last.values[place] = updates.values[i];
    }
    for (float& value : want.values) {
      if (dtype == DType::boolean) value = value != 0;
      if (dtype == DType::i8) value = static_cast<std::int8_t>(static_cast<int>(value));
      if (dtype == DType::u8) value = static_cast<std::uint8_t>(static_cast<int>(value));
    }
    expect(scatter_nd(i32({9, 1}, rows), updates.on(context(), dtype), {10, 3}), want);
    expect(scatter_update(x, i32({9, 1}, rows), updates.on(context(), dtype)), last);
  }
}

TEST_P(LookUps, ScatterUpdate) {
  // ONNX's ScatterND.
  const Tensor x = context().tensor({8}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(scatter_update(x, i32({4, 1}, {4, 3, 1, 7}), context().tensor({4}, {9, 10, 11, 12})).read(),
            (std::vector<float>{1, 11, 3, 10, 9, 6, 7, 12}));
  EXPECT_EQ(scatter_update(x, i32({2, 1}, {2, 9}), context().tensor({2}, {nan, 1})).read()[7], 8);
  EXPECT_EQ((x + scatter_nd(i32({2, 1}, {0, 0}), context().tensor({2}, {1, 1}), {8})).read()[0], 3);
  const Tensor rows = i32({2, 1}, {1, 1}).compute(), updates = context().tensor({2}, {-1, -2}).compute();
  x.compute();
  EXPECT_EQ(dispatches(relu(scatter_update(x * 2.0f, rows, abs(updates)))), 2u);  // the rows first
}

TEST_P(LookUps, NoElements) {
  const Tensor none = context().zeros({0}, DType::i32), x = context().tensor({3}, {1, 2, 3});
  EXPECT_EQ(gather(x, none).shape(), Shape{0});
  EXPECT_EQ(gather(context().zeros({3, 0}), i32({2}, {0, 1})).shape(), (Shape{2, 0}));
  EXPECT_EQ(gather_nd(x, context().zeros({0, 1}, DType::i32)).shape(), Shape{0});
  EXPECT_EQ(scatter_nd(context().zeros({0, 1}, DType::i32), context().zeros({0}), {3}).read(),
            std::vector<float>(3, 0));
  EXPECT_EQ(scatter_update(x, context().zeros({0, 1}, DType::i32), context().zeros({0})).read(),
            (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(concat({context().zeros({0, 2}), context().zeros({0, 2})}, 1).shape(), (Shape{0, 4}));
  EXPECT_EQ(concat({context().zeros({0}), x, context().zeros({0})}).read(), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(stack({context().zeros({0}), context().zeros({0})}).shape(), (Shape{2, 0}));
  EXPECT_EQ(pad(context().zeros({0}), {{1, 2}}, 5).read(), (std::vector<float>{5, 5, 5}));
  EXPECT_EQ(pad(context().zeros({0, 2}), {{0, 0}, {1, 1}}, PadMode::edge).shape(), (Shape{0, 4}));
  EXPECT_TESSERA_ERROR(gather(context().zeros({0}), i32({1}, {0})), invalid_argument, "gather", "[0]", "[1]");
}

TEST_P(Indices, Range) {
  // TensorFlow's tf.range.
  EXPECT_EQ(range(context(), 0, 5).read(), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(range(context(), 3, 18, 3, DType::i32).read<std::int32_t>(), (std::vector<std::int32_t>{3, 6, 9, 12, 15}));
  EXPECT_EQ(range(context(), 3, 1, -0.5).read(), (std::vector<float>{3, 2.5f, 2, 1.5f}));
  EXPECT_EQ(range(context(), 10, 4, -2, DType::f16).read(), (std::vector<float>{10, 8, 6}));
  EXPECT_EQ(range(context(), -128, 128, 85, DType::i8).read<std::int8_t>(),
            (std::vector<std::int8_t>{-128, -43, 42, 127}));
  EXPECT_EQ(range(context(), 0, 256, 51, DType::u8).read<std::uint8_t>(),
            (std::vector<std::uint8_t>{0, 51, 102, 153, 204, 255}));
  EXPECT_EQ(range(context(), 2147483645, 2147483648.0, 2, DType::i32).read<std::int32_t>(),
            (std::vector<std::int32_t>{2147483645, 2147483647}));
  EXPECT_EQ(range(context(), 5, 0).shape(), Shape{0});
  EXPECT_EQ(dispatches(range(context(), 0, 1000) * 2.0f), 1u);
  EXPECT_EQ(range(context(), 0, 1001).read()[1000], 1000);
}

TEST_P(Indices, Linspace) {
  EXPECT_EQ(linspace(context(), 10, 12, 3).read(), (std::vector<float>{10, 11, 12}));  // TensorFlow's tf.linspace
  EXPECT_EQ(linspace(context(), 5, -5, 1).read(), std::vector<float>{5});
  EXPECT_EQ(linspace(context(), 5, -5, 0).shape(), Shape{0});
  const std::vector<float> values = linspace(context(), 0.1f, 0.7f, 1001).read();
  EXPECT_EQ(values.front(), 0.1f);
  EXPECT_EQ(values.back(), 0.7f);
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], 0.1 + 0.6 * static_cast<double>(i) / 1000, 1e-6);
  EXPECT_EQ(dispatches(linspace(context(), 0, 1, 99)), 1u);
  EXPECT_EQ(linspace(context(), 0, 1, 3, DType::f16).dtype(), DType::f16);
}

TEST_P(Indices, Eye) {
  EXPECT_EQ(eye(context(), 2).read(), (std::vector<float>{1, 0, 0, 1}));
  for (const DType dtype : every_dtype)
    for (const std::int64_t k : {-9, -1, 0, 2, 9})
      expect(eye(context(), 3, 5, k, dtype),
             made({3, 5}, [&](const Coordinates& at) { return at[1] - at[0] == k ? 1.0f : 0.0f; }));
  EXPECT_EQ(eye(context(), 3, 0).shape(), (Shape{3, 0}));
  EXPECT_EQ(dispatches(eye(context(), 9)), 1u);
}

TEST_P(Indices, OneHot) {
  // TensorFlow's tf.one_hot.
  EXPECT_EQ(one_hot(i32({3}, {0, 1, 2}), 3).read(), (std::vector<float>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(one_hot(i32({4}, {0, 2, -1, 1}), 3, {.on = 5}).read(),
            (std::vector<float>{5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 5, 0}));
  EXPECT_EQ(one_hot(i32({2, 2}, {0, 2, 1, -1}), 3).read(), (std::vector<float>{1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0}));
  // ONNX's OneHot along another axis; a depth that an index is outside of.
  const Tensor along = one_hot(i32({2, 2}, {1, 9, 2, 4}), 10, {.on = 3, .off = 1, .axis = 1});
  expect(along, made({2, 10, 2}, [&](const Coordinates& at) {
           const std::int64_t indices[2][2] = {{1, 9}, {2, 4}};
           return indices[at[0]][at[2]] == at[1] ? 3.0f : 1.0f;
         }));
  EXPECT_EQ(one_hot(i32({2}, {3, 100}), 3, {.off = 2, .dtype = DType::i8}).read<std::int8_t>(),
            std::vector<std::int8_t>(6, 2));
  EXPECT_EQ(one_hot(i32({2}, {1, 0}), 2, {.dtype = DType::boolean}).read<bool>(),
            (std::vector<bool>{false, true, true, false}));
  EXPECT_EQ(one_hot(i32({2}, {1, 0}), 0).shape(), (Shape{2, 0}));
  EXPECT_EQ(dispatches(one_hot(i32({7}, {0, 1, 2, 3, 4, 5, 6}).compute(), 9)), 1u);
}

TEST_P(Indices, DiagAndTriangle) {
  EXPECT_EQ(diag(context().tensor({3}, {1, 2, 3})).read(), (std::vector<float>{1, 0, 0, 0, 2, 0, 0, 0, 3}));
  EXPECT_EQ(diag(context().tensor({2, 2}, {1, 2, 3, 4})).read(), (std::vector<float>{1, 0, 0, 2, 3, 0, 0, 4}));
  for (const DType dtype : every_dtype) {
    const HostTensor host = choices_.tensor({2, 3, 5}, dtype);
    const Tensor x = host.on(context(), dtype);
    expect(diag(x), made({2, 3, 5, 5}, [&](const Coordinates& at) {
             return at[2] == at[3] ? host.at({at[0], at[1], at[2]}) : 0;
           }));
    for (const std::int64_t k : {INT64_MIN, std::int64_t{-2}, std::int64_t{0}, std::int64_t{3}, INT64_MAX}) {
      expect(triangle(x, Triangle::upper, k),
             made(host.shape, [&](const Coordinates& at) { return at[2] - at[1] >= k ? host.at(at) : 0; }));
      expect(triangle(x, Triangle::lower, k),
             made(host.shape, [&](const Coordinates& at) { return at[2] - at[1] <= k ? host.at(at) : 0; }));
    }
  }
  // What is cut off does not count, whatever it is.
  EXPECT_EQ(triangle(context().tensor({2, 2}, {1, nan, 2, 3}), Triangle::lower).read(),
            (std::vector<float>{1, 0, 2, 3}));
  const Tensor x = context().full({4, 4}, 2).compute();
  EXPECT_EQ(dispatches(relu(triangle(x * 3.0f, Triangle::upper))), 1u);
  EXPECT_EQ(diag(context().zeros({0})).shape(), (Shape{0, 0}));
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

TEST_P(LookUps, BadInput) {
  const Tensor x = context().zeros({2, 3}), ids = i32({2}, {0, 1});
  EXPECT_TESSERA_ERROR(gather(x, ids, 2), invalid_argument, "gather", "2", "rank 2");
  EXPECT_TESSERA_ERROR(gather(x, x), dtype_mismatch, "gather", "f32", "i32");
  EXPECT_TESSERA_ERROR(gather_nd(x, i32({1, 3}, {0, 0, 0})), invalid_argument, "gather_nd", "names 3", "[2,3] has 2");
  EXPECT_TESSERA_ERROR(gather_nd(x, i32({}, {0})), invalid_argument, "gather_nd", "rank of 0");
  EXPECT_TESSERA_ERROR(gather_nd(x, x), dtype_mismatch, "gather_nd", "f32");
  EXPECT_TESSERA_ERROR(scatter_nd(i32({2, 1}, {0, 1}), context().zeros({3}), {4}), shape_mismatch, "scatter_nd", "[3]",
                       "[2]", "[4]");
  EXPECT_TESSERA_ERROR(scatter_nd(i32({2, 2}, {0, 1, 0, 1}), context().zeros({2}), {4}), invalid_argument, "scatter_nd",
                       "names 2", "has 1");
  EXPECT_TESSERA_ERROR(scatter_nd(x, context().zeros({2}), {4}), dtype_mismatch, "scatter_nd", "f32");
  EXPECT_TESSERA_ERROR(scatter_update(x, i32({1, 1}, {0}), context().zeros({1, 4})), shape_mismatch, "scatter_update",
                       "[1,4]", "[1,3]");
  EXPECT_TESSERA_ERROR(scatter_update(x, i32({1, 1}, {0}), context().zeros({1, 3}, DType::i32)), dtype_mismatch,
                       "scatter_update", "f32", "i32");
}

TEST_P(Indices, BadInput) {
  EXPECT_TESSERA_ERROR(range(context(), 0, 5, 0), invalid_argument, "range", "0", "5");
  EXPECT_TESSERA_ERROR(range(context(), 0, 1e30), invalid_argument, "range", "steps");
  EXPECT_TESSERA_ERROR(range(context(), 0, nan), invalid_argument, "range", "nan");
  EXPECT_TESSERA_ERROR(range(context(), 0, 300, 1, DType::u8), invalid_argument, "range", "299", "u8");
  EXPECT_TESSERA_ERROR(range(context(), 0.5, 3, 1, DType::i32), invalid_argument, "range", "0.5", "i32");
  EXPECT_TESSERA_ERROR(range(context(), 0, 2, 1, DType::boolean), dtype_mismatch, "range", "booleans");
  EXPECT_TESSERA_ERROR(linspace(context(), 0, 1, -1), invalid_argument, "linspace", "-1");
  EXPECT_TESSERA_ERROR(linspace(context(), 0, 1, 2, DType::i32), dtype_mismatch, "linspace", "i32");
  EXPECT_TESSERA_ERROR(eye(context(), -1, 2), invalid_argument, "-1");
  EXPECT_TESSERA_ERROR(one_hot(i32({1}, {0}), -1), invalid_argument, "one_hot", "-1");
  EXPECT_TESSERA_ERROR(one_hot(i32({1}, {0}), 3, {.axis = 2}), invalid_argument, "one_hot", "2");
  EXPECT_TESSERA_ERROR(one_hot(context().zeros({1}), 3), dtype_mismatch, "one_hot", "f32");
  EXPECT_TESSERA_ERROR(one_hot(i32({1}, {0}), 3, {.on = 1.5f, .dtype = DType::i32}), dtype_mismatch, "one_hot", "1.5",
                       "i32");
  EXPECT_TESSERA_ERROR(diag(context().full({}, 1)), invalid_argument, "diag", "rank of 0");
  EXPECT_TESSERA_ERROR(triangle(context().zeros({3}), Triangle::upper), invalid_argument, "triangle", "[3]");
}

TESSERA_ON_ALL_DEVICES(Joins);
TESSERA_ON_ALL_DEVICES(LookUps);
TESSERA_ON_ALL_DEVICES(Indices);

}  // namespace
}  // namespace tessera::test

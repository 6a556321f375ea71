// Gather and scatter, against plain loops and published examples.
#include <cstdint>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"
#include "support/host_tensor.h"

namespace tessera::test::gather_test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

std::size_t index_of(int axis) { return static_cast<std::size_t>(axis); }

class LookUps : public OnDevice {
 protected:
  std::uint64_t dispatches(const Tensor& tensor) { return dispatches_of(context(), tensor); }
  Tensor i32(const Shape& shape, const std::vector<std::int32_t>& values) { return context().tensor(shape, values); }

  Choices choices_{11};
};

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
      expect_equal(gather(host.on(context(), dtype), i32(indices, values), axis),
                   made(Shape(dims), [&](const Position& at) {
                     std::int64_t element = 0;
                     for (int i = 0; i < indices.rank(); ++i) element = element * indices[i] + at[index_of(axis + i)];
                     const std::int64_t index = values[static_cast<std::size_t>(element)];
                     Position from(at.begin(), at.begin() + axis);
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
    expect_equal(gather_nd(host.on(context(), dtype), i32({7, 2}, rows)), made({7, 2, 5}, [&](const Position& at) {
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
    expect_equal(scatter_nd(i32({9, 1}, rows), updates.on(context(), dtype), {10, 3}), want);
    expect_equal(scatter_update(x, i32({9, 1}, rows), updates.on(context(), dtype)), last);
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
  EXPECT_TESSERA_ERROR(gather(context().zeros({0}), i32({1}, {0})), invalid_argument, "gather", "[0]", "[1]");
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

TESSERA_ON_EACH_BACKEND(LookUps);

}  // namespace
}  // namespace tessera::test::gather_test

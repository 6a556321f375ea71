// Ranges, diagonals, triangles and one-hot vectors, against plain loops and published examples.
#include <cstdint>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"
#include "support/host_tensor.h"

namespace tessera::test::index_test {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

class Indices : public OnDevice {
 protected:
  std::uint64_t dispatches(const Tensor& tensor) { return dispatches_of(context(), tensor); }
  Tensor i32(const Shape& shape, const std::vector<std::int32_t>& values) { return context().tensor(shape, values); }

  Choices choices_{11};
};

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
  EXPECT_EQ(range(context(), 0, 2.5, 1, DType::i32).read<std::int32_t>(), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(range(context(), 7, 9, 1e300, DType::i32).read<std::int32_t>(), std::vector<std::int32_t>{7});
  EXPECT_EQ(range(context(), 2147483647, -2147483649.0, -2147483647, DType::i32).read<std::int32_t>(),
            (std::vector<std::int32_t>{2147483647, 0, -2147483647}));
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
      expect_equal(eye(context(), 3, 5, k, dtype),
                   made({3, 5}, [&](const Position& at) { return at[1] - at[0] == k ? 1.0f : 0.0f; }));
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
  expect_equal(along, made({2, 10, 2}, [&](const Position& at) {
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
    expect_equal(diag(x), made({2, 3, 5, 5}, [&](const Position& at) {
                   return at[2] == at[3] ? host.at({at[0], at[1], at[2]}) : 0;
                 }));
    for (const std::int64_t k : {INT64_MIN, std::int64_t{-2}, std::int64_t{3}, INT64_MAX}) {
      expect_equal(triangle(x, Triangle::upper, k),
                   made(host.shape, [&](const Position& at) { return at[2] - at[1] >= k ? host.at(at) : 0; }));
      expect_equal(triangle(x, Triangle::lower, k),
                   made(host.shape, [&](const Position& at) { return at[2] - at[1] <= k ? host.at(at) : 0; }));
    }
  }
  // What is cut off does not count, whatever it is.
  EXPECT_EQ(triangle(context().tensor({2, 2}, {1, nan, 2, 3}), Triangle::lower).read(),
            (std::vector<float>{1, 0, 2, 3}));
  const Tensor x = context().full({4, 4}, 2).compute();
  EXPECT_EQ(dispatches(relu(triangle(x * 3.0f, Triangle::upper))), 1u);
  EXPECT_EQ(diag(context().zeros({0})).shape(), (Shape{0, 0}));
}

TEST_P(Indices, BadInput) {
  EXPECT_TESSERA_ERROR(range(context(), 0, 5, 0), invalid_argument, "range", "0", "5");
  EXPECT_TESSERA_ERROR(range(context(), 0, 1e30), out_of_memory, "range", "steps");
  EXPECT_TESSERA_ERROR(range(context(), 0, nan), invalid_argument, "range", "nan");
  EXPECT_TESSERA_ERROR(range(context(), 0, 300, 1, DType::u8), invalid_argument, "range", "299", "u8");
  EXPECT_TESSERA_ERROR(range(context(), 0.5, 3, 1, DType::i32), invalid_argument, "range", "0.5", "i32");
  EXPECT_TESSERA_ERROR(range(context(), 0, 1.5, 0.5, DType::i32), invalid_argument, "range", "step", "0.5", "i32");
  EXPECT_TESSERA_ERROR(range(context(), 0, 3, 1.25, DType::u8), invalid_argument, "range", "step", "1.25", "u8");
  EXPECT_TESSERA_ERROR(range(context(), 2147483646, 2147483650.0, 1, DType::i32), invalid_argument, "2147483649",
                       "i32");
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

TESSERA_ON_EACH_BACKEND(Indices);

}  // namespace
}  // namespace tessera::test::index_test

// Sizes that do not fit are refused where they are made, with the operation and both numbers; empty tensors are
// tensors.
#include <cstdint>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::sizes_test {
namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62, most = Shape::max_size;

class Sizes : public OnDevice {
 protected:
  Tensor ones(const Shape& shape) { return context().full(shape, 1); }
};

// Kernels count with 32 bits. Sizes that are only ever part of a kernel would be cut off there without a word.
TEST_P(Sizes, TensorsWithTooManyElementsAreRefusedWhereTheyAreMade) {
  const Tensor one = ones({1});
  EXPECT_EQ(context().zeros({most}).shape().size(), most);
  EXPECT_TESSERA_ERROR(context().zeros({most + 1}), out_of_memory, "[2147483648]", "2147483647");
  EXPECT_TESSERA_ERROR(sum(broadcast_to(one, {65536, 65537})), out_of_memory, "[65536,65537]", "4295032832",
                       "2147483647");
  const Tensor a = ones({70000, 1}).compute(), b = ones({1, 70000}).compute();
  EXPECT_TESSERA_ERROR(sum(square(a - b)), out_of_memory, "sub", "[70000,70000]", "4900000000", "2147483647");
  EXPECT_TESSERA_ERROR(a < b, out_of_memory, "less", "[70000,70000]");
  EXPECT_TESSERA_ERROR(where(a < 0.0f, a, b), out_of_memory, "where", "4900000000");
  EXPECT_TESSERA_ERROR(map_kernel("a * b", {{"a", a}, {"b", b}}), out_of_memory, "mul", "4900000000");
  EXPECT_TESSERA_ERROR(matmul(a, b), out_of_memory, "matmul", "[70000,70000]", "4900000000");
  EXPECT_TESSERA_ERROR(expand(a, {1, 70000}), out_of_memory, "expand", "4900000000");
  EXPECT_TESSERA_ERROR(tile(a, {1, 70000}), out_of_memory, "tile", "4900000000");
  EXPECT_TESSERA_ERROR(gather(a, context().zeros({70000}, DType::i32), 1), out_of_memory, "gather", "4900000000");
  EXPECT_TESSERA_ERROR(one_hot(context().zeros({70000}, DType::i32), 70000), out_of_memory, "one_hot", "4900000000");
  EXPECT_TESSERA_ERROR(diag(ones({70000})), out_of_memory, "diag", "4900000000");
  EXPECT_TESSERA_ERROR(eye(context(), 70000), out_of_memory, "eye", "4900000000");
  EXPECT_TESSERA_ERROR(linspace(context(), 0, 1, huge), out_of_memory, "linspace", "4611686018427387904");
  EXPECT_TESSERA_ERROR(range(context(), 0, 1e10), out_of_memory, "range", "10000000000");
  EXPECT_TESSERA_ERROR(concat({context().zeros({most}), context().zeros({most})}), out_of_memory, "concat",
                       "4294967294");
  EXPECT_TESSERA_ERROR(stack({context().zeros({most}), context().zeros({most})}), out_of_memory, "4294967294");
  EXPECT_TESSERA_ERROR(sort(context().zeros({most})), out_of_memory, "sort");
  EXPECT_TESSERA_ERROR(histogram(context().zeros({1, 1, 1 << 20}), 1 << 12), out_of_memory, "histogram");
  EXPECT_TESSERA_ERROR(resize(ones({1, 1, 3}), 70000, 70000), out_of_memory, "resize", "14700000000");
}

// Axes that stretch are summed over in both operands at once: the products are more than either has elements.
TEST_P(Sizes, SumsOfTooManyProductsAreRefused) {
  const Tensor a = ones({70000, 1}).compute(), b = ones({1, 70000}).compute();
  EXPECT_TESSERA_ERROR(einsum("ij,ij->", {a, b}), out_of_memory, "einsum", "4900000000", "2147483647");
  EXPECT_TESSERA_ERROR(einsum("kij,mij->km", {ones({2, 70000, 1}), ones({3, 1, 70000})}), out_of_memory, "einsum",
                       "4900000000", "2147483647");
  EXPECT_TESSERA_ERROR(einsum("i,j->ij", {ones({70000}), ones({70000})}), out_of_memory, "einsum", "4900000000");
}

TEST_P(Sizes, ProductsAndSumsThatOverflowAreRefused) {
  const Tensor x = ones({1, 2, 2, 4});
  for (const std::int64_t block : {std::int64_t{1} << 32, huge, INT64_MAX}) {
    EXPECT_TESSERA_ERROR(depth_to_space(x, block), invalid_argument, "depth_to_space", std::to_string(block).c_str());
    EXPECT_TESSERA_ERROR(depth_to_space(ones({1, 2, 2, 0}), block), out_of_memory, "depth_to_space",
                         std::to_string(block).c_str());
    EXPECT_TESSERA_ERROR(space_to_depth(x, block), invalid_argument, "space_to_depth", std::to_string(block).c_str());
    EXPECT_TESSERA_ERROR(space_to_depth(ones({1, 0, 0, 4}), block), out_of_memory, "space_to_depth",
                         std::to_string(block).c_str());
    EXPECT_TESSERA_ERROR(tile(ones({4}), {block}), out_of_memory, "tile", std::to_string(block).c_str());
    EXPECT_TESSERA_ERROR(tile(ones({2, 3}), {block, 0}), out_of_memory, "tile", std::to_string(block).c_str());
    for (const PadWidth width : {PadWidth{block, block}, PadWidth{block, 0}, PadWidth{0, block}}) {
      EXPECT_TESSERA_ERROR(pad(ones({2}), {width}), out_of_memory, "pad", std::to_string(block).c_str());
      EXPECT_TESSERA_ERROR(pad(ones({0}), {width}), out_of_memory, "pad", std::to_string(block).c_str());
    }
    EXPECT_TESSERA_ERROR(one_hot(context().zeros({3}, DType::i32), block), out_of_memory, "one_hot",
                         std::to_string(block).c_str());
    EXPECT_TESSERA_ERROR(eye(context(), block), out_of_memory, "eye", std::to_string(block).c_str());
    EXPECT_TESSERA_ERROR(slice(x, {INT64_MIN, 0, 0, 0}, {-1, -1, -1, -1}), invalid_argument, "slice", "begin");
    EXPECT_TESSERA_ERROR(slice(x, {0, 0, 0, 0}, {block, -1, -1, -1}), invalid_argument, "slice");
  }
  EXPECT_TESSERA_ERROR(average_pool(ones({1, 1, 1, 1, 1}), {.size = {1 << 29, 1 << 29, 1 << 29},
                                                            .strides = {1, 1, 1},
                                                            .pads = std::vector<std::int64_t>(6, (1 << 29) - 1),
                                                            .counts_padding = true}),
                       out_of_memory, "average_pool", "536870912");
  EXPECT_TESSERA_ERROR(resize(context().zeros({most, 1, 1}), static_cast<int>(most) - 1, 1), unsupported, "resize");
  EXPECT_EQ(strided_slice(ones({5}), {INT64_MIN}, {INT64_MAX}, {INT64_MAX}).read(), std::vector<float>{1});
  EXPECT_EQ(strided_slice(ones({5}), {INT64_MAX}, {INT64_MIN}, {-INT64_MAX}).read(), std::vector<float>{1});
  EXPECT_EQ(diag_part(ones({2, 3})).shape(), Shape{2});
  EXPECT_TESSERA_ERROR(diag_part(ones({2, 3}), INT64_MIN), invalid_argument, "diag_part");
  EXPECT_EQ(triangle(ones({2, 2}), Triangle::upper, INT64_MIN).read(), std::vector<float>(4, 1));
}

// Whatever is multiplied, a zero among the sizes must not hide what the others come to.
TEST_P(Sizes, EmptyShapesWhoseOtherSizesDoNotFitAreRefused) {
  const std::vector<std::vector<std::int64_t>> places{{0, huge, huge}, {huge, 0, huge}, {huge, huge, 0}};
  for (const std::vector<std::int64_t>& dims : places) {
    EXPECT_TESSERA_ERROR(context().zeros(Shape(dims)), out_of_memory, "shape", "4611686018427387904", "2147483647");
    EXPECT_TESSERA_ERROR(context().zeros({0}).reshape(Shape(dims)), out_of_memory, "shape", "4611686018427387904");
  }
  EXPECT_TESSERA_ERROR(ones({0, 70000, 1}) + ones({0, 1, 70000}), out_of_memory, "add", "empty", "4900000000");
}

TEST_P(Sizes, EmptyTensorsGoThroughEveryMove) {
  const Tensor x = ones({0, 1 << 14, 1 << 14});
  EXPECT_EQ(transpose(x).shape(), (Shape{1 << 14, 1 << 14, 0}));
  EXPECT_EQ(reverse(x).shape(), x.shape());
  EXPECT_EQ(slice(x, {0, 1, 2}, {0, 5, 6}).shape(), (Shape{0, 5, 6}));
  EXPECT_EQ(strided_slice(x, {0, 0, 0}, {9, 9, 9}, {1, 2, -1}).shape(), (Shape{0, 5, 0}));
  EXPECT_EQ(sum(x, {{0}}).shape(), (Shape{1 << 14, 1 << 14}));
  EXPECT_EQ(sum(x, {{1}}).shape(), (Shape{0, 1 << 14}));
  EXPECT_EQ(flatten(x).shape(), Shape{0});
  EXPECT_EQ(tile(x, {3, 1, 2}).shape(), (Shape{0, 1 << 14, 1 << 15}));
  EXPECT_EQ(pad(x, {{}, {1, 0}, {}}).shape(), (Shape{0, (1 << 14) + 1, 1 << 14}));
  EXPECT_EQ(gather(x, context().zeros({3}, DType::i32), 2).shape(), (Shape{0, 1 << 14, 3}));
  EXPECT_EQ(gather_nd(x, context().zeros({0, 1}, DType::i32)).shape(), (Shape{0, 1 << 14, 1 << 14}));
  EXPECT_EQ(concat({x, x}, 1).shape(), (Shape{0, 1 << 15, 1 << 14}));
  EXPECT_EQ(cumsum(x, 1).shape(), x.shape());
  EXPECT_EQ(sort(x, 1).shape(), x.shape());
  EXPECT_EQ(softmax(x).shape(), x.shape());
  EXPECT_EQ((x + 1.0f).shape(), x.shape());
  EXPECT_TRUE(x.read().empty());
  EXPECT_EQ(quantize(x, 2).scale.shape(), Shape{1 << 14});
  EXPECT_EQ(resize(ones({0, 1 << 20, 1, 3}), 7, 5).shape(), (Shape{0, 7, 5, 3}));
  EXPECT_EQ(matmul(x, ones({1 << 14, 4})).shape(), (Shape{0, 1 << 14, 4}));
}

TESSERA_ON_EACH_BACKEND(Sizes);

}  // namespace
}  // namespace tessera::test::sizes_test

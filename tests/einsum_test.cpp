// einsum, against plain loops over all letters and against published examples.
#include <algorithm>
#include <chrono>
#include <map>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::einsum_test {
namespace {

class Einsums : public OnDevice {
 protected:
  struct Operand {
    std::string letters;
    std::vector<float> values;
  };

  // Where the operand has the element that these indices name.
  static std::size_t place(const std::string& letters, std::map<char, std::int64_t>& indices,
                           std::map<char, std::int64_t>& sizes) {
    std::int64_t at = 0;
    for (const char letter : letters) at = at * sizes[letter] + indices[letter];
    return static_cast<std::size_t>(at);
  }

  // Walks through all values of all letters, and adds each product to its result.
  static std::vector<float> by_hand(const std::vector<Operand>& operands, const std::string& result,
                                    std::map<char, std::int64_t> sizes) {
    std::int64_t steps = 1, results = 1;
    for (const auto& [letter, size] : sizes) steps *= size;
    for (const char letter : result) results *= sizes[letter];
    std::vector<double> totals(static_cast<std::size_t>(results));
    for (std::int64_t step = 0; step < steps; ++step) {
      std::map<char, std::int64_t> indices;
      std::int64_t rest = step;
      for (const auto& [letter, size] : sizes) {
        indices[letter] = rest % size;
        rest /= size;
      }
      double product = 1;
      for (const Operand& operand : operands) product *= operand.values[place(operand.letters, indices, sizes)];
      totals[place(result, indices, sizes)] += product;
    }
    return {totals.begin(), totals.end()};
  }

  void check(const std::vector<std::string>& letters, const std::string& result,
             const std::map<char, std::int64_t>& sizes) {
    std::string equation;
    std::vector<Tensor> tensors;
    std::vector<Operand> operands;
    for (const std::string& its : letters) {
      std::vector<std::int64_t> dims;
      for (const char letter : its) dims.push_back(sizes.at(letter));
      const Shape shape{std::span<const std::int64_t>(dims)};
      operands.push_back({its, random_values(static_cast<std::size_t>(shape.size()), -1, 1,
                                             static_cast<std::uint32_t>(operands.size()))});
      tensors.push_back(context().tensor(shape, operands.back().values));
      equation += (operands.size() == 1 ? "" : ",") + its;
    }
    equation += "->" + result;
    SCOPED_TRACE(equation);
    const Tensor got = einsum(equation, tensors);
    ASSERT_EQ(got.shape().rank(), static_cast<int>(result.size()));
    for (std::size_t axis = 0; axis < result.size(); ++axis)
      EXPECT_EQ(got.shape()[static_cast<int>(axis)], sizes.at(result[axis]));
    EXPECT_TRUE(all_agree(got.read(), by_hand(operands, result, sizes), 1e-5f));
  }

  std::uint64_t dispatches_of(const Tensor& tensor) {
    context().reset_stats();
    tensor.compute();
    return context().stats().dispatches;
  }

  Tensor counting(const Shape& shape) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < shape.size(); ++i) values.push_back(static_cast<float>(i));
    return context().tensor(shape, values);
  }
};

// The examples of numpy.einsum: a = arange(25).reshape(5, 5), b = arange(5), c = arange(6).reshape(2, 3).
TEST_P(Einsums, FromThePublishedExamples) {
  const Tensor a = counting({5, 5}), b = counting({5}), c = counting({2, 3});
  EXPECT_EQ(einsum("ii", {a}).read(), std::vector<float>{60});
  EXPECT_EQ(einsum("ii->i", {a}).read(), (std::vector<float>{0, 6, 12, 18, 24}));
  EXPECT_EQ(einsum("ij->i", {a}).read(), (std::vector<float>{10, 35, 60, 85, 110}));
  EXPECT_EQ(einsum("ji", {c}).read(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(einsum("ij->ji", {c}).read(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(einsum("i,i", {b, b}).read(), std::vector<float>{30});
  EXPECT_EQ(einsum("ij,j", {a, b}).read(), (std::vector<float>{30, 80, 130, 180, 230}));
  EXPECT_EQ(einsum("i,j", {counting({2}) + 1.0f, b}).read(), (std::vector<float>{0, 1, 2, 3, 4, 0, 2, 4, 6, 8}));
  EXPECT_EQ(einsum("ki,jk->ij", {counting({3, 2}), counting({4, 3})}).read(),
            (std::vector<float>{10, 28, 46, 64, 13, 40, 67, 94}));
}

TEST_P(Einsums, OneOperand) {
  check({"ij"}, "ij", {{'i', 3}, {'j', 4}});
  check({"ij"}, "ji", {{'i', 3}, {'j', 5}});
  check({"ij"}, "", {{'i', 3}, {'j', 5}});
  check({"ij"}, "j", {{'i', 3}, {'j', 5}});
  check({"abcd"}, "dbca", {{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5}});
  check({"abcd"}, "db", {{'a', 2}, {'b', 3}, {'c', 4}, {'d', 5}});
  check({"aba"}, "ba", {{'a', 3}, {'b', 4}});
  check({"iji"}, "j", {{'i', 3}, {'j', 4}});
  check({""}, "", {});
}

TEST_P(Einsums, TwoOperands) {
  check({"ij", "jk"}, "ik", {{'i', 3}, {'j', 5}, {'k', 7}});
  check({"ij", "jk"}, "ik", {{'i', 8}, {'j', 4}, {'k', 12}});
  check({"ij", "jk"}, "ki", {{'i', 8}, {'j', 4}, {'k', 12}});
  check({"ij", "kj"}, "ik", {{'i', 8}, {'j', 4}, {'k', 12}});
  check({"ji", "kj"}, "ki", {{'i', 8}, {'j', 4}, {'k', 12}});
  check({"bij", "bjk"}, "bik", {{'b', 3}, {'i', 2}, {'j', 4}, {'k', 5}});
  check({"bij", "bjk"}, "ikb", {{'b', 3}, {'i', 2}, {'j', 4}, {'k', 5}});
  check({"bhqd", "bhkd"}, "bhqk", {{'b', 2}, {'h', 3}, {'q', 5}, {'k', 7}, {'d', 8}});
  check({"bqhd", "bkhd"}, "bhqk", {{'b', 2}, {'h', 3}, {'q', 5}, {'k', 8}, {'d', 8}});
  check({"bhqk", "bkhd"}, "bqhd", {{'b', 2}, {'h', 3}, {'q', 5}, {'k', 8}, {'d', 8}});
  check({"i", "j"}, "ij", {{'i', 5}, {'j', 7}});
  check({"i", "j"}, "ji", {{'i', 5}, {'j', 7}});
  check({"i", "i"}, "", {{'i', 9}});
  check({"i", "i"}, "i", {{'i', 9}});
  check({"bi", "bi"}, "b", {{'b', 3}, {'i', 9}});
  check({"ij", "j"}, "i", {{'i', 6}, {'j', 8}});
  check({"abc", "bcd"}, "ad", {{'a', 3}, {'b', 4}, {'c', 5}, {'d', 6}});  // two axes summed
  check({"abc", "cbd"}, "ad", {{'a', 3}, {'b', 5}, {'c', 4}, {'d', 8}});  // in another order
  check({"ii", "ij"}, "j", {{'i', 4}, {'j', 5}});
  check({"ij", "jk"}, "k", {{'i', 3}, {'j', 4}, {'k', 5}});  // i is summed first
  check({"ij", "kl"}, "", {{'i', 3}, {'j', 4}, {'k', 5}, {'l', 2}});
  check({"ij", "kl"}, "jl", {{'i', 3}, {'j', 4}, {'k', 5}, {'l', 2}});
  check({"", "ij"}, "ji", {{'i', 3}, {'j', 4}});
  check({"abcdef", "fedg"}, "gcab", {{'a', 2}, {'b', 3}, {'c', 2}, {'d', 3}, {'e', 2}, {'f', 4}, {'g', 5}});
}

TEST_P(Einsums, SeveralOperands) {
  check({"ij", "jk", "kl"}, "il", {{'i', 3}, {'j', 4}, {'k', 5}, {'l', 2}});
  check({"i", "j", "k"}, "kij", {{'i', 3}, {'j', 4}, {'k', 5}});
  check({"bi", "ij", "bj"}, "b", {{'b', 3}, {'i', 4}, {'j', 5}});  // a bilinear form
  check({"a", "ab", "abc", "c"}, "b", {{'a', 3}, {'b', 4}, {'c', 5}});
  check({"ij", "kl", "jk"}, "", {{'i', 3}, {'j', 4}, {'k', 5}, {'l', 2}});
  const Tensor bytes = context().tensor({2}, std::vector<std::int8_t>{100, -100});
  EXPECT_EQ(einsum("i,i,i->i", {bytes, bytes, bytes}).read<std::int32_t>(),
            (std::vector<std::int32_t>{1000000, -1000000}));
  // Halves could not hold the product of the first two.
  const Tensor large = context().full({2}, 1000, DType::f16), small = context().full({2}, 0.001f, DType::f16);
  const Tensor product = einsum("i,i,i->i", {large, large, small});
  EXPECT_EQ(product.dtype(), DType::f16);
  EXPECT_TRUE(all_agree(product.read(), {1000, 1000}, 1e-3f));
}

// The examples of numpy.einsum, and those of ONNX's Einsum.
TEST_P(Einsums, AnEllipsisStandsForTheOtherAxes) {
  const Tensor a = counting({5, 5}), b = counting({5}), c = counting({2, 3});
  EXPECT_EQ(einsum("...j->...", {a}).read(), (std::vector<float>{10, 35, 60, 85, 110}));
  EXPECT_EQ(einsum("i...->...", {a}).read(), (std::vector<float>{50, 55, 60, 65, 70}));
  EXPECT_EQ(einsum("...j,j", {a, b}).read(), (std::vector<float>{30, 80, 130, 180, 230}));
  EXPECT_EQ(einsum("..., ...", {context().full({}, 3), c}).read(), (std::vector<float>{0, 3, 6, 9, 12, 15}));
  const std::vector<float> product{10, 28, 46, 64, 13, 40, 67, 94};
  EXPECT_EQ(einsum("ki,...k->i...", {counting({3, 2}), counting({4, 3})}).read(), product);
  EXPECT_EQ(einsum("k...,jk", {counting({3, 2}), counting({4, 3})}).read(), product);
  const Tensor diagonals = einsum("...ii ->...i", {counting({2, 3, 3})});
  EXPECT_EQ(diagonals.shape(), (Shape{2, 3}));
  EXPECT_EQ(diagonals.read(), (std::vector<float>{0, 4, 8, 9, 13, 17}));
  EXPECT_EQ(einsum("bij, bjk -> bik", {counting({2, 1, 2}), counting({2, 2, 1})}).read(), (std::vector<float>{1, 13}));
  // Ellipses of different lengths align at their last axes, and a size of 1 stretches.
  const Tensor batches = einsum("...ij,...jk->...ik", {counting({2, 1, 2, 3}), counting({4, 3, 1})});
  EXPECT_EQ(batches.shape(), (Shape{2, 4, 2, 1}));
  EXPECT_EQ(batches.read(), matmul(counting({2, 1, 2, 3}), counting({4, 3, 1})).read());
  EXPECT_EQ(einsum("i...->i...", {b}).shape(), Shape{5});
}

TEST_P(Einsums, ASizeOfOneStretches) {
  EXPECT_EQ(einsum("ij,jk->ik", {context().tensor({2, 1}, {1, 2}), counting({3, 2})}).read(),
            (std::vector<float>{6, 9, 12, 18}));
  EXPECT_EQ(einsum("bi,bi->b", {context().tensor({1, 2}, {1, 2}), counting({3, 2})}).read(),
            (std::vector<float>{2, 8, 14}));
}

TEST_P(Einsums, ElementTypes) {
  const Tensor bytes = context().tensor({2, 2}, std::vector<std::int8_t>{100, 100, -100, 50});
  EXPECT_EQ(einsum("ij,jk->ik", {bytes, bytes}).read<std::int32_t>(),
            (std::vector<std::int32_t>{0, 15000, -15000, -7500}));
  EXPECT_EQ(einsum("i,j->ij", {bytes.reshape({4}), bytes.reshape({4})}).dtype(), DType::i32);
  EXPECT_EQ(einsum("ij,k->k", {bytes, bytes.reshape({4})}).read<std::int32_t>(),
            (std::vector<std::int32_t>{15000, 15000, -15000, 7500}));
  EXPECT_EQ(einsum("ij->ji", {bytes}).read<std::int8_t>(), (std::vector<std::int8_t>{100, -100, 100, 50}));
  const Tensor halves = context().full({64, 64}, 1, DType::f16).compute();
  EXPECT_EQ(einsum("ij,ij->", {halves, halves}).read<half>()[0], half(4096.0f));
  EXPECT_EQ(einsum("ij,k->k", {halves, halves.reshape({4096})}).dtype(), DType::f16);
  EXPECT_EQ(einsum("ij->ji", {context().zeros({2, 3}, DType::boolean)}).dtype(), DType::boolean);
}

TEST_P(Einsums, NoElements) {
  EXPECT_EQ(einsum("ij->j", {context().zeros({0, 3})}).read(), std::vector<float>(3, 0));
  EXPECT_EQ(einsum("ij->ji", {context().zeros({0, 3})}).shape(), (Shape{3, 0}));
  EXPECT_EQ(einsum("ij,jk->ik", {context().zeros({2, 0}), context().zeros({0, 3})}).read(), std::vector<float>(6, 0));
  EXPECT_EQ(einsum("ij,k->k", {context().zeros({2, 0}), counting({3})}).read(), std::vector<float>(3, 0));
}

TEST_P(Einsums, ViewsAndOrdersCostNothing) {
  const Tensor q = context().full({2, 5, 3, 8}, 1).compute(), k = context().full({2, 7, 3, 8}, 0.5f).compute(),
               x = counting({6, 8}).compute();
  EXPECT_EQ(dispatches_of(einsum("bqhd,bkhd->bhqk", {q, k}) * 0.125f), 1u);
  EXPECT_EQ(dispatches_of(einsum("ij->ji", {x}) + 1.0f), 1u);
  EXPECT_EQ(dispatches_of(einsum("ij->", {x})), 1u);
  EXPECT_EQ(dispatches_of(einsum("ij->j", {x})), 1u);
  EXPECT_EQ(dispatches_of(einsum("ij,ij->", {x, x})), 1u);
  EXPECT_EQ(dispatches_of(einsum("ij,kl->ijkl", {x, x}) + 1.0f), 1u);
}

TEST_P(Einsums, BadInput) {
  const Tensor a = context().zeros({2, 3}), b = context().zeros({4, 5});
  EXPECT_TESSERA_ERROR(einsum("ij,jk->ik", {a, b}), shape_mismatch, "einsum", "'j'", "3 and 4", "[2,3]", "[4,5]");
  EXPECT_TESSERA_ERROR(einsum("ii->i", {a}), shape_mismatch, "einsum", "'i'", "2 and 3");
  EXPECT_TESSERA_ERROR(einsum("ijk->i", {a}), shape_mismatch, "3 letters", "[2,3]", "rank 2");
  EXPECT_TESSERA_ERROR(einsum("ij,jk->ik", {a}), invalid_argument, "2 operands", "there are 1");
  EXPECT_TESSERA_ERROR(einsum("ij->ijk", {a}), invalid_argument, "'k'", "no operand");
  EXPECT_TESSERA_ERROR(einsum("ij->ii", {a}), invalid_argument, "'i'", "twice");
  EXPECT_TESSERA_ERROR(einsum("i1->i", {a}), invalid_argument, "'1'");
  EXPECT_TESSERA_ERROR(einsum("ij->i->j", {a}), invalid_argument, "'-'");
  EXPECT_TESSERA_ERROR(einsum("...i->i", {a}), invalid_argument, "ellipsis", "none in its result");
  EXPECT_TESSERA_ERROR(einsum("...ijk->...", {a}), shape_mismatch, "3 letters", "[2,3]", "rank 2");
  EXPECT_TESSERA_ERROR(einsum("...i...->i", {a}), invalid_argument, "'.'");
  EXPECT_TESSERA_ERROR(einsum("i..->i", {a}), invalid_argument, "'.'");
  EXPECT_TESSERA_ERROR(einsum("...i,...i->...", {a, context().zeros({4, 3})}), shape_mismatch,
                       "axis -1 of the ellipsis", "2 and 4");
  EXPECT_TESSERA_ERROR(einsum("ij,jk,kl->il", {a, context().zeros({3, 4}), b.reshape({5, 4})}), shape_mismatch, "'k'",
                       "4 and 5", "[2,3] and [3,4] and [5,4]");
  EXPECT_TESSERA_ERROR(einsum("i,i,i->", {a.reshape({6}), a.reshape({6}), context().zeros({6}, DType::f16)}),
                       dtype_mismatch, "einsum", "f32", "f16");
  EXPECT_TESSERA_ERROR(einsum("ij,ij->", {a, context().zeros({2, 3}, DType::i32)}), dtype_mismatch, "einsum", "f32",
                       "i32");
  EXPECT_TESSERA_ERROR(einsum("ij->", {context().zeros({2, 3}, DType::boolean)}), dtype_mismatch, "einsum", "boolean");
  EXPECT_TESSERA_ERROR(einsum("", std::span<const Tensor>()), invalid_argument, "einsum", "there are 0");
}

// By what is wrong with them, and in a sentence that people can read.
TEST_P(Einsums, LongEquationsAreRefusedAtOnce) {
  const Tensor a = context().zeros({2, 3});
  std::string letters;
  for (int i = 0; i < 200'000; ++i) letters += static_cast<char>('a' + i % 26);
  const std::string commas(200'000, ','), spaces(200'000, ' ');
  const auto refused = [&](const std::string& equation, ErrorCode code) {
    try {
      einsum(equation, {a});
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      EXPECT_LT(std::string_view(error.what()).size(), 1000u);
    }
  };
  const auto begin = std::chrono::steady_clock::now();
  refused(letters, ErrorCode::shape_mismatch);
  refused(letters + "->", ErrorCode::shape_mismatch);
  refused("ij->" + letters, ErrorCode::invalid_argument);
  refused("..." + letters, ErrorCode::shape_mismatch);
  refused(commas, ErrorCode::invalid_argument);
  refused(letters + commas + letters, ErrorCode::invalid_argument);
  refused(spaces + "ijk", ErrorCode::shape_mismatch);
  // In proportion to their lengths: by their squares it would be minutes, also on a machine that is not busy.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TESSERA_ON_EACH_BACKEND(Einsums);

}  // namespace
}  // namespace tessera::test::einsum_test

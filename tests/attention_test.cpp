// Attention, against plain loops in double.
#include <cmath>
#include <limits>
#include <optional>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::attention_test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();

struct Case {
  std::int64_t matrices, together, queries, keys, depth, width;
  bool causal = false;
  std::int64_t past = 0;
};

// `added` has a number for each score, in the order of a mask [matrices, together, queries, keys].
std::vector<float> by_hand(const Case& c, const std::vector<float>& q, const std::vector<float>& k,
                           const std::vector<float>& v, double scale, const std::vector<float>& added = {}) {
  std::vector<float> result;
  const auto at = [](const std::vector<float>& x, std::int64_t i) {
    return static_cast<double>(x[static_cast<std::size_t>(i)]);
  };
  for (std::int64_t row = 0; row < c.matrices * c.together * c.queries; ++row) {
    const std::int64_t matrix = row / (c.together * c.queries), query = row % c.queries;
    std::vector<double> scores;
    double largest = -std::numeric_limits<double>::infinity(), total = 0;
    for (std::int64_t key = 0; key < c.keys; ++key) {
      double score = 0;
      for (std::int64_t i = 0; i < c.depth; ++i)
        score += at(q, row * c.depth + i) * at(k, (matrix * c.keys + key) * c.depth + i);
      score *= scale;
      if (!added.empty()) score += at(added, row * c.keys + key);
      if (c.causal && key > query + c.past) score = -std::numeric_limits<double>::infinity();
      scores.push_back(score);
      largest = std::max(largest, score);
    }
    for (double& score : scores) total += score = std::exp(score - largest);
    for (std::int64_t column = 0; column < c.width; ++column) {
      double sum = 0;
      for (std::int64_t key = 0; key < c.keys; ++key)
        sum += scores[static_cast<std::size_t>(key)] * at(v, (matrix * c.keys + key) * c.width + column);
      result.push_back(static_cast<float>(sum / total));
    }
  }
  return result;
}

std::vector<float> numbers(std::int64_t count, std::uint32_t seed) {
  return random_values(static_cast<std::size_t>(count), -1, 1, seed);
}

class AttentionTest : public OnDevice {
 protected:
  void check(const Case& c, DType dtype = DType::f32) {
    SCOPED_TRACE(testing::Message() << c.matrices << "x" << c.together << " heads, " << c.queries << " by " << c.keys
                                    << ", " << c.depth << " and " << c.width);
    const std::vector<float> q = numbers(c.matrices * c.together * c.queries * c.depth, 1),
                             k = numbers(c.matrices * c.keys * c.depth, 2),
                             v = numbers(c.matrices * c.keys * c.width, 3);
    const auto tensor = [&](const Shape& shape, const std::vector<float>& values) {
      return context().tensor(shape, values).cast(dtype);
    };
    const Tensor result =
        attention(tensor({c.matrices * c.together, c.queries, c.depth}, q), tensor({c.matrices, c.keys, c.depth}, k),
                  tensor({c.matrices, c.keys, c.width}, v), {.scale = 1.5f, .causal = c.causal, .past = c.past});
    EXPECT_EQ(result.shape(), (Shape{c.matrices * c.together, c.queries, c.width}));
    EXPECT_EQ(result.dtype(), dtype);
    EXPECT_TRUE(all_agree(result.cast(DType::f32).read(), by_hand(c, q, k, v, 1.5), tolerance_in(dtype, 1e-5f)));
  }
};

TEST_P(AttentionTest, EverySize) {
  for (const std::int64_t queries : {3, 4, 17, 33}) check({2, 1, queries, 7, 8, 8});
  for (const std::int64_t keys : {1, 2, 32, 33, 130}) check({1, 1, 6, keys, 8, 32});
  for (const std::int64_t width : {1, 5, 36, 132, 256, 260}) check({2, 1, 5, 9, 4, width});
  for (const std::int64_t depth : {1, 6, 64}) check({2, 1, 5, 9, depth, 4});
}

TEST_P(AttentionTest, HeadsShareKeysAndValues) {
  check({2, 3, 5, 9, 8, 8});
  check({1, 4, 1, 40, 8, 16});
  check({3, 2, 30, 20, 16, 32, true});
}

TEST_P(AttentionTest, SeesNoKeysToCome) {
  check({2, 1, 40, 40, 8, 8, true});
  check({1, 1, 3, 10, 8, 8, true, 7});
  check({1, 2, 20, 50, 8, 260, true, 30});
  check({1, 1, 9, 4, 8, 8, true, 100});
}

TEST_P(AttentionTest, TakesHalves) {
  check({2, 2, 9, 12, 16, 8}, DType::f16);
  check({1, 1, 2, 12, 16, 8}, DType::f16);
}

TEST_P(AttentionTest, LargeEnoughForBlocksOfQueries) { check({2, 1, 1100, 2000, 4, 8, true}); }

// Values of 32 numbers for each member of an octet, or more octets for the same rows.
TEST_P(AttentionTest, WideValuesInOctets) {
  for (const std::int64_t width : {64, 68, 100, 128, 516}) check({2, 1, 19, 37, 12, width});
  check({2, 2, 70, 66, 64, 132, true, 3});
}

TEST_P(AttentionTest, MasksStretch) {
  const Case c{2, 3, 6, 10, 8, 8};  // two images of three heads with keys of their own
  const std::vector<float> q = numbers(2 * 3 * 6 * 8, 1), k = numbers(2 * 3 * 10 * 8, 2),
                           v = numbers(2 * 3 * 10 * 8, 3);
  const Tensor queries = context().tensor({2, 3, 6, 8}, q), keys = context().tensor({2, 3, 10, 8}, k),
               values = context().tensor({2, 3, 10, 8}, v);
  for (const Shape& shape :
       {Shape{2, 3, 6, 10}, Shape{2, 1, 1, 10}, Shape{3, 6, 1}, Shape{6, 10}, Shape{10}, Shape{}, Shape{2, 1, 6, 10}}) {
    SCOPED_TRACE(shape.to_string());
    const std::vector<float> mask = random_values(static_cast<std::size_t>(shape.size()), -4, 4, 5);
    const Tensor added = context().tensor(shape, mask);
    const std::vector<float> all = broadcast_to(added, {2, 3, 6, 10}).read();
    std::vector<float> seen;
    for (const float number : all) seen.push_back(number > -2 ? 0 : -infinity);
    const Case apart{6, 1, 6, 10, 8, 8};
    EXPECT_TRUE(all_agree(attention(queries, keys, values, {.scale = 0.5f, .mask = added}).read(),
                          by_hand(apart, q, k, v, 0.5, all), 1e-5f));
    EXPECT_TRUE(all_agree(attention(queries, keys, values, {.scale = 0.5f, .mask = added > -2}).read(),
                          by_hand(apart, q, k, v, 0.5, seen), 1e-5f));
  }
  // Of heads that share keys, each has rows of the mask of its own.
  const Tensor shared = context().tensor({2, 1, 10, 8}, numbers(2 * 10 * 8, 7));
  const Tensor mask = context().tensor({3, 6, 10}, numbers(3 * 6 * 10, 8));
  std::vector<float> twice = numbers(3 * 6 * 10, 8);
  twice.insert(twice.end(), twice.begin(), twice.end());
  EXPECT_TRUE(all_agree(attention(queries, shared, shared, {.scale = 1.0f, .mask = mask}).read(),
                        by_hand(c, q, numbers(2 * 10 * 8, 7), numbers(2 * 10 * 8, 7), 1, twice), 1e-5f));
}

TEST_P(AttentionTest, PublishedValues) {
  // Of the definition: softmax([1, 0] / sqrt(1)) is 0.7310586, 0.2689414.
  const Tensor q = context().tensor({1, 1}, {1}), k = context().tensor({2, 1}, {1, 0});
  EXPECT_TRUE(
      all_agree(attention(q, k, context().tensor({2, 2}, {1, 0, 0, 1})).read(), {0.7310586f, 0.2689414f}, 1e-6f));
  // The scale is 1 / sqrt(4) where none is given: scores 1 and 0.
  const Tensor q4 = context().full({4, 4}, 1), k4 = context().tensor({2, 4}, {0.5f, 0.5f, 0.5f, 0.5f, 0, 0, 0, 0});
  EXPECT_TRUE(
      all_agree(attention(q4, k4, context().tensor({2, 1}, {1, 0})).read(), std::vector<float>(4, 0.7310586f), 1e-6f));
}

TEST_P(AttentionTest, SpecialValues) {
  const Tensor q = context().tensor({5, 1}, {1, 2, 3, 4, 5}), k = context().tensor({3, 1}, {0, 1, 200}),
               v = context().tensor({3, 1}, {1, 2, 3});
  const Tensor mask = context().tensor(
      {5, 3}, {0, 0, -infinity, -infinity, -infinity, -infinity, nan, 0, 0, 0, 0, infinity, 0, -infinity, -infinity});
  EXPECT_TRUE(all_agree(attention(q, k, v, {.mask = mask}).read(), {1.7310586f, nan, nan, nan, 1}, 1e-5f));
  // Scores of a thousand do not overflow.
  EXPECT_TRUE(all_agree(attention(q, k, v).read(), {3, 3, 3, 3, 3}, 1e-6f));
  const Tensor none = context().zeros({5, 3}).cast(DType::boolean);
  EXPECT_TRUE(all_agree(attention(q, k, v, {.mask = none}).read(), std::vector<float>(5, nan), 0));
}

TEST_P(AttentionTest, WithoutElements) {
  const auto zeros = [&](const Shape& shape) { return context().zeros(shape); };
  EXPECT_EQ(attention(zeros({2, 0, 4}), zeros({2, 3, 4}), zeros({2, 3, 4})).read().size(), 0u);
  EXPECT_EQ(attention(zeros({0, 2, 4}), zeros({0, 3, 4}), zeros({0, 3, 4})).read().size(), 0u);
  EXPECT_TRUE(all_agree(attention(zeros({2, 4}), zeros({0, 4}), zeros({0, 1})).read(), {nan, nan}, 0));
  EXPECT_TRUE(
      all_agree(attention(zeros({4, 0}), zeros({2, 0}), context().tensor({2, 1}, {1, 3})).read(), {2, 2, 2, 2}, 1e-6f));
}

// The scores of as many queries and keys have 32 MiB.
TEST_P(AttentionTest, ScoresAreNotStored) {
  const std::int64_t count = 2896, depth = 8;
  const Tensor q = context().tensor({count, depth}, numbers(count * depth, 1));
  q.compute();
  context().trim();
  context().reset_stats();
  const std::uint64_t before = context().memory().bytes_in_use;
  const Tensor result = attention(q, q, q);
  result.compute();
  const auto stored = static_cast<std::uint64_t>(count * count) * sizeof(float);
  const std::uint64_t taken = context().memory().bytes_peak - before;
  if (has_octets(GetParam())) {
    EXPECT_EQ(context().stats().dispatches, 1u);
    EXPECT_EQ(taken, static_cast<std::uint64_t>(count * depth) * sizeof(float));
    return;
  }
  EXPECT_GT(context().stats().dispatches, 3u);
  // The scores of half of the queries, or their shares, and on OpenGL ES one of them as products want it.
  EXPECT_LE(taken, 2 * stored);
}

TEST_P(AttentionTest, TakesFewPasses) {
  const Tensor q = context().tensor({2, 8, 16}, numbers(2 * 8 * 16, 1));
  context().reset_stats();
  (attention(q, q, q, {.causal = true}) * 2).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
}

TEST_P(AttentionTest, BadInput) {
  const auto zeros = [&](const Shape& shape) { return context().zeros(shape); };
  const auto expect = [&](ErrorCode code, std::string_view sentence, const Tensor& q, const Tensor& k, const Tensor& v,
                          const Attention& how = {}) {
    try {
      attention(q, k, v, how);
      ADD_FAILURE() << "No error: " << sentence;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_EQ(std::string_view(error.what()), sentence);
    }
  };
  expect(ErrorCode::shape_mismatch,
         "attention: q [2,4], k [2,5] and v [2,4] do not fit: the last axes of q and k differ.", zeros({2, 4}),
         zeros({2, 5}), zeros({2, 4}));
  expect(ErrorCode::shape_mismatch,
         "attention: q [2,4], k [2,4] and v [3,4] do not fit: there is not one value for each key.", zeros({2, 4}),
         zeros({2, 4}), zeros({3, 4}));
  expect(ErrorCode::shape_mismatch,
         "attention: q [3,2,4], k [2,2,4] and v [2,2,4] do not fit: the heads of q are no multiple of those of k.",
         zeros({3, 2, 4}), zeros({2, 2, 4}), zeros({2, 2, 4}));
  expect(ErrorCode::shape_mismatch,
         "attention: q [2,1,2,4], k [1,1,2,4] and v [1,1,2,4] do not fit: q and k differ along axis 0.",
         zeros({2, 1, 2, 4}), zeros({1, 1, 2, 4}), zeros({1, 1, 2, 4}));
  expect(ErrorCode::shape_mismatch,
         "attention: q [4], k [4] and v [4] do not fit: they must be of one rank, from 2 on.", zeros({4}), zeros({4}),
         zeros({4}));
  expect(ErrorCode::shape_mismatch, "attention: the mask [3] does not stretch to the scores [2,2].", zeros({2, 4}),
         zeros({2, 4}), zeros({2, 4}), {.mask = zeros({3})});
  expect(ErrorCode::dtype_mismatch, "attention: an operand is i32; it takes floats.", zeros({2, 4}).cast(DType::i32),
         zeros({2, 4}), zeros({2, 4}));
  expect(ErrorCode::dtype_mismatch, "attention: q is [2,4] f32 and v is [2,4] f16; cast one of them.", zeros({2, 4}),
         zeros({2, 4}), zeros({2, 4}).cast(DType::f16));
  expect(ErrorCode::dtype_mismatch, "attention: an operand is u8; it takes booleans and floats as a mask.",
         zeros({2, 4}), zeros({2, 4}), zeros({2, 4}), {.mask = zeros({2, 2}).cast(DType::u8)});
  expect(ErrorCode::invalid_argument, "attention: past is -1; it must be 0 or more.", zeros({2, 4}), zeros({2, 4}),
         zeros({2, 4}), {.past = -1});
}

TESSERA_ON_EACH_BACKEND(AttentionTest);

}  // namespace
}  // namespace tessera::test::attention_test

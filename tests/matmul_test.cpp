// Products of matrices, against plain loops and against published definitions.
#include <cmath>
#include <functional>
#include <limits>

#include "support/compare.h"
#include "support/devices.h"

namespace tessera::test::matmul_test {
namespace {

class MatMuls : public OnDevice {
 protected:
  // Element [m, k] of an operand whose rows are m, wherever it lies.
  struct Side {
    std::vector<float> values;
    std::int64_t outer_distance, inner_distance;
    float at(std::int64_t outer, std::int64_t inner) const {
      return values[static_cast<std::size_t>(outer * outer_distance + inner * inner_distance)];
    }
  };

  static std::vector<float> by_hand(const Side& a, const Side& b, std::int64_t m, std::int64_t n, std::int64_t k) {
    std::vector<float> result;
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t column = 0; column < n; ++column) {
        double total = 0;
        for (std::int64_t i = 0; i < k; ++i) total += static_cast<double>(a.at(row, i)) * b.at(column, i);
        result.push_back(static_cast<float>(total));
      }
    return result;
  }

  void check(std::int64_t m, std::int64_t n, std::int64_t k, MatMul options = {}) {
    SCOPED_TRACE("m " + std::to_string(m) + ", n " + std::to_string(n) + ", k " + std::to_string(k) +
                 (options.transpose_a ? ", a transposed" : "") + (options.transpose_b ? ", b transposed" : ""));
    const Side a{random_values(static_cast<std::size_t>(m * k), -1, 1, 3), options.transpose_a ? 1 : k,
                 options.transpose_a ? m : 1};
    const Side b{random_values(static_cast<std::size_t>(k * n), -1, 1, 4), options.transpose_b ? k : 1,
                 options.transpose_b ? 1 : n};
    const Tensor x = context().tensor(options.transpose_a ? Shape{k, m} : Shape{m, k}, a.values);
    const Tensor y = context().tensor(options.transpose_b ? Shape{n, k} : Shape{k, n}, b.values);
    const Tensor product = matmul(x, y, options);
    EXPECT_EQ(product.shape(), (Shape{m, n}));
    EXPECT_TRUE(all_agree(product.read(), by_hand(a, b, m, n, k), 1e-5f));
  }

  // Counts from `first` on, as large as the shape.
  Tensor counting(const Shape& shape, float first = 0) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < shape.size(); ++i) values.push_back(first + static_cast<float>(i));
    return context().tensor(shape, values);
  }

  bool has_blocks() const { return GetParam().backend == BackendKind::gles; }

  static constexpr MatMul both_ways[] = {{false, false}, {true, false}, {false, true}, {true, true}};
};

TEST_P(MatMuls, FromThePublishedDefinitions) {
  // tf.matmul's examples: [[1,2,3],[4,5,6]] x [[7,8],[9,10],[11,12]], and a batch of two.
  EXPECT_EQ(matmul(counting({2, 3}, 1), counting({3, 2}, 7)).read(), (std::vector<float>{58, 64, 139, 154}));
  EXPECT_EQ(matmul(counting({2, 2, 3}, 1), counting({2, 3, 2}, 13)).read(),
            (std::vector<float>{94, 100, 229, 244, 508, 532, 697, 730}));
  // ONNX's MatMulInteger example has zero points of 12 and 0: (a - 12) x b.
  const Tensor a = context().tensor({4, 3}, std::vector<std::uint8_t>{11, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0});
  const Tensor b = context().tensor({3, 2}, std::vector<std::uint8_t>{1, 4, 2, 5, 3, 6});
  const Tensor shifted = a.cast(DType::i32) - 12.0f;
  EXPECT_EQ(matmul(shifted, b.cast(DType::i32)).read<std::int32_t>(),
            (std::vector<std::int32_t>{-38, -83, -44, -98, -50, -113, -56, -128}));
  // The same by distributing the product: a x b - 12 * (the sums of b's columns).
  const Tensor products = matmul(a, b);
  EXPECT_EQ(products.dtype(), DType::i32);
  EXPECT_EQ((products - context().tensor({2}, std::vector<std::int32_t>{72, 180})).read<std::int32_t>(),
            (std::vector<std::int32_t>{-38, -83, -44, -98, -50, -113, -56, -128}));
}

TEST_P(MatMuls, EverySizeAroundATexel) {
  for (const std::int64_t m : {1, 2, 3, 4, 5})
    for (const std::int64_t n : {1, 2, 3, 4, 5})
      for (const std::int64_t k : {1, 2, 3, 4, 5}) check(m, n, k);
}

TEST_P(MatMuls, LargerSizes) {
  const std::int64_t sizes[] = {7, 8, 16, 17, 33};
  for (const std::int64_t m : sizes)
    for (const std::int64_t n : sizes) check(m, n, sizes[(m + n) % 5]);
  for (const std::int64_t size : sizes) {
    check(1, size, size);
    check(size, 1, size);
    check(size, size, 1);
  }
  check(70, 260, 20);
  check(9, 1030, 12);
  check(65, 67, 130);
}

// With octets, products that are large enough make columns in whole texels, and copy what is wanted.
TEST_P(MatMuls, ManyColumnsThatFillNoTexels) {
  struct Sizes {
    std::int64_t batch, rows, terms, columns;
  };
  for (const Sizes& n : {Sizes{1, 65, 67, 71}, Sizes{1, 64, 64, 33}, Sizes{5, 31, 37, 41}, Sizes{1, 19, 399, 18}})
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(std::to_string(n.rows) + " x " + std::to_string(n.terms) + " x " + std::to_string(n.columns));
      const auto count = [](std::int64_t elements) { return static_cast<std::size_t>(elements); };
      const std::vector<float> a = random_values(count(n.batch * n.rows * n.terms), -1, 1, 1),
                               b = random_values(count(n.batch * n.terms * n.columns), -0.1f, 0.1f, 2),
                               bias = random_values(count(n.columns), -1, 1, 3);
      const auto layer = [&](Context& on) {
        const Shape of_b = transposed ? Shape{n.batch, n.columns, n.terms} : Shape{n.batch, n.terms, n.columns};
        return relu(matmul(on.tensor({n.batch, n.rows, n.terms}, a), on.tensor(of_b, b), {.transpose_b = transposed}) +
                    on.tensor({n.columns}, bias));
      };
      EXPECT_TRUE(all_agree(layer(context()).read(), layer(cpu_context()).read(), 1e-5f));
    }
}

TEST_P(MatMuls, BothTransposes) {
  for (const MatMul& options : both_ways) {
    for (const std::int64_t m : {1, 4, 7})
      for (const std::int64_t n : {1, 4, 5, 8})
        for (const std::int64_t k : {1, 3, 4, 8}) check(m, n, k, options);
    check(33, 36, 40, options);
    check(36, 33, 40, options);
    check(36, 40, 33, options);
  }
}

// Sizes from which on blocks pay, off the multiples of four and eight, some with few rows.
TEST_P(MatMuls, SizesInBlocks) {
  for (const MatMul& options : both_ways) {
    check(37, 53, 61, options);
    check(64, 72, 40, options);
  }
  check(5, 250, 67);
  check(3, 512, 96);
  check(1021, 4, 64);
  check(40, 39, 257);
}

// Few rows times many columns, with sums that begin in another row of the second matrix's texture: that is read where
// it lies. Its rows are whole texels, and it may begin at any of them.
TEST_P(MatMuls, FewRowsReadTheirWeightsInPlace) {
  check(8, 520, 516);
  check(11, 64, 388);
  check(64, 12, 260);
  check(3, 1028, 64);
  constexpr std::int64_t m = 16, k = 132, n = 200, first = 5;
  const std::vector<float> a = random_values(m * k, -1, 1, 5), b = random_values((first + k) * n, -1, 1, 6);
  const Tensor x = context().tensor({m, k}, a).compute(), y = context().tensor({first + k, n}, b).compute();
  context().reset_stats();
  const Tensor product = matmul(x, slice(y, {first, 0}, {k, n})).compute();
  EXPECT_EQ(context().stats().dispatches, has_blocks() ? 3u : 1u);  // a in a layout, blocks, their order
  EXPECT_TRUE(all_agree(product.read(), by_hand({a, k, 1}, {{b.begin() + first * n, b.end()}, 1, n}, m, n, k), 1e-5f));
}

TEST_P(MatMuls, BatchesInBlocks) {
  constexpr std::int64_t batches = 3, m = 27, k = 33, n = 38;
  const std::vector<float> a = random_values(batches * m * k, -1, 1, 7), b = random_values(batches * n * k, -1, 1, 8);
  const auto product = [&](std::int64_t of_a, std::int64_t of_b) {
    return by_hand({{a.begin() + of_a * m * k, a.end()}, k, 1}, {{b.begin() + of_b * n * k, b.end()}, 1, n}, m, n, k);
  };
  const auto expect = [&](const Tensor& got, bool one_a, bool one_b) {
    SCOPED_TRACE(got.shape().to_string() + (one_a ? ", one a" : "") + (one_b ? ", one b" : ""));
    std::vector<float> want;
    for (std::int64_t i = 0; i < batches; ++i) {
      const std::vector<float> part = product(one_a ? 0 : i, one_b ? 0 : i);
      want.insert(want.end(), part.begin(), part.end());
    }
    EXPECT_TRUE(all_agree(got.read(), want, 1e-5f));
  };
  const Tensor x = context().tensor({batches, m, k}, a), y = context().tensor({batches, k, n}, b);
  expect(matmul(x, y), false, false);
  expect(matmul(slice(x, {0, 0, 0}, {1, m, k}).reshape({m, k}), y), true, false);
  expect(matmul(x, slice(y, {0, 0, 0}, {1, k, n}).reshape({k, n})), false, true);
  // Operands that begin within a texel: k * m is odd, so that of the second matrix does.
  const Tensor second = matmul(slice(x, {1, 0, 0}, {1, m, k}), slice(y, {2, 0, 0}, {1, k, n}));
  EXPECT_TRUE(all_agree(second.read(), product(1, 2), 1e-5f));
}

// The textures of layouts and blocks are the pool's, and go back to it.
TEST_P(MatMuls, BlocksLeaveNoMemoryInUse) {
  const Tensor x = context().full({64, 64}, 1).compute();
  const std::uint64_t before = context().memory().bytes_in_use;
  {
    const Tensor product = matmul(x, x).compute();
    EXPECT_EQ(context().memory().bytes_in_use, before + 64 * 64 * sizeof(float));
  }
  EXPECT_EQ(context().memory().bytes_in_use, before);
}

TEST_P(MatMuls, HalvesInBlocks) {
  const std::vector<float> a = random_values(64 * 48, -1, 1, 1), b = random_values(48 * 60, -1, 1, 2);
  const Tensor x = context().tensor({64, 48}, as<half>(a)), y = context().tensor({48, 60}, as<half>(b));
  EXPECT_TRUE(all_agree(matmul(x, y).read(), by_hand({x.read(), 48, 1}, {y.read(), 1, 60}, 64, 60, 48), 1e-3f));
}

// Results between products are stored as the next product reads them, unless something else reads them, too.
TEST_P(MatMuls, ProductsOfProducts) {
  constexpr std::int64_t m = 100, n = 96;
  struct Inputs {
    Tensor a, b, c, bias;
  };
  struct Case {
    const char* name;
    std::uint64_t passes;  // in blocks: operands are laid out first, and each product takes two
    std::function<Tensor(const Inputs&)> result;
  };
  const auto product = [](const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_b = true}); };
  const auto first = [&](const Inputs& in) { return relu(product(in.a, in.b) + in.bias); };
  const std::vector<Case> cases{
      {"one after the other", 6, [&](const Inputs& in) { return product(first(in), in.b); }},
      {"read by two products", 9,
       [&](const Inputs& in) {
         const Tensor both = first(in);
         return product(both, in.b) * product(both, in.c);
       }},
      {"read by a product and by pointwise work", 7,
       [&](const Inputs& in) {
         const Tensor both = first(in);
         return product(both, in.b) + both;
       }},
      {"of pointwise work", 4, [&](const Inputs& in) { return product(exp(in.a + in.bias), in.b); }},
      {"in batches", 6,
       [&](const Inputs& in) {
         return product(relu(product(in.a.reshape({4, m / 4, n}), in.b) + in.bias), in.b);
       }},
      {"of halves", 8,
       [&](const Inputs& in) { return product(first(in).cast(DType::f16), in.b.cast(DType::f16)).cast(DType::f32); }},
      {"in part", 6,
       [&](const Inputs& in) {
         return product(slice(first(in), {8, 0}, {m - 16, n}), in.b);
       }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.name);
    const auto result_on = [&](Context& on) {
      const auto values = [&](const Shape& shape, float most, unsigned seed) {
        return on.tensor(shape, random_values(static_cast<std::size_t>(shape.size()), -most, most, seed)).compute();
      };
      const Inputs in{values({m, n}, 1, 1), values({n, n}, 0.2f, 2), values({n, n}, 0.2f, 3), values({n}, 1, 4)};
      on.reset_stats();
      return each.result(in).compute();
    };
    const Tensor result = result_on(context());
    if (has_blocks()) {
      EXPECT_EQ(context().stats().dispatches, each.passes);
    }
    EXPECT_TRUE(all_agree(result.read(), result_on(cpu_context()).read(), 2e-3f));
  }
}

// Bytes that a kernel makes are laid out by it as halves.
TEST_P(MatMuls, ProductsOfBytesThatAreComputed) {
  constexpr std::int64_t m = 52, n = 64;
  const std::vector<float> a = random_values(m * n, 0, 255, 1), b = random_values(n * n, -128, 127, 2);
  const auto result_on = [&](Context& on) {
    const Tensor x = (on.tensor({m, n}, a) * 0.5f).cast(DType::u8), y = on.tensor({n, n}, b).cast(DType::i8);
    return matmul(x, y).read<std::int32_t>();
  };
  EXPECT_EQ(result_on(context()), result_on(cpu_context()));
}

// A program lays its weights out in its first run, and not again.
TEST_P(MatMuls, AProgramLaysWeightsOutOnce) {
  const std::vector<float> a = random_values(64 * 48, -1, 1, 1), b = random_values(48 * 60, -1, 1, 2);
  const Tensor weights = context().tensor({48, 60}, b).compute(), x = context().tensor({64, 48}, a).compute();
  const Program program = Program::record(
      context(), {{{64, 48}}}, [&](std::span<const Tensor> inputs) { return std::vector{matmul(inputs[0], weights)}; });
  const std::vector<float> want = by_hand({a, 48, 1}, {b, 1, 60}, 64, 60, 48);
  for (int run = 0; run < 3; ++run) {
    context().reset_stats();
    const Tensor result = program({x})[0].compute();
    EXPECT_EQ(context().stats().dispatches, !has_blocks() ? 1u : run == 0 ? 4u : 3u);
    EXPECT_TRUE(all_agree(result.read(), want, 1e-5f));
  }
}

TEST_P(MatMuls, BatchesBroadcast) {
  const Shape a_shape{2, 1, 3, 4}, b_shape{5, 4, 6};
  const std::vector<float> a = random_values(24, -1, 1, 1), b = random_values(120, -1, 1, 2);
  const Tensor product = matmul(context().tensor(a_shape, a), context().tensor(b_shape, b));
  ASSERT_EQ(product.shape(), (Shape{2, 5, 3, 6}));
  std::vector<float> want;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      const std::vector<float> part =
          by_hand({{a.begin() + static_cast<std::ptrdiff_t>(12 * i), a.end()}, 4, 1},
                  {{b.begin() + static_cast<std::ptrdiff_t>(24 * j), b.end()}, 1, 6}, 3, 6, 4);
      want.insert(want.end(), part.begin(), part.end());
    }
  EXPECT_TRUE(all_agree(product.read(), want, 1e-5f));
}

// Each matrix of a batch against the product of that matrix alone.
TEST_P(MatMuls, BatchesAreTheirMatrices) {
  for (const std::int64_t m : {1, 3, 4, 9})
    for (const std::int64_t n : {1, 3, 4, 8}) {
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n));
      constexpr std::int64_t batches = 3, k = 5;
      const std::vector<float> a = random_values(static_cast<std::size_t>(batches * m * k), -1, 1, 7),
                               b = random_values(static_cast<std::size_t>(batches * n * k), -1, 1, 8);
      const std::vector<float> got =
          matmul(context().tensor({batches, m, k}, a), context().tensor({batches, n, k}, b), {.transpose_b = true})
              .read();
      std::vector<float> want;
      for (std::int64_t i = 0; i < batches; ++i) {
        const std::vector<float> part =
            by_hand({{a.begin() + i * m * k, a.end()}, k, 1}, {{b.begin() + i * n * k, b.end()}, k, 1}, m, n, k);
        want.insert(want.end(), part.begin(), part.end());
      }
      EXPECT_TRUE(all_agree(got, want, 1e-5f));
    }
}

TEST_P(MatMuls, OneMatrixForAllBatches) {
  const Tensor x = counting({2, 3, 2, 4}), w = counting({4, 4});
  EXPECT_EQ(matmul(x, w).reshape({12, 4}).read(), matmul(x.reshape({12, 4}), w).read());
  const Tensor many = counting({2, 4, 3}), one = counting({2, 4});
  const std::vector<float> got = matmul(one, many).read(), first = matmul(one, counting({4, 3})).read();
  ASSERT_EQ(got.size(), 12u);
  EXPECT_EQ(std::vector<float>(got.begin(), got.begin() + 6), first);
}

TEST_P(MatMuls, Vectors) {
  const Tensor v = context().tensor({3}, {1, 2, 3}), w = context().tensor({2}, {1, -1}), x = counting({2, 3}, 1);
  EXPECT_EQ(matmul(v, v).shape(), Shape{});
  EXPECT_EQ(matmul(v, v).read(), std::vector<float>{14});
  EXPECT_EQ(matmul(x, v).shape(), Shape{2});
  EXPECT_EQ(matmul(x, v).read(), (std::vector<float>{14, 32}));
  EXPECT_EQ(matmul(w, x).read(), (std::vector<float>{-3, -3, -3}));
  EXPECT_EQ(matmul(v, x, {.transpose_b = true}).read(), (std::vector<float>{14, 32}));
  EXPECT_EQ(matmul(x, w, {.transpose_a = true}).read(), (std::vector<float>{-3, -3, -3}));
  EXPECT_EQ(matmul(v, v, {.transpose_a = true}).read(), std::vector<float>{14});
  EXPECT_EQ(matmul(counting({5, 2, 3}), v).shape(), (Shape{5, 2}));
  EXPECT_EQ(matmul(w, counting({5, 2, 3})).shape(), (Shape{5, 3}));
  EXPECT_EQ(matmul(w, counting({2, 2, 2})).read(), (std::vector<float>{-2, -2, -2, -2}));
  for (const std::int64_t size : {5, 8, 64}) {
    const std::vector<float> a = random_values(static_cast<std::size_t>(size * size), -1, 1, 5),
                             b = random_values(static_cast<std::size_t>(size), -1, 1, 6);
    const Tensor matrix = context().tensor({size, size}, a), vector = context().tensor({size}, b);
    EXPECT_TRUE(all_agree(matmul(matrix, vector).read(), by_hand({a, size, 1}, {b, 1, 1}, size, 1, size), 1e-5f));
    EXPECT_TRUE(all_agree(matmul(vector, matrix).read(), by_hand({b, 1, 1}, {a, 1, size}, 1, size, size), 1e-5f));
  }
  const Tensor ones = context().full({1'000'000}, 1).compute();
  EXPECT_EQ(matmul(ones, ones).read(), std::vector<float>{1e6f});
}

TEST_P(MatMuls, Halves) {
  for (const std::int64_t size : {3, 8, 12}) {
    const std::vector<float> a = random_values(static_cast<std::size_t>(size * size), -1, 1, 1),
                             b = random_values(static_cast<std::size_t>(size * size), -1, 1, 2);
    const Tensor x = context().tensor({size, size}, as<half>(a)), y = context().tensor({size, size}, as<half>(b));
    const Tensor product = matmul(x, y);
    EXPECT_EQ(product.dtype(), DType::f16);
    EXPECT_TRUE(all_agree(product.read(), by_hand({x.read(), size, 1}, {y.read(), 1, size}, size, size, size), 1e-3f));
  }
  // 4096 times 1 in halves would stop at 2048.
  const Tensor row = context().full({4, 4096}, 1, DType::f16).compute();
  EXPECT_EQ(matmul(row, row, {.transpose_b = true}).read(), std::vector<float>(16, 4096));
  EXPECT_EQ(matmul(context().full({4096}, 1, DType::f16), context().full({4096}, 1, DType::f16)).read(),
            std::vector<float>{4096});
}

TEST_P(MatMuls, Integers) {
  const std::vector<std::int8_t> low(100, -128);
  const Tensor a = context().tensor({4, 25}, low), b = context().tensor({25, 4}, low);
  EXPECT_EQ(matmul(a, b).dtype(), DType::i32);
  EXPECT_EQ(matmul(a, b).read<std::int32_t>(), std::vector<std::int32_t>(16, 25 * 128 * 128));
  const Tensor bytes = context().tensor({25, 4}, std::vector<std::uint8_t>(100, 255));
  EXPECT_EQ(matmul(a, bytes).read<std::int32_t>(), std::vector<std::int32_t>(16, 25 * -128 * 255));
  EXPECT_EQ(matmul(bytes, bytes, {.transpose_a = true}).read<std::int32_t>(),
            std::vector<std::int32_t>(16, 25 * 255 * 255));
  EXPECT_EQ(matmul(a.reshape({100}), b.reshape({100})).read<std::int32_t>(),
            std::vector<std::int32_t>{100 * 128 * 128});
  // 65536 * 65536 wraps to 0, and 65536 * 16777217 to 65536.
  const Tensor wide = context().tensor({2, 2}, std::vector<std::int32_t>{65536, 16777217, 1, 1});
  EXPECT_EQ(matmul(wide, wide).read<std::int32_t>(), (std::vector<std::int32_t>{16777217, 16842753, 65537, 16777218}));
}

// Every pair of types of 8 bits, all values among them, and sums that no float has: of 1100 of the largest products.
TEST_P(MatMuls, IntegersOf8Bits) {
  struct Sizes {
    std::int64_t m, n, k;
  };
  const auto values = [](DType dtype, std::int64_t count, std::uint32_t seed, bool is_largest) {
    const float low = dtype == DType::i8 ? -128 : 0;
    std::vector<float> made = random_values(static_cast<std::size_t>(count), low, low + 256, seed);
    for (float& value : made) value = is_largest ? (dtype == DType::i8 ? -128.0f : 255.0f) : std::floor(value);
    return made;
  };
  const auto check_bytes = [&](DType of_a, DType of_b, const Sizes& sizes, MatMul options, bool is_largest = false) {
    const auto [m, n, k] = sizes;
    SCOPED_TRACE(std::string(to_string(of_a)) + " by " + std::string(to_string(of_b)) + ", m " + std::to_string(m) +
                 ", n " + std::to_string(n) + ", k " + std::to_string(k) +
                 (options.transpose_a ? ", a transposed" : "") + (options.transpose_b ? ", b transposed" : ""));
    const Side a{values(of_a, m * k, 3, is_largest), options.transpose_a ? 1 : k, options.transpose_a ? m : 1};
    const Side b{values(of_b, k * n, 4, is_largest), options.transpose_b ? k : 1, options.transpose_b ? 1 : n};
    const Tensor x = context().tensor(options.transpose_a ? Shape{k, m} : Shape{m, k}, a.values).cast(of_a);
    const Tensor y = context().tensor(options.transpose_b ? Shape{n, k} : Shape{k, n}, b.values).cast(of_b);
    x.compute(), y.compute();  // so that products read bytes
    std::vector<std::int32_t> expected;
    for (std::int64_t row = 0; row < m; ++row)
      for (std::int64_t column = 0; column < n; ++column) {
        std::int32_t total = 0;
        for (std::int64_t i = 0; i < k; ++i)
          total += static_cast<std::int32_t>(a.at(row, i)) * static_cast<std::int32_t>(b.at(column, i));
        expected.push_back(total);
      }
    EXPECT_EQ(matmul(x, y, options).read<std::int32_t>(), expected);
  };
  for (const DType of_a : {DType::i8, DType::u8})
    for (const DType of_b : {DType::i8, DType::u8}) {
      check_bytes(of_a, of_b, {12, 20, 1100}, {}, true);
      check_bytes(of_a, of_b, {37, 56, 60}, {});
    }
  for (const MatMul& options : both_ways) {
    check_bytes(DType::u8, DType::i8, {37, 56, 60}, options);
    check_bytes(DType::i8, DType::u8, {9, 21, 35}, options);
  }
  check_bytes(DType::u8, DType::u8, {12, 20, 1100}, {.transpose_b = true}, true);
  check_bytes(DType::u8, DType::i8, {1, 64, 4000}, {}, true);
}

TEST_P(MatMuls, SpecialValues) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> got =
      matmul(context().tensor({2, 2}, {infinity, 1, 0, 1}), context().tensor({2, 2}, {1, 0, 2, 3})).read();
  EXPECT_EQ(got[0], infinity);
  EXPECT_TRUE(std::isnan(got[1]));  // infinity * 0
  EXPECT_EQ(got[2], 2);
  EXPECT_EQ(got[3], 3);
}

TEST_P(MatMuls, NoElements) {
  EXPECT_EQ(matmul(context().zeros({2, 0}), context().zeros({0, 3})).read(), std::vector<float>(6, 0));
  EXPECT_EQ(matmul(context().zeros({0}), context().zeros({0})).read(), std::vector<float>{0});
  EXPECT_EQ(matmul(context().zeros({2, 0}, DType::i8), context().zeros({0, 3}, DType::i8)).dtype(), DType::i32);
  EXPECT_EQ(matmul(context().zeros({0, 3}), context().zeros({3, 4})).shape(), (Shape{0, 4}));
  EXPECT_TRUE(matmul(context().zeros({0, 3}), context().zeros({3, 4})).read().empty());
  EXPECT_EQ(matmul(context().zeros({0, 2, 3}), context().zeros({1, 3, 4})).shape(), (Shape{0, 2, 4}));
  EXPECT_EQ((matmul(context().zeros({2, 0}), context().zeros({0, 2})) + 1.0f).read(), std::vector<float>(4, 1));
}

TEST_P(MatMuls, NumbersAreOperands) {
  EXPECT_EQ(matmul(context().full({4, 8}, 2), context().full({8, 4}, 3)).read(), std::vector<float>(16, 48));
  EXPECT_EQ(matmul(context().full({1, 1}, 2), counting({1, 5})).read(), (std::vector<float>{0, 2, 4, 6, 8}));
  EXPECT_EQ(matmul(context().full({3}, 2), context().full({3}, 3)).read(), std::vector<float>{18});
}

// Without workgroups, larger products take a step that lays the first operand out, and one that multiplies blocks; the
// second operand is read in place, since it is read a few times only. The pointwise work is part of the last step,
// which brings the blocks into their order.
TEST_P(MatMuls, AnMlpLayerIsOneDispatch) {
  struct Sizes {
    std::int64_t m, k, n;
    bool in_blocks = false;
  };
  for (const Sizes& its : {Sizes{5, 7, 3}, Sizes{16, 12, 8}, Sizes{64, 16, 256, true}}) {
    SCOPED_TRACE(its.n);
    const std::vector<float> a = random_values(static_cast<std::size_t>(its.m * its.k), -1, 1, 1),
                             b = random_values(static_cast<std::size_t>(its.k * its.n), -1, 1, 2);
    const std::vector<float> c = random_values(static_cast<std::size_t>(its.n), -1, 1, 3),
                             d = random_values(static_cast<std::size_t>(its.m * its.n), -1, 1, 4);
    const Tensor x = context().tensor({its.m, its.k}, a).compute(), w = context().tensor({its.k, its.n}, b).compute();
    const Tensor bias = context().tensor({its.n}, c).compute(),
                 residual = context().tensor({its.m, its.n}, d).compute();
    context().reset_stats();
    const Tensor result = (relu(matmul(x, w) * 0.5f + bias) + residual).compute();
    EXPECT_EQ(context().stats().dispatches, its.in_blocks && has_blocks() ? 3u : 1u);
    EXPECT_EQ(context().stats().submits, 1u);
    std::vector<float> want = by_hand({a, its.k, 1}, {b, 1, its.n}, its.m, its.n, its.k);
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = std::max(0.0f, want[i] * 0.5f + c[i % c.size()]) + d[i];
    EXPECT_TRUE(all_agree(result.read(), want, 1e-5f));
  }
}

TEST_P(MatMuls, IntegerLayersFuseToo) {
  const Tensor x = context().tensor({4, 8}, std::vector<std::int8_t>(32, 3)).compute(),
               w = context().tensor({8, 4}, std::vector<std::int8_t>(32, -2)).compute();
  context().reset_stats();
  const Tensor result = (matmul(x, w).cast(DType::f32) * 0.25f + 1.0f).compute();
  EXPECT_EQ(context().stats().dispatches, 1u);
  EXPECT_EQ(result.read(), std::vector<float>(16, -11));
}

TEST_P(MatMuls, OtherSizesCompileNothing) {
  const auto run = [&](std::int64_t m, std::int64_t k, std::int64_t n) {
    return matmul(counting({m, k}).compute(), counting({k, n}).compute()).read();
  };
  run(16, 8, 12);
  run(17, 9, 13);
  context().reset_stats();
  run(40, 16, 20);
  run(19, 11, 15);
  EXPECT_EQ(context().stats().kernels_compiled, 0u);
}

TEST_P(MatMuls, ALongChainAlternatesBetweenTwoTemporaries) {
  const std::int64_t size = 128;
  const Tensor start = context().full({size, size}, 1).compute(),
               a = context().full({size, size}, 1.0f / static_cast<float>(size)).compute();
  const std::uint64_t inputs = context().memory().bytes_in_use,
                      one = static_cast<std::uint64_t>(size * size) * sizeof(float);
  context().reset_stats();
  Tensor product = start;
  for (int i = 0; i < 100; ++i) product = matmul(product, a);
  product.compute();
  // In blocks: a and the first factor are laid out once; each product is multiplied and brought into the order that the
  // next one reads.
  EXPECT_EQ(context().stats().dispatches, has_blocks() ? 202u : 100u);
  EXPECT_EQ(context().stats().submits, 1u);
  EXPECT_LE(context().memory().bytes_peak, inputs + 3 * one);
  EXPECT_TRUE(all_agree(product.read(), std::vector<float>(static_cast<std::size_t>(size * size), 1), 1e-4f));
}

TEST_P(MatMuls, BadInput) {
  const Tensor a = context().zeros({2, 3}), b = context().zeros({4, 5});
  EXPECT_TESSERA_ERROR(matmul(a, b), shape_mismatch,
                       "matmul: the inner dimension (3) of a [2,3] differs from the inner dimension (4) of b [4,5].");
  EXPECT_TESSERA_ERROR(matmul(a, a), shape_mismatch, "(3)", "(2)");
  EXPECT_TESSERA_ERROR(matmul(a, a, {true, true}), shape_mismatch, "(2)", "(3)");
  EXPECT_TESSERA_ERROR(matmul(a, context().zeros({4})), shape_mismatch, "[2,3]", "[4]");
  EXPECT_TESSERA_ERROR(matmul(context().zeros({2, 2, 3}), context().zeros({3, 3, 4})), shape_mismatch, "matmul", "2",
                       "3");
  EXPECT_TESSERA_ERROR(matmul(context().zeros({}), a), invalid_argument, "matmul", "a []");
  EXPECT_TESSERA_ERROR(matmul(a, context().zeros({})), invalid_argument, "matmul", "b []");
  EXPECT_TESSERA_ERROR(matmul(a, context().zeros({3, 2}, DType::f16)), dtype_mismatch, "matmul", "f32", "f16");
  EXPECT_TESSERA_ERROR(matmul(context().zeros({2, 3}, DType::i32), context().zeros({3, 2}, DType::i8)), dtype_mismatch,
                       "i32", "i8");
  EXPECT_TESSERA_ERROR(matmul(context().zeros({2, 2}, DType::boolean), context().zeros({2, 2}, DType::boolean)),
                       dtype_mismatch, "matmul", "boolean");
  EXPECT_TESSERA_ERROR(matmul(Tensor(), a), invalid_argument);
  Context other = open({"cpu", BackendKind::cpu, ""});
  EXPECT_TESSERA_ERROR(matmul(a, other.zeros({3, 2})), invalid_argument, "matmul", "two contexts");
}

TESSERA_ON_ALL_DEVICES(MatMuls);

}  // namespace
}  // namespace tessera::test::matmul_test

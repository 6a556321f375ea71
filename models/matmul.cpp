// Products of matrices.
#include "models/integer_products.h"

namespace tessera::onnx {

namespace {

Results product(const Call& call) { return {call.give(matmul(call.tensor(0), call.tensor(1)))}; }

Results gemm(const Call& call) {
  call.expect_rank(0, 2, 2);
  call.expect_rank(1, 2, 2);
  Tensor result =
      matmul(call.tensor(0), call.tensor(1),
             {.transpose_a = call.integer("transA", 0) != 0, .transpose_b = call.integer("transB", 0) != 0});
  const float alpha = call.number("alpha", 1), beta = call.number("beta", 1);
  if (alpha != 1) result = result * alpha;
  if (call.has(2)) result = result + (beta == 1 ? call.tensor(2) : call.tensor(2) * beta);
  return {call.give(result)};
}

Results einsum_of(const Call& call) {
  std::vector<Tensor> operands;
  for (int i = 0; i < call.inputs(); ++i) operands.push_back(call.tensor(i));
  return {call.give(einsum(call.text("equation", ""), operands))};
}

Results determinant(const Call& call) {
  call.expect_rank(0, 2);
  const std::int64_t n = call.shape(0)[-1];
  if (call.shape(0)[-2] != n)
    call.fail(ErrorCode::shape_mismatch, "the matrices of " + call.shape(0).to_string() + " are not square.");
  if (n > 3 || n < 1) call.unsupported("matrices of more than three rows, as in " + call.shape(0).to_string() + ".");
  const auto dims = call.shape(0).dims();
  const Shape rest(dims.first(dims.size() - 2));
  const Tensor x = call.tensor(0).reshape({rest.size(), n * n});
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return slice(x, {0, row * n + column}, {-1, 1}).reshape(rest);
  };
  const auto minor = [&](std::int64_t a, std::int64_t b) {
    return at(n - 2, a) * at(n - 1, b) - at(n - 2, b) * at(n - 1, a);
  };
  if (n == 1) return {call.give(at(0, 0))};
  if (n == 2) return {call.give(minor(0, 1))};
  return {call.give(at(0, 0) * minor(1, 2) - at(0, 1) * minor(0, 2) + at(0, 2) * minor(0, 1))};
}

Results integer_product(const Call& call) {
  return {call.give(product_of_differences(call, {0, 2}, {1, 3}), Type::int32)};
}

Results quantized_product(const Call& call) {
  const Tensor sum = product_of_differences(call, {0, 2}, {3, 5});
  return {call.give(requantized(sum, call.tensor(1), call.tensor(4), call.tensor(6), call.tensor(7)), call.type(7))};
}

// MatMul or Gemm of operands that the file dequantizes.
Results product_of_bytes(const Call& call) {
  call.expect_rank(3, 2, 2);
  const bool is_transposed = call.integer("transB", 0) != 0;
  const Tensor weights = quantized_weights(call, call.tensor(3));
  const Tensor sum = matmul(call.tensor(0), weights, {.transpose_b = is_transposed});
  return {call.give(quantized_result(call, sum, weights, {is_transposed ? 1 : 0}), Type::float32)};
}

// Zero points of 4 bits as bytes [columns,groups].
Tensor unpacked_zeros(const Tensor& packed, std::int64_t columns, std::int64_t groups) {
  const Tensor pairs = packed.cast(DType::i32).reshape({columns, (groups + 1) / 2});
  const Tensor high = floor(pairs.cast(DType::f32) / 16.0);
  const Tensor low = pairs.cast(DType::f32) - high * 16.0;
  const Tensor all = stack({low, high}, 2).reshape({columns, (groups + 1) / 2 * 2});
  return slice(all, {0, 0}, {columns, groups}).cast(DType::u8);
}

// Weights [N,blocks,bytes], which stay as they are.
Results product_of_few_bits(const Call& call) {
  const std::int64_t count = call.integer("K"), columns = call.integer("N"), block = call.integer("block_size");
  const std::int64_t bits = call.integer("bits", 4);
  if (bits != 4) call.unsupported("weights of " + std::to_string(bits) + " bits.");
  if (call.has(4)) call.unsupported("weights in another order of groups.");
  call.expect(count > 0 && columns > 0 && block > 0 && block % 8 == 0,
              "blocks of " + std::to_string(block) + " of its " + std::to_string(count) + " weights are not possible.");
  const std::int64_t groups = (count + block - 1) / block;
  const auto expect_size = [&](int input, std::int64_t size) {
    call.expect(call.shape(input).size() == size,
                "its input " + std::to_string(input) + " " + call.shape(input).to_string() + " has not the " +
                    std::to_string(size) + " elements that " + std::to_string(groups) + " blocks need.");
  };
  expect_size(1, columns * groups * block / 2);
  expect_size(2, columns * groups);
  call.expect(call.rank(0) >= 1 && call.shape(0)[-1] == count,
              "its input " + call.shape(0).to_string() + " has not " + std::to_string(count) + " columns.");
  Weights4Bit weights{call.tensor(1).reshape({columns, groups * block / 2}), call.tensor(2).reshape({columns, groups})};
  if (call.has(3)) {
    const bool is_packed = call.type(3) == Type::uint8;
    expect_size(3, columns * (is_packed ? (groups + 1) / 2 : groups));
    weights.zero_points =
        is_packed ? unpacked_zeros(call.tensor(3), columns, groups) : call.tensor(3).reshape({columns, groups});
  }
  const Tensor result = matmul_4bit(call.tensor(0), weights);
  return {call.give(call.has(5) ? result + call.tensor(5) : result)};
}

}  // namespace

const Operators& matmul_operators() {
  static const Operators rows{
      {"MatMul", 1, product},
      {"Gemm", 1, gemm},
      {"Einsum", 1, einsum_of},
      {"Det", 1, determinant},
      {"MatMulInteger", 1, integer_product},
      {"QLinearMatMul", 1, quantized_product},
      {"com.microsoft.MatMulNBits", 1, product_of_few_bits},
      {"tessera.pattern.QuantizedMatMul", 1, product_of_bytes},
      {"tessera.pattern.QuantizedGemm", 1, product_of_bytes},
  };
  return rows;
}

}  // namespace tessera::onnx

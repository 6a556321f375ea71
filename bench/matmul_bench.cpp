// Products of matrices.
#include "bench/support.h"

namespace tessera::bench {
namespace {

double flops_of(std::int64_t batch, std::int64_t m, std::int64_t k, std::int64_t n) {
  return 2.0 * static_cast<double>(batch * m * k * n);
}

Results product(const Inputs& in) { return {matmul(in[0], in[1])}; }

// By weights of 4 bits in groups of 32, and by the same number of floats.
void add_4bit(std::int64_t rows, std::int64_t size) {
  const std::string sizes = std::to_string(rows) + "x" + std::to_string(size) + "x" + std::to_string(size);
  add(
      "matmul_4bit/" + sizes, {f32({rows, size}), u8({size, size / 2}), f32({size, size / 32})},
      [](const Inputs& in) {
        return Results{matmul_4bit(in[0], {in[1], in[2], {}})};
      },
      flops_of(1, rows, size, size));
  add(
      "matmul_f32/" + sizes, {f32({rows, size}), f32({size, size})},
      [](const Inputs& in) { return Results{matmul(in[0], in[1], {.transpose_b = true})}; },
      flops_of(1, rows, size, size));
}

}  // namespace

void add_workloads() {
  for (const std::int64_t n : {256, 512, 1024})
    add("matmul/f32_" + std::to_string(n), {f32({n, n}), f32({n, n})}, product, flops_of(1, n, n, n));
  add("matmul/f16_512", {f16({512, 512}), f16({512, 512})}, product, flops_of(1, 512, 512, 512));
  add("matmul/i8_512", {i8({512, 512}), i8({512, 512})}, product, flops_of(1, 512, 512, 512));
  add("matmul/u8_by_i8_512", {u8({512, 512}), i8({512, 512})}, product, flops_of(1, 512, 512, 512));
  add(
      "matmul/i8_transposed_512", {i8({512, 512}), i8({512, 512})},
      [](const Inputs& in) { return Results{matmul(in[0], in[1], {.transpose_b = true})}; },
      flops_of(1, 512, 512, 512));
  add("matmul/f32_8x256", {f32({8, 256, 256}), f32({8, 256, 256})}, product, flops_of(8, 256, 256, 256));
  add(
      "matmul/transposed_512", {f32({512, 512}), f32({512, 512})},
      [](const Inputs& in) { return Results{matmul(in[0], in[1], {.transpose_b = true})}; },
      flops_of(1, 512, 512, 512));
  add_4bit(1, 4096);
  for (const std::int64_t rows : {1, 2, 4, 8, 64}) add_4bit(rows, 1024);
  add("matmul/matrix_vector_2048", {f32({2048, 2048}), f32({2048})}, product, flops_of(1, 2048, 2048, 1));
  add(
      "layer/64x784x512", {f32({64, 784}), f32({784, 512}), f32({512})},
      [](const Inputs& in) { return Results{relu(matmul(in[0], in[1]) + in[2])}; }, flops_of(1, 64, 784, 512));
  add(
      "attention_scores/8x128x64", {f32({1, 128, 8, 64}), f32({1, 128, 8, 64})},
      [](const Inputs& in) { return Results{einsum("bqhd,bkhd->bhqk", in.tensors) * 0.125f}; },
      flops_of(8, 128, 64, 128));
}

}  // namespace tessera::bench

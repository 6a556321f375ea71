// Attention in one operation, and as the products and the softmax that it stands for.
#include <cmath>
#include <limits>

#include "bench/support.h"

namespace tessera::bench {
namespace {

enum class Sees { all, before, mask };

Results in_three_passes(const Inputs& in, Sees sees) {
  Tensor scores = matmul(in[0], in[1], {.transpose_b = true}) * (1 / std::sqrt(64.0));
  const std::int64_t queries = scores.shape()[-2], keys = scores.shape()[-1];
  if (sees == Sees::mask) scores = scores + in[3];
  if (sees == Sees::before)
    scores = where(triangle(in.context.full({queries, keys}, 1).cast(DType::boolean), Triangle::lower), scores,
                   -std::numeric_limits<double>::infinity());
  return {matmul(softmax(scores), in[2])};
}

void add_both(const std::string& name, std::int64_t heads, std::int64_t queries, std::int64_t keys,
              Sees sees = Sees::all) {
  constexpr std::int64_t size = 64;
  std::vector<Operand> operands{f32({heads, queries, size}), f32({heads, keys, size}), f32({heads, keys, size})};
  if (sees == Sees::mask) operands.push_back(f32({queries, keys}));
  const double flops = 4.0 * static_cast<double>(heads * queries * keys * size);
  add(
      "attention/" + name, operands,
      [=](const Inputs& in) {
        Attention how{.causal = sees == Sees::before};
        if (sees == Sees::mask) how.mask = in[3];
        return Results{attention(in[0], in[1], in[2], how)};
      },
      flops);
  add(
      "three_passes/" + name, operands, [=](const Inputs& in) { return in_three_passes(in, sees); }, flops);
}

}  // namespace

void add_workloads() {
  add_both("8x512x64", 8, 512, 512);
  add_both("8x512x64_causal", 8, 512, 512, Sees::before);
  add_both("8x512x64_masked", 8, 512, 512, Sees::mask);
  add_both("1x1024x64", 1, 1024, 1024);
  add_both("12x197x64", 12, 197, 197);
  add_both("8x4096x64_one_query", 8, 1, 4096);
  add_both("4x64x64", 4, 64, 64);
}

}  // namespace tessera::bench

// Attention: each query takes the mean of all values, weighted by how well their keys fit it.
//
//   Tensor y = attention(q, k, v, {.causal = true});   // softmax(q kᵀ / sqrt(D), over the keys before a query) v
//
// In one pass that never stores the scores, of which there is one for each query and each key: memory is in proportion
// to the operands. Devices without workgroups, OpenGL ES, do so where sizes are small; else they take the queries in
// blocks, such that the scores of a block are no more than the operands. Where scores fit into memory easily,
// matmul(softmax(matmul(q, k, {.transpose_b = true}) * scale), v) may be faster: on a driver that computes on the CPU
// it was measured to be three to ten times as fast.
#pragma once
#include <optional>

#include <tessera/tensor.h>

namespace tessera {

struct Attention {
  std::optional<float> scale = {};  // of the scores; 1 / sqrt(D) where none is given
  // Broadcasts to [..., H, Q, K]. Boolean: the keys that a query sees. Floats: added to the scores.
  std::optional<Tensor> mask = {};
  bool causal = false;    // query i sees the keys up to i + past only
  std::int64_t past = 0;  // the keys before that of the first query, in causal attention
};

// q [..., H, Q, D], k [..., Hk, K, D], v [..., Hk, K, E]: [..., H, Q, E], softmax(q kᵀ * scale + mask) v for each head.
// Without the axis of heads, or with more axes before it, likewise; H is a multiple of Hk, and H / Hk adjacent heads
// share keys and values. All are floats of one type, which the result has too; computed in f32. As softmax() has it, a
// query that sees no key, or has a score of NaN or +inf, gets NaN. Without keys at all the result is NaN too.
TESSERA_API Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Attention& = {});

}  // namespace tessera

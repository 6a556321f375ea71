// Attention: ONNX's operator, and the form that models/patterns.cpp gives it.
#include <algorithm>
#include <numeric>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

std::vector<int> last_two_swapped(int rank) {
  std::vector<int> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return axes;
}

// Whether attention() takes them: products of matrices broadcast, it does not.
bool fits(const Tensor& q, const Tensor& k, const Tensor& v, const std::optional<Tensor>& mask) {
  const Shape &a = q.shape(), &b = k.shape(), &c = v.shape();
  const int rank = a.rank();
  if (!is_float(q.dtype()) || b.rank() != rank || c.rank() != rank || a[-1] != b[-1] || b[-2] != c[-2]) return false;
  for (int axis = 0; axis < rank - 2; ++axis)
    if (a[axis] != b[axis] || a[axis] != c[axis]) return false;
  if (!mask) return true;
  const Shape& m = mask->shape();
  if (m.rank() > rank || (mask->dtype() != DType::boolean && !is_float(mask->dtype()))) return false;
  for (int axis = 1; axis <= m.rank(); ++axis)
    if (m[-axis] != 1 && m[-axis] != (axis == 1 ? b[-2] : a[-axis])) return false;
  return true;
}

// Of a pattern: q, the keys before `key_permutation` or, without one, transposed, v, and what is added to the scores.
Results written_attention(const Call& call) {
  call.expect_rank(0, 2);
  call.expect_rank(1, 2);
  call.expect_rank(2, 2);
  const Tensor q = call.tensor(0), v = call.tensor(2);
  std::vector<int> permutation = last_two_swapped(call.rank(1));
  if (const std::optional<Sizes> given = call.integers("key_permutation")) {
    call.expect(given->size() == permutation.size(), "it transposes another number of axes than there are.");
    for (std::size_t i = 0; i < permutation.size(); ++i) permutation[i] = call.axis((*given)[i], call.rank(1));
    std::swap(permutation[permutation.size() - 1], permutation[permutation.size() - 2]);
  }
  const Tensor k = permuted(call.tensor(1), permutation);
  const float scale = call.number("scale", 1);
  std::optional<Tensor> mask;
  if (call.has(3)) mask = call.tensor(3);
  if (fits(q, k, v, mask)) return {call.give(attention(q, k, v, {.scale = scale, .mask = mask}))};
  Tensor scores = matmul(q, k, {.transpose_b = true}) * scale;
  if (mask) scores = scores + *mask;
  return {call.give(matmul(softmax(scores), v))};
}

// [batch,steps,heads * size] as [batch,heads,steps,size]; of rank four already as it is.
Tensor by_heads(const Call& call, int input, const char* attribute) {
  const Tensor x = call.tensor(input);
  if (x.shape().rank() == 4) return x;
  const std::int64_t heads = call.integer(attribute), batch = x.shape()[0], steps = x.shape()[1], all = x.shape()[2];
  call.expect(heads > 0 && all % heads == 0,
              std::to_string(heads) + " heads do not divide " + x.shape().to_string() + ".");
  return permuted(x.reshape({batch, steps, heads, all / heads}), {0, 2, 1, 3});
}

Results attention_of(const Call& call) {
  if (call.attribute("is_written_out")) return written_attention(call);
  for (const int input : {0, 1, 2}) call.expect_rank(input, 3, 4);
  if (call.has(4) || call.has(5) || call.outputs() > 1) call.unsupported("keys and values of steps before.");
  if (call.number("softcap", 0) != 0) call.unsupported("a limit on scores.");
  const Tensor q = by_heads(call, 0, "q_num_heads"), k = by_heads(call, 1, "kv_num_heads"),
               v = by_heads(call, 2, "kv_num_heads");
  Attention how{.causal = call.integer("is_causal", 0) != 0};
  if (call.attribute("scale")) how.scale = call.number("scale", 1);
  if (call.has(3)) how.mask = call.tensor(3);
  const Tensor result = attention(q, k, v, how);
  if (call.rank(0) == 4) return {call.give(result)};
  const Shape& shape = result.shape();
  return {call.give(permuted(result, {0, 2, 1, 3}).reshape({shape[0], shape[2], shape[1] * shape[3]}))};
}

}  // namespace

const Operators& attention_operators() {
  static const Operators rows{{"Attention", 23, attention_of}};
  return rows;
}

}  // namespace tessera::onnx

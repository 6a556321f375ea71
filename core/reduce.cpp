#include <tessera/reduce.h>

#include <algorithm>
#include <limits>

#include "core/family.h"
#include <tessera/pointwise.h>

namespace tessera {
namespace {

// An entry gives [kept..., parts]: a stretch of `count` elements along the reduced axes is cut into parts, of which
// part p takes the elements p, p + parts, p + 2 * parts, … such that neighbours read neighbours. Words: count, parts,
// elements of the longest part; then, as terms, where the kept elements start in x, and where the reduced elements lie
// from there. Options: the numbers of these terms, and 1 where x can be read by the texel.
constexpr FamilyEntry reduce_sum{.name = "reduce_sum", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_prod{.name = "reduce_prod", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_max{.name = "reduce_max", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_min{.name = "reduce_min", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_sum_i32{.name = "reduce_sum_i32", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_prod_i32{.name = "reduce_prod_i32", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_max_i32{.name = "reduce_max_i32", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_min_i32{.name = "reduce_min_i32", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_argmax{.name = "reduce_argmax", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_argmin{.name = "reduce_argmin", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_argmax_i32{.name = "reduce_argmax_i32", .file = "reduce", .reads_once = true};
constexpr FamilyEntry reduce_argmin_i32{.name = "reduce_argmin_i32", .file = "reduce", .reads_once = true};

// What one invocation reduces: longer stretches are cut, so that many invocations share the work and sums stay
// accurate, each part being small beside the whole.
constexpr std::int64_t longest_part = 256;

struct Kind {
  std::string_view name;
  const FamilyEntry* on_floats;
  const FamilyEntry* on_integers;
  float identity, integer_identity;
};

Shape without_axes(const Shape& shape, std::span<const int> axes, bool keep_dims) {
  std::vector<std::int64_t> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!is_reduced) dims.push_back(shape[axis]);
    else if (keep_dims) dims.push_back(1);
  }
  return Shape(dims);
}

std::vector<int> other_axes(std::span<const int> axes, int rank) {
  std::vector<int> others;
  for (int axis = 0; axis < rank; ++axis)
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) others.push_back(axis);
  return others;
}

std::int64_t elements_along(const Shape& shape, std::span<const int> axes) {
  std::int64_t count = 1;
  for (const int axis : axes) count *= shape[axis];
  return count;
}

// x reduced over its axes to [kept..., parts].
Tensor reduce_to_parts(const FamilyEntry& entry, const Tensor& x, std::span<const int> axes, std::int64_t parts,
                       const Shape& result, DType dtype) {
  const std::int64_t count = elements_along(x.shape(), axes);
  const std::vector<Term> kept = terms_of_axes(x.shape(), other_axes(axes, x.shape().rank())),
                          reduced = terms_of_axes(x.shape(), axes);
  const bool by_texel = kept.empty() && parts % 4 == 0 && reduced.size() == 1 && reduced[0].stride == 1;
  Family family{
      .entry = &entry,
      .options = {static_cast<std::int32_t>(kept.size()), static_cast<std::int32_t>(reduced.size()), by_texel},
      .words = {word_of(count), word_of(parts), word_of((count + parts - 1) / parts)}};
  for (const auto* terms : {&kept, &reduced})
    for (const Term& term : *terms)
      family.words.insert(family.words.end(), {word_of(term.block), word_of(term.size), word_of(term.stride)});
  return family_tensor(result, dtype, std::move(family), {x});
}

Tensor reduce(const Kind& kind, const Tensor& x, const Reduce& options) {
  const std::vector<int> axes = checked_axes(kind.name, options.axes, x.shape().rank());
  const Shape result = without_axes(x.shape(), axes, options.keep_dims);
  const FamilyEntry& entry = is_float(x.dtype()) ? *kind.on_floats : *kind.on_integers;
  const std::int64_t count = elements_along(x.shape(), axes);
  if (count == 0 || result.size() == 0)
    return number_like(x, result, is_float(x.dtype()) ? kind.identity : kind.integer_identity);
  if (count == 1) return x.reshape(result);
  if (count <= 2 * longest_part) return reduce_to_parts(entry, x, axes, 1, result, x.dtype());
  const std::int64_t parts = (count / longest_part + 3) / 4 * 4;
  const std::int64_t kept = result.size();
  return reduce(kind, reduce_to_parts(entry, x, axes, parts, {kept, parts}, x.dtype()), {.axes = {1}}).reshape(result);
}

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float lowest_i32 = -2147483648.0f, highest_i32 = 2147483520.0f;  // the highest that a float can name
constexpr Kind sum_kind{"sum", &reduce_sum, &reduce_sum_i32, 0, 0},
    prod_kind{"prod", &reduce_prod, &reduce_prod_i32, 1, 1},
    max_kind{"max", &reduce_max, &reduce_max_i32, -infinity, lowest_i32},
    min_kind{"min", &reduce_min, &reduce_min_i32, infinity, highest_i32};

// Narrow types reduce in wide ones.
DType wide(DType dtype) { return dtype == DType::f16 ? DType::f32 : is_integer(dtype) ? DType::i32 : dtype; }

Tensor reduce_wide(const Kind& kind, const Tensor& x, const Reduce& options) {
  check_dtype(kind.name, x, x.dtype() != DType::boolean, "floats and integers");
  return reduce(kind, x.cast(wide(x.dtype())), options).cast(x.dtype());
}

Tensor arg_reduce(std::string_view name, const FamilyEntry& on_floats, const FamilyEntry& on_integers, const Tensor& x,
                  int axis, bool keep_dims) {
  check_dtype(name, x, x.dtype() != DType::boolean, "floats and integers");
  const int checked = checked_axis(name, axis, x.shape().rank());
  if (x.shape()[checked] == 0)
    fail(ErrorCode::invalid_argument, name,
         "axis " + std::to_string(axis) + " of " + x.shape().to_string() + " has no elements.");
  const Shape result = without_axes(x.shape(), std::span(&checked, 1), keep_dims);
  return reduce_to_parts(is_float(x.dtype()) ? on_floats : on_integers, x, std::span(&checked, 1), 1, result,
                         DType::i32);
}

}  // namespace

Tensor sum(const Tensor& x, const Reduce& options) { return reduce_wide(sum_kind, x, options); }
Tensor prod(const Tensor& x, const Reduce& options) { return reduce_wide(prod_kind, x, options); }
Tensor max(const Tensor& x, const Reduce& options) { return reduce_wide(max_kind, x, options); }
Tensor min(const Tensor& x, const Reduce& options) { return reduce_wide(min_kind, x, options); }

Tensor mean(const Tensor& x, const Reduce& options) {
  check_dtype("mean", x, is_float(x.dtype()), "floats");
  const Tensor total = reduce(sum_kind, x.cast(DType::f32), options);
  const auto count =
      static_cast<float>(elements_along(x.shape(), checked_axes("mean", options.axes, x.shape().rank())));
  return (total * (1.0f / count)).cast(x.dtype());
}

Tensor any(const Tensor& x, const Reduce& options) {
  check_dtype("any", x, x.dtype() == DType::boolean, "booleans");
  return reduce(sum_kind, x.cast(DType::i32), options) > 0.0f;
}

Tensor all(const Tensor& x, const Reduce& options) {
  check_dtype("all", x, x.dtype() == DType::boolean, "booleans");
  return reduce(sum_kind, logical_not(x).cast(DType::i32), options) == 0.0f;
}

Tensor l1_norm(const Tensor& x, const Reduce& options) {
  check_dtype("l1_norm", x, is_float(x.dtype()), "floats");
  return sum(abs(x.cast(DType::f32)), options).cast(x.dtype());
}

Tensor l2_norm(const Tensor& x, const Reduce& options) {
  check_dtype("l2_norm", x, is_float(x.dtype()), "floats");
  return sqrt(sum(square(x.cast(DType::f32)), options)).cast(x.dtype());
}

Tensor logsumexp(const Tensor& x, const Reduce& options) {
  check_dtype("logsumexp", x, is_float(x.dtype()), "floats");
  const Tensor wide_x = x.cast(DType::f32);
  const Tensor largest = max(wide_x, {.axes = options.axes, .keep_dims = true});
  const Tensor shift = where(is_finite(largest), largest, 0.0f);  // infinities come out of exp and log as they should
  const Tensor total = log(sum(exp(wide_x - shift), {.axes = options.axes, .keep_dims = true})) + shift;
  return total
      .reshape(without_axes(x.shape(), checked_axes("logsumexp", options.axes, x.shape().rank()), options.keep_dims))
      .cast(x.dtype());
}

Tensor argmax(const Tensor& x, int axis, bool keep_dims) {
  return arg_reduce("argmax", reduce_argmax, reduce_argmax_i32, x, axis, keep_dims);
}
Tensor argmin(const Tensor& x, int axis, bool keep_dims) {
  return arg_reduce("argmin", reduce_argmin, reduce_argmin_i32, x, axis, keep_dims);
}

}  // namespace tessera

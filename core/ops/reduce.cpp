#include <tessera/reduce.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "core/kernel/reduce_parameters.h"
#include "core/ops/family.h"
#include <tessera/pointwise.h>

namespace tessera {
namespace {

// Parts of one operand are more stretches, whose results follow those of the first part.
template <class Parameters, class Options>
std::optional<Family> joined_reductions(const Family& family, const Joining& joining) {
  if (joining.apart == 0) return family;
  auto parameters = from_words<Parameters>(family.words);
  auto options = from_options<Options>(family.options);
  const bool is_across = options.reading == static_cast<std::int64_t>(ReduceReading::texels_across);
  if (is_across && (parameters.parts != 1 || joining.apart % 4 != 0)) return std::nullopt;
  if (!is_across) options.reading = static_cast<std::int64_t>(ReduceReading::each_element);
  const std::int64_t kept = options.kept_terms;
  parameters.terms.insert(parameters.terms.begin() + kept,
                          ReduceTerm{joining.elements / parameters.parts, joining.count, joining.apart});
  options.kept_terms = kept + 1;
  parameters.kept = parameters.kept * joining.count;
  const std::vector<std::uint32_t> constants = words_of(options);
  return Family{.entry = family.entry, .options = {constants.begin(), constants.end()}, .words = words_of(parameters)};
}

constexpr KernelEntry<ReduceFoldParameters, ReduceFoldOptions> reduce_fold{
    {.name = "reduce_fold",
     .file = "reduce",
     .reads_once = true,
     .joined = joined_reductions<ReduceFoldParameters, ReduceFoldOptions>}};

// The mean of each part. Numbers of parts divide one another, so that the weights of means follow from their places.
constexpr KernelEntry<ReduceMeanParameters, ReduceMeanOptions> reduce_mean{
    {.name = "reduce_mean",
     .file = "reduce",
     .reads_once = true,
     .joined = joined_reductions<ReduceMeanParameters, ReduceMeanOptions>}};

// The index of the largest element of each part, i32.
constexpr KernelEntry<ReduceArgParameters, ReduceArgOptions> reduce_arg{
    {.name = "reduce_arg", .file = "reduce", .reads_once = true}};
// reduce_arg among the elements of x whose indices the second operand, [kept..., count], has.
constexpr KernelEntry<ReduceArgParameters, ReduceArgOptions> reduce_arg_among{
    {.name = "reduce_arg_among", .file = "reduce"}};

// The elements that one invocation reduces: longer stretches are cut, so that many invocations share the work and sums
// stay accurate, each part being small beside the whole.
constexpr std::int64_t longest_part = 256;

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

// How many parts a second round reduces at once: rounds cost more than length. A single result is reduced by the texel.
std::int64_t most_parts_at_once(std::int64_t count, std::int64_t results) {
  return (results == 1 && count % 4 == 0 ? 4 : 2) * longest_part;
}

// Where parts of up to four times the usual length make one round less.
std::int64_t parts_within(std::int64_t parts, std::int64_t count, std::int64_t results) {
  const std::int64_t most = most_parts_at_once(parts, results);
  return count <= 4 * longest_part * most ? std::min(parts, most) : parts;
}

// The number of parts of a stretch, of which there are so many; 1 where one invocation reduces all of it.
std::int64_t parts_of(std::int64_t count, std::int64_t results) {
  if (count <= most_parts_at_once(count, results)) return 1;
  // Of a single result, whole runs of 32: see reduce_has_runs() in shaders_wgsl/reduce.wgsl.
  const std::int64_t parts = count / longest_part, unit = results == 1 && parts >= 32 ? 32 : 4;
  return parts_within((parts + unit - 1) / unit * unit, count, results);
}

// parts_of as a power of two.
std::int64_t mean_parts_of(std::int64_t count, std::int64_t results) {
  if (count <= most_parts_at_once(count, results)) return 1;
  const std::int64_t parts = std::max<std::int64_t>(
      4, std::int64_t{1} << std::bit_width(static_cast<std::uint64_t>(count / longest_part - 1)));
  return parts_within(parts, count, results);
}

// The places in x of the stretches that are reduced over the axes.
struct Stretches {
  Stretches(const Tensor& x, std::span<const int> axes) {
    for (const Term& term : terms_of_axes(x.shape(), other_axes(axes, x.shape().rank())))
      terms.push_back({term.block, term.size, term.stride});
    kept_terms = static_cast<std::int64_t>(terms.size());
    for (const Term& term : terms_of_axes(x.shape(), axes)) terms.push_back({term.block, term.size, term.stride});
    if (kept_terms == static_cast<std::int64_t>(terms.size())) terms.push_back({1, 1, 0});  // axes of one element
    reduced_terms = static_cast<std::int64_t>(terms.size()) - kept_terms;
  }
  ReduceReading reading(std::int64_t count, std::int64_t parts) const {
    const ReduceTerm& first = terms[0];
    if (kept_terms == 0) {
      if (reduced_terms != 1 || first.stride != 1) return ReduceReading::each_element;
      if (parts == 1 && count % 4 == 0) return ReduceReading::texels_of_single;
      return parts % 4 == 0 ? ReduceReading::texels_along : ReduceReading::each_element;
    }
    // Strides of all other terms are multiples of a run of elements that are next to each other.
    const bool is_run = first.block == 1 && first.stride == 1 && first.size % 4 == 0;
    return is_run ? ReduceReading::texels_across : ReduceReading::each_element;
  }

  std::vector<ReduceTerm> terms;
  std::int64_t kept_terms, reduced_terms;
};

// The parts of all stretches, as a kernel that reads them like this gives them, and their axis there.
struct Parts {
  Parts(ReduceReading reading, std::int64_t kept, std::int64_t parts)
      : axis(reading == ReduceReading::texels_across ? 0 : 1),
        shape(axis == 0 ? Shape{parts, kept} : Shape{kept, parts}) {}

  int axis;
  Shape shape;
};

// The reduction of no elements.
Tensor of_nothing(Fold fold, const Tensor& x, const Shape& result) {
  switch (fold) {
    case Fold::sum: return number_like(x, result, 0);
    case Fold::product: return number_like(x, result, 1);
    case Fold::largest: return number_like(x, result, lowest_number(x.dtype()));
    case Fold::smallest: break;
  }
  return number_like(x, result, highest_number(x.dtype()));
}

Tensor reduce(std::string_view name, Fold fold, const Tensor& x, const Reduce& options) {
  const std::vector<int> axes = checked_axes(name, options.axes, x.shape().rank());
  const Shape result = without_axes(x.shape(), axes, options.keep_dims);
  const std::int64_t count = elements_along(x.shape(), axes);
  if (count == 0 || result.size() == 0) return of_nothing(fold, x, result);
  if (count == 1) return x.reshape(result);
  const std::int64_t parts = parts_of(count, result.size());
  const Stretches stretches(x, axes);
  const ReduceReading reading = stretches.reading(count, parts);
  Family family = reduce_fold.with({.count = count, .parts = parts, .kept = result.size(), .terms = stretches.terms},
                                   {.kept_terms = stretches.kept_terms,
                                    .reduced_terms = stretches.reduced_terms,
                                    .reading = static_cast<std::int64_t>(reading),
                                    .fold = static_cast<std::int64_t>(fold)});
  if (parts == 1) return family_tensor(result, x.dtype(), std::move(family), {x});
  const Parts made(reading, result.size(), parts);
  const Tensor of_parts = family_tensor(made.shape, x.dtype(), std::move(family), {x});
  return reduce(name, fold, of_parts, {.axes = {made.axis}}).reshape(result);
}

// The mean of x, which has elements or means of parts of `all` elements.
Tensor mean_of(const Tensor& x, std::span<const int> axes, const Shape& result, std::int64_t all) {
  const std::int64_t count = elements_along(x.shape(), axes), parts = mean_parts_of(count, result.size());
  const Stretches stretches(x, axes);
  const ReduceReading reading = stretches.reading(count, parts);
  Family family =
      reduce_mean.with({.count = count, .parts = parts, .kept = result.size(), .all = all, .terms = stretches.terms},
                       {.kept_terms = stretches.kept_terms,
                        .reduced_terms = stretches.reduced_terms,
                        .reading = static_cast<std::int64_t>(reading),
                        .of_means = count != all});
  if (parts == 1) return family_tensor(result, DType::f32, std::move(family), {x});
  const Parts made(reading, result.size(), parts);
  return mean_of(family_tensor(made.shape, DType::f32, std::move(family), {x}), std::span(&made.axis, 1), result, all);
}

// Narrow types reduce in wide ones.
DType wide(DType dtype) { return dtype == DType::f16 ? DType::f32 : is_integer(dtype) ? DType::i32 : dtype; }

Tensor reduce_wide(std::string_view name, Fold fold, const Tensor& x, const Reduce& options) {
  check_dtype(name, x, x.dtype() != DType::boolean, "floats and integers");
  if (x.shape().size() == 0) return reduce(name, fold, x, options);
  return reduce(name, fold, x.cast(wide(x.dtype())), options).cast(x.dtype());
}

Tensor arg_reduce(std::string_view name, const Tensor& x, int axis, bool keep_dims, bool is_smallest) {
  check_dtype(name, x, x.dtype() != DType::boolean, "floats and integers");
  const int checked = checked_axis(name, axis, x.shape().rank());
  if (x.shape()[checked] == 0)
    fail(ErrorCode::invalid_argument, name,
         "axis " + std::to_string(axis) + " of " + x.shape().to_string() + " has no elements.");
  const std::span<const int> axes(&checked, 1);
  const Shape result = without_axes(x.shape(), axes, keep_dims);
  const std::int64_t turned_bits = !is_smallest ? 0 : is_float(x.dtype()) ? 1u << 31 : ~0u;
  const Stretches stretches(x, axes);
  std::optional<Tensor> candidates;  // fewer indices with each round
  for (std::int64_t count = x.shape()[checked], parts = 0; parts != 1; count = parts) {
    constexpr std::int64_t several = 2;  // none is read by the texel
    parts = parts_of(count, several);
    Family family = (candidates ? reduce_arg_among : reduce_arg)
                        .with({.count = count, .parts = parts, .turned_bits = turned_bits, .terms = stretches.terms},
                              {.kept_terms = stretches.kept_terms,
                               .reduced_terms = stretches.reduced_terms,
                               .is_float = is_float(x.dtype())});
    const Shape shape = parts == 1 ? result : Shape{result.size(), parts};
    candidates = candidates ? family_tensor(shape, DType::i32, std::move(family), {x, *candidates})
                            : family_tensor(shape, DType::i32, std::move(family), {x});
  }
  return *candidates;
}

}  // namespace

Tensor sum(const Tensor& x, const Reduce& options) { return reduce_wide("sum", Fold::sum, x, options); }
Tensor prod(const Tensor& x, const Reduce& options) { return reduce_wide("prod", Fold::product, x, options); }
Tensor max(const Tensor& x, const Reduce& options) { return reduce_wide("max", Fold::largest, x, options); }
Tensor min(const Tensor& x, const Reduce& options) { return reduce_wide("min", Fold::smallest, x, options); }

Tensor mean(const Tensor& x, const Reduce& options) {
  check_dtype("mean", x, is_float(x.dtype()), "floats");
  const std::vector<int> axes = checked_axes("mean", options.axes, x.shape().rank());
  const Shape result = without_axes(x.shape(), axes, options.keep_dims);
  const std::int64_t count = elements_along(x.shape(), axes);
  if (count == 0 || result.size() == 0) return number_like(x, result, std::numeric_limits<double>::quiet_NaN());
  if (count == 1) return x.reshape(result);
  return mean_of(x.cast(DType::f32), axes, result, count).cast(x.dtype());
}

Tensor any(const Tensor& x, const Reduce& options) {
  check_dtype("any", x, x.dtype() == DType::boolean, "booleans");
  return reduce("any", Fold::sum, x.cast(DType::i32), options) > 0.0f;
}

Tensor all(const Tensor& x, const Reduce& options) {
  check_dtype("all", x, x.dtype() == DType::boolean, "booleans");
  return reduce("all", Fold::sum, logical_not(x).cast(DType::i32), options) == 0.0f;
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

Tensor argmax(const Tensor& x, int axis, bool keep_dims) { return arg_reduce("argmax", x, axis, keep_dims, false); }
Tensor argmin(const Tensor& x, int axis, bool keep_dims) { return arg_reduce("argmin", x, axis, keep_dims, true); }

}  // namespace tessera

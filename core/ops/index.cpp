// Tensors made of element indices: ranges, diagonals, triangles, one-hot vectors.
#include <algorithm>
#include <cmath>

#include "core/kernel/gather_parameters.h"
#include "core/ops/axis_view.h"
#include "core/ops/family.h"
#include "core/ops/pointwise.h"
#include "core/run/context_impl.h"
#include <tessera/gather.h>
#include <tessera/pointwise.h>

namespace tessera {
namespace {

// Gives i32, without operands.
constexpr KernelEntry<IndexMapParameters, IndexMapOptions> index_map{{.name = "index_map", .file = "gather"}};

using ContextPtr = std::shared_ptr<ContextImpl>;

ContextPtr context_of(const Context& context) { return ContextAccess::impl(context).shared_from_this(); }

Tensor number(std::string_view op, const ContextPtr& context, const Shape& shape, DType dtype, double value) {
  return TensorAccess::tensor(number_node(op, context, shape, dtype, value));
}

Tensor indices(const ContextPtr& context, const Shape& shape, std::int64_t offset, const std::vector<Term>& terms) {
  if (shape.size() == 0) return number("index", context, shape, DType::i32, 0);
  IndexMapParameters parameters{.offset = offset};
  for (const Term& term : terms) parameters.terms.push_back({term.block, term.size, term.stride});
  return TensorAccess::tensor(
      make_node(context, shape, DType::i32, index_map.with(parameters, {.terms = terms.size()})));
}

// The height of each element of matrices [...,rows,columns] above the main diagonal.
Tensor height_above_diagonal(const ContextPtr& context, const Shape& matrices) {
  const std::int64_t rows = matrices[-2], columns = matrices[-1];
  return indices(context, matrices, 0, {{1, columns, 1}, {columns, rows, -1}});
}

// The diagonal k, or the nearest one that is outside of the matrices too.
Tensor diagonal(const ContextPtr& context, const Shape& matrices, std::int64_t k) {
  return number("index", context, {}, DType::i32, static_cast<double>(std::clamp(k, -matrices[-2], matrices[-1])));
}

void check_integer_range(DType dtype, double start, double step, double last) {
  if (step != std::trunc(step))
    fail(ErrorCode::invalid_argument, "range",
         "the step " + number_text(step) + " is not a whole number, as it must be for " +
             std::string(to_string(dtype)) + ".");
  for (const double value : {start, last})
    if (!has_number(dtype, value))
      fail(ErrorCode::invalid_argument, "range",
           number_text(value) + " is not a value of type " + std::string(to_string(dtype)) + ".");
}

}  // namespace

Tensor range(const Context& context, double start, double stop, double step, DType dtype) {
  if (dtype == DType::boolean)
    fail(ErrorCode::dtype_mismatch, "range", "booleans are asked for; it gives floats and integers.");
  const double count = std::ceil((stop - start) / step);
  if (!std::isfinite(count) || count > Shape::max_size)
    fail(std::isfinite(count) ? ErrorCode::out_of_memory : ErrorCode::invalid_argument, "range",
         "from " + number_text(start) + " to " + number_text(stop) + " in steps of " + number_text(step) +
             " there are more than the " + std::to_string(Shape::max_size) + " elements there can be.");
  if (count <= 0) return number("range", context_of(context), {0}, dtype, 0);
  const auto size = static_cast<std::int64_t>(count);
  if (!is_float(dtype)) {
    check_integer_range(dtype, start, step, start + (count - 1) * step);
    if (size == 1) return number("range", context_of(context), {1}, dtype, start);  // however large the step is
    return indices(context_of(context), {size}, static_cast<std::int64_t>(start),
                   {{1, size, static_cast<std::int64_t>(step)}})
        .cast(dtype);
  }
  const Tensor steps = indices(context_of(context), {size}, 0, {{1, size, 1}}).cast(DType::f32);
  return (steps * static_cast<float>(step) + static_cast<float>(start)).cast(dtype);
}

Tensor linspace(const Context& context, float start, float stop, std::int64_t count, DType dtype) {
  if (!is_float(dtype))
    fail(ErrorCode::dtype_mismatch, "linspace",
         "values of type " + std::string(to_string(dtype)) + " are asked for; it gives floats.");
  if (count < 0) fail(ErrorCode::invalid_argument, "linspace", "the count is " + std::to_string(count) + ", below 0.");
  if (count < 2) return number("linspace", context_of(context), {count}, dtype, start);
  const Tensor steps = indices(context_of(context), result_shape("linspace", {count}), 0, {{1, count, 1}});
  const float step = static_cast<float>((static_cast<double>(stop) - start) / static_cast<double>(count - 1));
  const Tensor values = steps.cast(DType::f32) * step + start;
  // The last number is exact, whatever the steps before it round to.
  return where(steps == static_cast<double>(count - 1), number("linspace", context_of(context), {}, DType::f32, stop),
               values)
      .cast(dtype);
}

Tensor eye(const Context& context, std::int64_t rows, std::int64_t columns, std::int64_t k, DType dtype) {
  const ContextPtr impl = context_of(context);
  const Shape matrix = result_shape("eye", {rows, columns});
  return (height_above_diagonal(impl, matrix) == diagonal(impl, matrix, k)).cast(dtype);
}

Tensor eye(const Context& context, std::int64_t rows, DType dtype) { return eye(context, rows, rows, 0, dtype); }

Tensor one_hot(const Tensor& x, std::int64_t depth, const OneHot& options) {
  check_dtype("one_hot", x, x.dtype() == DType::i32, "i32 indices");
  if (depth < 0) fail(ErrorCode::invalid_argument, "one_hot", "the depth is " + std::to_string(depth) + ", below 0.");
  const int axis = checked_axis("one_hot", options.axis, x.shape().rank() + 1);
  const Tensor columns = expand_dims(x, axis);
  std::vector<std::int64_t> dims(columns.shape().dims().begin(), columns.shape().dims().end());
  dims[static_cast<std::size_t>(axis)] = depth;
  const Shape result = result_shape("one_hot", dims);
  const std::int64_t block = digits_of(result)[static_cast<std::size_t>(axis)].stride;
  const ContextPtr& context = TensorAccess::info(x).context;
  const Tensor positions = indices(context, result, 0, {{block, depth, 1}});
  return where(positions == columns, number("one_hot", context, {}, options.dtype, options.on), options.off);
}

Tensor diag(const Tensor& x) {
  const Shape& shape = x.shape();
  if (shape.rank() < 1) fail(ErrorCode::invalid_argument, "diag", "[] has a rank of 0; it takes vectors [...,n].");
  std::vector<std::int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.push_back(dims.back());
  const Tensor height = height_above_diagonal(TensorAccess::info(x).context, result_shape("diag", dims));
  return where(height == 0.0f, expand_dims(x, -2), 0.0f);
}

Tensor triangle(const Tensor& x, Triangle which, std::int64_t k) {
  check_matrices("triangle", x.shape());
  const ContextPtr& context = TensorAccess::info(x).context;
  const Tensor height = height_above_diagonal(context, x.shape()), border = diagonal(context, x.shape(), k);
  return where(which == Triangle::upper ? height >= border : height <= border, x, 0.0f);
}

}  // namespace tessera

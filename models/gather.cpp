// Look-ups and scattering.
#include <algorithm>

#include "models/indices.h"

namespace tessera::onnx {

Tensor count_along(const Call& call, int axis, int rank, std::int64_t size) {
  Sizes sizes(static_cast<std::size_t>(rank), 1);
  sizes[static_cast<std::size_t>(axis)] = size;
  return range(call.context(), 0, static_cast<double>(size), 1, DType::i32).reshape(Shape(sizes));
}

Tensor flat_indices(const Call& call, const Shape& x, const Tensor& indices, int axis) {
  const Shape& shape = indices.shape();
  if (shape.rank() != x.rank())
    call.fail(ErrorCode::shape_mismatch,
              "its indices " + shape.to_string() + " have not as many axes as " + x.to_string() + ".");
  Sizes steps(static_cast<std::size_t>(x.rank()), 1);
  for (int i = x.rank() - 1; i-- > 0;)
    steps[static_cast<std::size_t>(i)] = steps[static_cast<std::size_t>(i) + 1] * x[i + 1];
  Tensor flat = where(indices < 0, indices + static_cast<double>(x[axis]), indices) *
                static_cast<double>(steps[static_cast<std::size_t>(axis)]);
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis && shape[i] > 1)
      flat = flat + count_along(call, i, x.rank(), shape[i]) * static_cast<double>(steps[static_cast<std::size_t>(i)]);
  return flat;
}

Tensor elements_at(const Call& call, const Tensor& x, const Tensor& indices, int axis) {
  return gather(flatten(x), flat_indices(call, x.shape(), indices, axis), 0);
}

namespace {

Results gathered(const Call& call) {
  return {call.give(
      gather(call.tensor(0), call.tensor(1).cast(DType::i32), call.axis(call.integer("axis", 0), call.rank())))};
}

Results gathered_elements(const Call& call) {
  return {call.give(elements_at(call, call.tensor(0), call.tensor(1).cast(DType::i32),
                                call.axis(call.integer("axis", 0), call.rank())))};
}

Results gathered_slices(const Call& call) {
  Tensor indices = call.tensor(1);
  const std::int64_t batches = call.integer("batch_dims", 0);
  call.expect_rank(1, 1);
  call.expect(batches >= 0 && batches < indices.shape().rank() && batches < call.rank(0),
              "it has " + std::to_string(batches) + " batch axes.");
  if (batches > 0) {  // the place in the batch stands before the indices
    Sizes sizes(indices.shape().dims().begin(), indices.shape().dims().end());
    sizes.back() = 1;
    std::vector<Tensor> columns;
    for (int i = 0; i < batches; ++i)
      columns.push_back(broadcast_to(count_along(call, i, indices.shape().rank(), indices.shape()[i]), Shape(sizes)));
    columns.push_back(indices);
    indices = concat(columns, -1);
  }
  return {call.give(gather_nd(call.tensor(0), indices))};
}

// mul, max and min look at every update for every place: x [places,rest], rows [updates].
Tensor scattered_by_mask(const Call& call, const Tensor& x, const Tensor& rows, const Tensor& updates,
                         const std::string& reduction) {
  const std::int64_t places = x.shape()[0], rest = x.shape()[1], count = rows.shape().size();
  const Tensor hits = rows.reshape({count, 1, 1}) == count_along(call, 1, 3, places);
  const Tensor spread = updates.reshape({count, 1, rest});
  const bool is_integer_type = is_integer(x.dtype());
  if (reduction == "mul") return x * prod(where(hits, spread, 1), {.axes = {0}});
  const double low = is_integer_type           ? (x.dtype() == DType::i32  ? -2147483648.0
                                                  : x.dtype() == DType::i8 ? -128
                                                                           : 0)
                     : x.dtype() == DType::f16 ? -65504
                                               : -3.4028234663852886e38;
  const double high = is_integer_type ? (x.dtype() == DType::i32  ? 2147483647.0
                                         : x.dtype() == DType::i8 ? 127
                                                                  : 255)
                                      : -low;
  if (reduction == "max") return maximum(x, max(where(hits, spread, low), {.axes = {0}}));
  if (reduction == "min") return minimum(x, min(where(hits, spread, high), {.axes = {0}}));
  call.unsupported("there is no reduction '" + reduction + "'.");
}

Results scattered_elements(const Call& call) {
  const Tensor x = call.tensor(0), updates = call.tensor(2);
  const int axis = call.axis(call.integer("axis", 0), call.rank());
  // An index outside names a place of another row when it is flat: its update is dropped, as of slices.
  const Tensor indices = call.tensor(1).cast(DType::i32);
  const double length = static_cast<double>(x.shape()[axis]);
  const Tensor is_outside = logical_or(indices >= length, indices < -length);
  const Tensor rows =
      where(is_outside, INT32_MAX, flat_indices(call, x.shape(), indices, axis)).reshape({updates.shape().size(), 1});
  const std::string reduction = call.text("reduction", "none");
  const Tensor flat = flatten(x), flat_updates = flatten(updates);
  const std::int64_t size = x.shape().size();
  Tensor result;
  if (reduction == "none") result = scatter_update(flat, rows, flat_updates);
  else if (reduction == "add") result = flat + scatter_nd(rows, flat_updates, flat.shape());
  else result = scattered_by_mask(call, flat.reshape({size, 1}), rows, flat_updates, reduction);
  return {call.give(result.reshape(x.shape()))};
}

Results scattered_slices(const Call& call) {
  const Tensor x = call.tensor(0), indices = call.tensor(1), updates = call.tensor(2);
  const std::string reduction = call.text("reduction", "none");
  if (reduction == "none") return {call.give(scatter_update(x, indices, updates))};
  if (reduction == "add") return {call.give(x + scatter_nd(indices, updates, x.shape()))};
  call.expect_rank(1, 1);
  const std::int64_t depth = indices.shape()[-1], count = indices.shape().size() / std::max<std::int64_t>(1, depth);
  call.expect(depth >= 1 && depth <= x.shape().rank(), "its indices have " + std::to_string(depth) + " columns.");
  std::int64_t places = 1;
  Tensor rows;
  for (int i = 0; i < depth; ++i) {
    const Tensor column = slice(indices.reshape({count, depth}), {0, i}, {count, 1}).reshape({count});
    const double size = static_cast<double>(x.shape()[i]);
    const Tensor inside = where(column < 0, column + size, column);
    rows = rows.is_empty() ? inside : rows * size + inside;
    places *= x.shape()[i];
  }
  const Tensor flat = x.reshape({places, places == 0 ? 0 : x.shape().size() / places});
  return {call.give(scattered_by_mask(call, flat, rows, updates, reduction).reshape(x.shape()))};
}

Results one_hot_of(const Call& call) {
  const std::int64_t depth = call.integer_of(1);
  call.expect(depth >= 0, "its depth is " + std::to_string(depth) + ".");
  call.expect(call.shape(2).size() == 2, "its values " + call.shape(2).to_string() + " are not two.");
  const int axis = call.axis(call.integer("axis", -1), call.rank() + 1);
  const Tensor indices = call.tensor(0).cast(DType::i32), values = call.tensor(2);
  const Tensor inside = where(indices < 0, indices + static_cast<double>(depth), indices);
  const Tensor hits = one_hot(inside, depth, {.axis = axis, .dtype = DType::boolean});
  return {
      call.give(where(hits, slice(values, {1}, {1}).reshape({}), slice(values, {0}, {1}).reshape({})), call.type(2))};
}

Results reversed_sequences(const Call& call) {
  const int time = call.axis(call.integer("time_axis", 0), call.rank()),
            batch = call.axis(call.integer("batch_axis", 1), call.rank());
  const Shape& shape = call.shape(0);
  call.expect(time != batch && call.shape(1).size() == shape[batch],
              "its lengths " + call.shape(1).to_string() + " do not fit " + shape.to_string() + ".");
  Sizes sizes(static_cast<std::size_t>(shape.rank()), 1);
  sizes[static_cast<std::size_t>(batch)] = shape[batch];
  const Tensor lengths = call.tensor(1).reshape(Shape(sizes)),
               places = count_along(call, time, shape.rank(), shape[time]);
  const Tensor indices = where(places < lengths, lengths - 1 - places, places);
  return {call.give(elements_at(call, call.tensor(0), broadcast_to(indices, shape), time))};
}

}  // namespace

const Operators& gather_operators() {
  static const Operators rows{
      {"Gather", 1, gathered},
      {"GatherElements", 1, gathered_elements},
      {"GatherND", 1, gathered_slices},
      {"Scatter", 1, scattered_elements},
      {"ScatterElements", 1, scattered_elements},
      {"ScatterND", 1, scattered_slices},
      {"OneHot", 1, one_hot_of},
      {"ReverseSequence", 1, reversed_sequences},
  };
  return rows;
}

}  // namespace tessera::onnx

#include "models/capacity.h"

#include <algorithm>

#include "models/indices.h"
#include "models/tfjs/reader.h"

namespace tessera::onnx {

namespace {

Tensor numbers_from_zero(const Call& call, std::int64_t count) {
  return range(call.context(), 0, static_cast<double>(count), 1, DType::i32);
}

// What the places name along the axis of x, and zeros where they name nothing.
Tensor taken(const Tensor& x, const Tensor& places, int axis) {
  const std::int64_t capacity = places.shape()[0];
  Sizes sizes(x.shape().dims().begin(), x.shape().dims().end()), room(sizes.size(), 1);
  room[static_cast<std::size_t>(axis)] = capacity;
  return where((places == no_place).reshape(Shape(room)), 0, gather(x, places, axis));
}

// The same of indices, with no_place where the places name nothing.
Tensor taken_indices(const Tensor& indices, const Tensor& places) {
  return where(places == no_place, no_place, gather(indices, places, 0));
}

// An index of each slice along the axis, such that equal slices have equal ones, and where each was first.
struct Kinds {
  Tensor of_slices;  // [slices]
  Tensor is_first;   // [slices], booleans: in sorted order or in the order of x
  Tensor places;     // [slices]: the slice at each place of that order
};

Kinds sorted_kinds(const Call& call, const Tensor& slices) {  // [count,elements]
  const std::int64_t count = slices.shape()[0], elements = slices.shape()[1];
  // By the last element first: sorting keeps the order of equal ones.
  Tensor order = numbers_from_zero(call, count);
  for (std::int64_t i = elements; i-- > 0;) {
    const Tensor column = slice(slices, {0, i}, {count, 1}).reshape({count});
    order = i + 1 == elements ? argsort(column, 0) : gather(order, argsort(gather(column, order, 0), 0), 0);
  }
  const Tensor sorted = gather(slices, order, 0);
  const Tensor differs =
      any(slice(sorted, {1, 0}, {count - 1, elements}) != slice(sorted, {0, 0}, {count - 1, elements}), {.axes = {1}});
  const Tensor is_first = concat({call.context().full({1}, 1, DType::boolean), differs}, 0);
  const Tensor kinds = cumsum(is_first.cast(DType::i32), 0) - 1;
  return {scatter_update(call.context().zeros({count}, DType::i32), order.reshape({count, 1}), kinds), is_first, order};
}

Kinds kinds_in_order(const Call& call, const Kinds& sorted) {  // in which the slices come
  const std::int64_t count = sorted.places.shape()[0];
  const Tensor firsts = gather(sorted.places, picked(call, sorted.is_first, count).places, 0),
               own_first = gather(firsts, sorted.of_slices, 0), all = numbers_from_zero(call, count);
  const Tensor is_first = own_first == all, ranks = cumsum(is_first.cast(DType::i32), 0) - 1;
  return {gather(ranks, own_first, 0), is_first, all};
}

}  // namespace

Picked picked(const Call& call, const Tensor& flags, std::int64_t capacity) {
  const std::int64_t size = flags.shape().size();
  const Tensor nowhere = call.context().full({capacity}, no_place, DType::i32);
  if (size == 0) return {nowhere, call.context().zeros({}, DType::i32)};
  const Tensor ranks = cumsum(flags.cast(DType::i32), 0);
  const Tensor slots = where(flags, ranks - 1, no_place);
  return {scatter_update(nowhere, slots.reshape({size, 1}), numbers_from_zero(call, size)),
          slice(ranks, {size - 1}, {1}).reshape({})};
}

Results compressed_within_capacity(const Call& call) {
  const std::int64_t capacity = *call.node().capacity;
  const bool is_flat = !call.attribute("axis");
  const Tensor x = is_flat ? flatten(call.tensor(0)) : call.tensor(0), flags = flatten(call.tensor(1));
  const int axis = is_flat ? 0 : call.axis(call.integer("axis"), call.rank());
  call.expect(flags.shape().size() <= x.shape()[axis], "its condition is longer than the axis.");
  const Picked kept = picked(call, flags.cast(DType::boolean), capacity);
  if (x.shape().size() == 0) {
    Sizes sizes(x.shape().dims().begin(), x.shape().dims().end());
    sizes[static_cast<std::size_t>(axis)] = capacity;
    return {call.give(call.context().zeros(Shape(sizes), x.dtype())), call.give(kept.count, Type::int64)};
  }
  return {call.give(taken(x, kept.places, axis)), call.give(kept.count, Type::int64)};
}

Results places_of_nonzero_within_capacity(const Call& call) {
  const Shape& shape = call.shape(0);
  const Picked kept = picked(call, flatten(call.tensor(0)).cast(DType::boolean), *call.node().capacity);
  Tensor rest = kept.places;
  std::vector<Tensor> rows;
  for (int axis = shape.rank(); axis-- > 0;) {
    const double size = static_cast<double>(std::max<std::int64_t>(1, shape[axis]));
    rows.push_back(where(kept.places == no_place, no_place, axis == 0 ? rest : trunc_mod(rest, size)));
    rest = rest / size;
  }
  std::ranges::reverse(rows);
  const Tensor places = rows.empty() ? call.context().zeros({0, kept.places.shape()[0]}, DType::i32) : stack(rows, 0);
  return {call.give(places, Type::int64), call.give(kept.count, Type::int64)};
}

Results unique_within_capacity(const Call& call) {
  const std::int64_t capacity = *call.node().capacity;
  const bool is_flat = !call.attribute("axis");
  const Tensor x = is_flat ? flatten(call.tensor(0)) : call.tensor(0);
  const int axis = is_flat ? 0 : call.axis(call.integer("axis"), call.rank());
  const std::int64_t count = x.shape()[axis];
  if (x.shape().size() == 0) call.unsupported("distinct slices of nothing within a capacity.");
  std::vector<int> axis_first{axis};
  for (int i = 0; i < x.shape().rank(); ++i)
    if (i != axis) axis_first.push_back(i);
  Tensor slices = permuted(x, axis_first).reshape({count, x.shape().size() / count});
  constexpr std::int64_t most_elements = 256;  // each is sorted by
  if (slices.shape()[1] > most_elements)
    call.unsupported("slices of " + std::to_string(slices.shape()[1]) + " elements within a capacity; at most " +
                     std::to_string(most_elements) + " are possible.");
  if (x.dtype() == DType::boolean) slices = slices.cast(DType::i32);
  const Kinds sorted = sorted_kinds(call, slices);
  const Kinds kinds = call.integer("sorted", 1) != 0 ? sorted : kinds_in_order(call, sorted);
  const Picked kept = picked(call, kinds.is_first, capacity);
  const Tensor firsts = taken_indices(kinds.places, kept.places);
  const Tensor counts =
      scatter_nd(kinds.of_slices.reshape({count, 1}), call.context().full({count}, 1, DType::i32), {capacity});
  return {call.give(taken(x, firsts, axis)), call.give(firsts, Type::int64), call.give(kinds.of_slices, Type::int64),
          call.give(counts, Type::int64), call.give(kept.count, Type::int64)};
}

KeptBoxes kept_boxes(const Call& call, const Tensor& corners, const Tensor& scores, const Suppression& how,
                     std::int64_t capacity) {
  const std::int64_t batches = scores.shape()[0], classes = scores.shape()[1], boxes = scores.shape()[2];
  const std::int64_t turns = std::min({how.most, boxes, capacity + 1});
  if (batches * classes == 0 || turns <= 0)
    return {call.context().full({capacity, 3}, no_place, DType::i32), call.context().zeros({}, DType::i32)};
  constexpr double taken_score = -3.4028234663852886e38;
  const auto side = [&](const Tensor& of, std::int64_t which) {  // [...,4] to [...]
    const Shape& shape = of.shape();
    Sizes begin(static_cast<std::size_t>(shape.rank()), 0), size(shape.dims().begin(), shape.dims().end());
    begin.back() = which, size.back() = 1;
    return squeeze(slice(of, begin, size), {-1});
  };
  // Any two opposite corners, put in order.
  const Tensor sides = corners.cast(DType::f32);
  const Tensor sorted = stack({minimum(side(sides, 0), side(sides, 2)), minimum(side(sides, 1), side(sides, 3)),
                               maximum(side(sides, 0), side(sides, 2)), maximum(side(sides, 1), side(sides, 3))},
                              -1);
  const auto area = [&](const Tensor& of) { return (side(of, 2) - side(of, 0)) * (side(of, 3) - side(of, 1)); };
  const Tensor all = sorted.reshape({batches, 1, boxes, 4}), flat = sorted.reshape({batches * boxes, 4}),
               indices = numbers_from_zero(call, boxes), batch_begin = count_along(call, 0, 2, batches) * boxes,
               row_begin = numbers_from_zero(call, batches * classes).reshape({batches, classes}) * boxes;
  const Tensor given = scores.cast(DType::f32);
  Tensor left = where(given > std::max(how.least, taken_score), given, taken_score);
  std::vector<Tensor> best_boxes, best_scores;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    call.trace().count_step();
    const Tensor best = argmax(left, -1);  // [batches,classes]
    best_boxes.push_back(best);
    best_scores.push_back(gather(flatten(left), best + row_begin, 0));
    if (turn + 1 == turns) break;
    const Tensor box = gather(flat, best + batch_begin, 0).reshape({batches, classes, 1, 4});
    const Tensor height = minimum(side(all, 2), side(box, 2)) - maximum(side(all, 0), side(box, 0)),
                 width = minimum(side(all, 3), side(box, 3)) - maximum(side(all, 1), side(box, 1));
    const Tensor common = relu(height) * relu(width), together = area(all) + area(box) - common;
    const Tensor goes = logical_or(common > together * how.overlap, indices == best.reshape({batches, classes, 1}));
    left = where(goes, taken_score, left);
  }
  const Tensor chosen = flatten(stack(best_boxes, -1));
  const Picked kept = picked(call, flatten(stack(best_scores, -1)) > taken_score, capacity);
  const Tensor row = kept.places / static_cast<double>(turns);
  const auto column = [&](const Tensor& numbers) { return where(kept.places == no_place, no_place, numbers); };
  return {stack({column(row / static_cast<double>(classes)), column(trunc_mod(row, static_cast<double>(classes))),
                 taken_indices(chosen, kept.places)},
                1),
          kept.count};
}

Results suppressed_within_capacity(const Call& call) {
  Tensor corners = call.tensor(0);
  if (call.integer("center_point_box", 0)) {
    const std::vector<Tensor> parts = split(corners, 4, -1);  // x, y, width, height
    corners = concat(
        {parts[1] - parts[3] / 2, parts[0] - parts[2] / 2, parts[1] + parts[3] / 2, parts[0] + parts[2] / 2}, -1);
  }
  const KeptBoxes kept =
      kept_boxes(call, corners, call.tensor(1),
                 {.most = call.has(2) ? call.integer_of(2) : 0,
                  .overlap = call.has(3) ? call.number_of(3) : 0,
                  .least = call.has(4) ? call.number_of(4) : -std::numeric_limits<double>::infinity()},
                 *call.node().capacity);
  return {call.give(kept.rows, Type::int64), call.give(kept.count, Type::int64)};
}

std::optional<std::size_t> count_result(const NodeProto& node) {
  static const std::map<std::string, std::size_t, std::less<>> of_onnx{
      {"Compress", 1}, {"NonZero", 1}, {"Unique", 4}, {"NonMaxSuppression", 1}},
      of_tensorflow{{"Where", 1},
                    {"Unique", 2},
                    {"UniqueV2", 2},
                    {"UniqueWithCounts", 3},
                    {"UniqueWithCountsV2", 3},
                    {"NonMaxSuppressionV2", 1},
                    {"NonMaxSuppressionV3", 1},
                    {"NonMaxSuppressionV4", 2},
                    {"NonMaxSuppressionV5", 3}};
  const auto& rows = node.domain == tfjs::domain ? of_tensorflow : of_onnx;
  const auto row = rows.find(node.op);
  return row == rows.end() ? std::nullopt : std::optional(row->second);
}

void set_capacities(GraphProto& graph, const std::map<std::string, std::int64_t>& capacities) {
  for (const auto& given : capacities) {
    const std::string& name = given.first;
    const std::int64_t capacity = given.second;
    const auto node = std::ranges::find_if(graph.nodes, [&](const NodeProto& each) {
      return count_result(each) && !each.outputs.empty() && (each.name == name || each.outputs.front() == name);
    });
    if (node == graph.nodes.end())
      throw Error(ErrorCode::not_found, "a capacity is given for '" + name +
                                            "', but no node of that name has as many results as values say.");
    constexpr std::int64_t most = 1 << 24;
    if (capacity < 1 || capacity > most)
      throw Error(ErrorCode::invalid_argument, "the capacity of " + description(*node) + " is " +
                                                   std::to_string(capacity) + "; it has to be in 1 to " +
                                                   std::to_string(most) + ".");
    if (node->capacity) throw Error(ErrorCode::invalid_argument, description(*node) + " is given two capacities.");
    node->capacity = capacity;
    node->outputs.resize(*count_result(*node));
    ValueInfoProto count;
    count.name = node->outputs.front() + ".count";
    count.type = node->domain == tfjs::domain ? Type::int32 : Type::int64;
    count.has_shape = true;
    node->outputs.push_back(count.name);
    graph.outputs.push_back(std::move(count));
  }
}

}  // namespace tessera::onnx

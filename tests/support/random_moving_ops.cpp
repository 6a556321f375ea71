// Operations that make tensors or move elements, for random graphs.
#include <algorithm>
#include <limits>
#include <numeric>

#include "support/random_graph.h"

namespace tessera::test {
namespace {

std::vector<std::int64_t> dims_of(const Value& x) { return {x.shape().dims().begin(), x.shape().dims().end()}; }

// Moves elements of a value of any type.
template <class Move>
RandomOp moving(const char* name, int least_rank, const Move& move) {
  return {name, [=](RandomGraph& graph) {
            const Value x = graph.any(every_dtype, least_rank);
            graph.give_moved(move(graph, x), x.range);
          }};
}

std::vector<int> some_axes(RandomGraph& graph, const Value& x) {
  std::vector<int> axes;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (graph.chance(40)) axes.push_back(graph.chance(50) ? axis : axis - x.rank());
  return axes;
}

Tensor transposed(RandomGraph& graph, const Value& x) {
  if (graph.chance(40)) return transpose(x.tensor);
  std::vector<int> order(static_cast<std::size_t>(x.rank()));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = 1; i < order.size(); ++i)
    std::swap(order[i], order[static_cast<std::size_t>(graph.pick(0, static_cast<int>(i)))]);
  return transpose(x.tensor, order);
}

Tensor sliced(RandomGraph& graph, const Value& x) {
  std::vector<std::int64_t> begin, size;
  for (const std::int64_t dim : x.shape().dims()) {
    begin.push_back(graph.pick(0, static_cast<int>(dim)));
    size.push_back(graph.chance(20) ? -1 : graph.pick(0, static_cast<int>(dim - begin.back())));
    if (size.back() == 0 && dim > 0 && graph.chance(95)) begin.back() = 0, size.back() = 1;  // few are empty
  }
  return slice(x.tensor, begin, size);
}

Tensor sliced_in_steps(RandomGraph& graph, const Value& x) {
  std::vector<std::int64_t> begin, end, steps;
  for (const std::int64_t dim : x.shape().dims()) {
    const bool is_down = graph.chance(40);
    begin.push_back(is_down ? dim : graph.pick(0, 2));
    end.push_back(is_down ? std::numeric_limits<std::int64_t>::min() : dim);
    steps.push_back(graph.pick(1, 3) * (is_down ? -1 : 1));
  }
  return strided_slice(x.tensor, begin, end, steps);
}

Tensor tiled(RandomGraph& graph, const Value& x) {
  std::vector<std::int64_t> repeats;
  for (int axis = 0; axis < x.rank(); ++axis) repeats.push_back(graph.chance(40) ? graph.pick(1, 3) : 1);
  return tile(x.tensor, repeats);
}

// Axes of size 1 of x, and new ones, as long as they may be.
Shape stretched(RandomGraph& graph, const Value& x) {
  std::vector<std::int64_t> dims = dims_of(x);
  if (dims.size() < 5 && graph.chance(40)) dims.insert(dims.begin(), graph.pick(1, 3));
  for (std::int64_t& dim : dims)
    if (dim == 1 && graph.chance(60)) dim = graph.pick(2, 4);
  return Shape(dims);
}

Tensor padded(RandomGraph& graph, const Value& x) {
  const auto mode = graph.one_of({PadMode::constant, PadMode::edge, PadMode::reflect});
  std::vector<PadWidth> widths;
  for (const std::int64_t dim : x.shape().dims()) {
    const int most = mode == PadMode::constant ? 3
                     : dim == 0                ? 0
                     : mode == PadMode::edge   ? 3
                                               : static_cast<int>(dim) - 1;
    widths.push_back({graph.pick(0, std::min(most, 3)), graph.pick(0, std::min(most, 3))});
  }
  return mode == PadMode::constant && graph.chance(50) ? pad(x.tensor, widths, 1.0f)
                                                       : pad(x.tensor, widths, mode, 1.0f);
}

std::vector<Tensor> alike(RandomGraph& graph, const Value& x, Range& range) {
  std::vector<Tensor> tensors{x.tensor};
  for (int more = graph.pick(0, 8);
       more > 0 && static_cast<std::int64_t>(tensors.size() + 1) * x.size() < most_elements; --more) {
    const Value other = graph.filled(x.shape(), x.dtype());
    range = either_of(range, other.range);
    tensors.push_back(graph.chance(50) ? other.tensor : x.tensor);
  }
  return tensors;
}

void add_parts(RandomGraph& graph, const std::vector<Tensor>& parts, const Range& range) {
  for (const Tensor& part : parts)
    if (parts.size() < 4 || graph.chance(30)) graph.give_moved(part, range);
}

void add_split(RandomGraph& graph) {
  const Value x = graph.any(every_dtype, 1);
  const int axis = graph.axis_of(x);
  std::int64_t parts = graph.pick(1, 4);
  while (x.shape()[axis] % parts != 0) --parts;
  add_parts(graph, split(x.tensor, parts, axis), x.range);
}

void add_split_by_sizes(RandomGraph& graph) {
  const Value x = graph.any(every_dtype, 1);
  const int axis = graph.axis_of(x);
  const std::int64_t first = graph.pick(0, static_cast<int>(x.shape()[axis]));
  add_parts(graph, split_sizes(x.tensor, {first, x.shape()[axis] - first}, axis), x.range);
}

void add_cast(RandomGraph& graph) {
  const DType to = graph.type_of(every_dtype);
  const Value x = is_float(to) ? graph.any(every_dtype) : graph.exact(every_dtype);
  if (!is_float(to)) return graph.give_exact(x.tensor.cast(to));
  if (is_float(x.dtype())) {  // what has few bits is as exact in one type as in the other
    return to == DType::f32 || x.dtype() == to ? graph.give_moved(x.tensor.cast(to), x.range)
                                               : graph.give(x.tensor.cast(to), x.range, 1e-3);
  }
  const Tensor small = x.dtype() == DType::i32 ? bitwise_and(x.tensor, 127.0f) : x.tensor;
  graph.give(small.cast(to) * 0.015625f, {4, 0, 6});
}

void add_scatter(RandomGraph& graph, bool is_update) {
  const Value into = graph.any(every_dtype, 1, 3);
  if (into.size() == 0) return;
  const int depth = graph.pick(1, into.rank());
  const std::int64_t count = graph.pick(1, 6);
  const Value indices = graph.filled_exactly({count, depth}, i32_only);
  std::vector<std::int64_t> dims = dims_of(into);
  dims.erase(dims.begin(), dims.begin() + depth);
  dims.insert(dims.begin(), count);
  const Value updates = graph.filled(Shape(dims), into.dtype());
  const Tensor inside = floor_mod(indices.tensor, 8.0f);  // some of them
  if (is_update)
    return graph.give_moved(scatter_update(into.tensor, inside, updates.tensor), either_of(into.range, updates.range));
  graph.give(scatter_nd(inside, updates.tensor, into.shape()), sum_over(updates.range, count));
}

void add_gather(RandomGraph& graph) {
  const Value x = graph.any(every_dtype, 1, 3);
  const int axis = graph.axis_of(x);
  if (x.shape()[axis] == 0) return;
  const Value indices = graph.filled_exactly(graph.shape(0, 2), i32_only);
  graph.give_moved(gather(x.tensor, floor_mod(indices.tensor, 10.0f), axis), x.range);
}

void add_gather_of_slices(RandomGraph& graph) {
  const Value x = graph.any(every_dtype, 1, 4);
  if (x.size() == 0) return;
  const Value indices = graph.filled_exactly({graph.pick(1, 7), graph.pick(1, x.rank())}, i32_only);
  graph.give_moved(gather_nd(x.tensor, indices.tensor), x.range);
}

void add_one_hot(RandomGraph& graph) {
  const Value x = graph.exact(i32_only, 0, 2);
  const DType dtype = graph.type_of(every_dtype);
  const OneHot options{.on = 1, .off = 0, .axis = graph.pick(-1, x.rank()), .dtype = dtype};
  graph.give_moved(one_hot(floor_mod(x.tensor, 7.0f), graph.pick(1, 6), options), {1, 0, 0});
}

void add_range(RandomGraph& graph) {
  const DType dtype = graph.type_of(number_types);
  const int start = graph.pick(0, 5), count = graph.pick(0, 20), step = graph.pick(1, 3);
  graph.give_moved(range(graph.context(), start, start + count * step, step, dtype), {64, 0, 0});
}

// A way that begins and ends on this context and leads through another one.
void add_way_through_the_host(RandomGraph& graph) {
  const Value x = graph.any(every_dtype);
  if (graph.is_of_a_program()) return graph.give_moved(x.tensor, x.range);  // whose inputs have no values yet
  Context host = Context::create({.prefer = {BackendKind::cpu}});
  graph.give_moved(x.tensor.to(host).to(graph.context()), x.range);
}

}  // namespace

std::vector<RandomOp> random_moving_ops() {
  return {
      {"tensor", [](RandomGraph& graph) { graph.leaf(graph.type_of(every_dtype), graph.shape(0, 6)); }},
      {"zeros",
       [](RandomGraph& graph) {
         const DType dtype = graph.type_of(every_dtype);
         graph.give_moved(graph.context().zeros(graph.shape(0, 4), dtype), {1, 0, 0});
       }},
      {"full",
       [](RandomGraph& graph) {
         const DType dtype = graph.type_of(every_dtype);
         graph.give_moved(graph.context().full(graph.shape(0, 4), 1, dtype), {1, 0, 0});
       }},
      {"cast", add_cast},
      {"to", add_way_through_the_host},
      moving("reshape", 0,
             [](RandomGraph&, const Value& x) {
               return x.tensor.reshape(x.rank() > 1 && x.size() > 0 ? Shape{x.shape()[0], x.size() / x.shape()[0], 1}
                                                                    : Shape{x.size(), 1});
             }),
      moving("flatten", 0, [](RandomGraph&, const Value& x) { return flatten(x.tensor); }),
      moving("expand_dims", 0,
             [](RandomGraph& graph, const Value& x) { return expand_dims(x.tensor, graph.pick(0, x.rank())); }),
      moving("squeeze", 0, [](RandomGraph&, const Value& x) { return squeeze(x.tensor); }),
      moving("transpose", 1, transposed),
      moving("reverse", 1, [](RandomGraph& graph, const Value& x) { return reverse(x.tensor, some_axes(graph, x)); }),
      moving("slice", 1, sliced),
      moving("strided_slice", 1, sliced_in_steps),
      {"split", add_split},
      {"split_sizes", add_split_by_sizes},
      moving("broadcast_to", 0,
             [](RandomGraph& graph, const Value& x) { return broadcast_to(x.tensor, stretched(graph, x)); }),
      moving("expand", 0, [](RandomGraph& graph, const Value& x) { return expand(x.tensor, stretched(graph, x)); }),
      moving("tile", 1, tiled),
      {"depth_to_space",
       [](RandomGraph& graph) {
         const int block = graph.pick(1, 3), channels = graph.pick(1, 3) * block * block;
         const Value x = graph.filled({graph.pick(1, 2), graph.pick(1, 3), graph.pick(1, 4), channels}, every_dtype);
         graph.give_moved(depth_to_space(x.tensor, block), x.range);
       }},
      {"space_to_depth",
       [](RandomGraph& graph) {
         const int block = graph.pick(1, 3);
         const Value x =
             graph.filled({graph.pick(1, 2), graph.pick(1, 3) * block, graph.pick(1, 3) * block, 3}, every_dtype);
         graph.give_moved(space_to_depth(x.tensor, block), x.range);
       }},
      moving("diag_part", 2,
             [](RandomGraph& graph, const Value& x) {
               const auto rows = static_cast<int>(x.shape()[-2]), columns = static_cast<int>(x.shape()[-1]);
               return diag_part(x.tensor, graph.pick(std::min(0, 1 - rows), std::max(0, columns - 1)));
             }),
      {"concat",
       [](RandomGraph& graph) {
         const Value x = graph.any(every_dtype, 1);
         Range range = x.range;
         const std::vector<Tensor> tensors = alike(graph, x, range);
         graph.give_moved(concat(tensors, graph.axis_of(x)), range);
       }},
      {"stack",
       [](RandomGraph& graph) {
         const Value x = graph.any(every_dtype);
         Range range = x.range;
         const std::vector<Tensor> tensors = alike(graph, x, range);
         graph.give_moved(stack(tensors, graph.pick(0, x.rank())), range);
       }},
      {"pad",
       [](RandomGraph& graph) {
         const Value x = graph.any(every_dtype, 1, 3);
         graph.give_moved(padded(graph, x), either_of(x.range, {1, 0, 0}));
       }},
      {"gather", add_gather},
      {"gather_nd", add_gather_of_slices},
      {"scatter_nd", [](RandomGraph& graph) { add_scatter(graph, false); }},
      {"scatter_update", [](RandomGraph& graph) { add_scatter(graph, true); }},
      {"range", add_range},
      {"linspace",
       [](RandomGraph& graph) {
         const DType dtype = graph.type_of(float_types);
         graph.give(linspace(graph.context(), -1.5f, 0.7f, graph.pick(1, 30), dtype), {1.5}, 1e-6);
       }},
      {"eye",
       [](RandomGraph& graph) {
         const DType dtype = graph.type_of(every_dtype);
         const int rows = graph.pick(1, 6), columns = graph.pick(1, 6), k = graph.pick(-2, 2);
         graph.give_moved(eye(graph.context(), rows, columns, k, dtype), {1, 0, 0});
       }},
      {"one_hot", add_one_hot},
      {"diag",
       [](RandomGraph& graph) {
         const Value x = graph.any(every_dtype, 1, 3);
         if (x.size() * 10 < most_elements) graph.give_moved(diag(x.tensor), x.range);
       }},
      moving("triangle", 2,
             [](RandomGraph& graph, const Value& x) {
               return triangle(x.tensor, graph.one_of({Triangle::upper, Triangle::lower}), graph.pick(-2, 2));
             }),
  };
}

}  // namespace tessera::test

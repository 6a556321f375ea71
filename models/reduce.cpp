// Reductions, running sums and orders.
#include <algorithm>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

// Over the tensor in whichever order it is in, where what is left of the axes comes out in ONNX's order.
template <class Function>
auto reduction(const Function& function) {
  return [function](const Call& call) -> Results {
    const int rank = call.rank();
    std::optional<Sizes> axes = axes_of(call);
    if (axes && axes->empty()) axes.reset();
    if (!axes && call.integer("noop_with_empty_axes", 0)) {  // over no axis: each element by itself
      const Order order = call.value(0).order();
      return {call.give(function(expand_dims(call.tensor(0, order), -1), {.axes = {rank}}), order)};
    }
    if (rank == 0) axes.reset();
    const bool keeps = call.integer("keepdims", 1) != 0;
    Reduce over{.keep_dims = keeps};
    if (axes)
      for (const std::int64_t axis : *axes) over.axes.push_back(call.axis(axis, rank));
    std::ranges::sort(over.axes);
    over.axes.erase(std::unique(over.axes.begin(), over.axes.end()), over.axes.end());
    const auto is_reduced = [&](int axis) { return over.axes.empty() || std::ranges::binary_search(over.axes, axis); };
    bool has_spatial_left = false;
    for (int axis = 2; axis < rank; ++axis) has_spatial_left = has_spatial_left || !is_reduced(axis);
    const bool loses_order = !keeps && has_spatial_left && !is_reduced(1);
    const Order order = loses_order ? Order::plain : call.value(0).order();
    if (order == Order::channels_last)
      for (int& axis : over.axes) axis = to_channels_first(rank)[static_cast<std::size_t>(axis)];
    return {call.give(function(call.tensor(0, order), over), keeps ? order : Order::plain)};
  };
}

Results place_of_extreme(const Call& call) {
  const int axis = call.axis(call.integer("axis", 0), call.rank());
  const bool keeps = call.integer("keepdims", 1) != 0, is_max = call.node().op == "ArgMax";
  const auto place = [&](const Tensor& x) { return is_max ? argmax(x, axis, keeps) : argmin(x, axis, keeps); };
  const Tensor x = call.tensor(0);
  if (!call.integer("select_last_index", 0)) return {call.give(place(x), Type::int64)};
  return {call.give(static_cast<double>(call.shape(0)[axis] - 1) - place(reverse(x, {axis})), Type::int64)};
}

Results running_sum(const Call& call) {
  const int axis = call.axis(call.integer_of(1), call.rank());
  return {
      call.give(cumsum(call.tensor(0), axis,
                       {.exclusive = call.integer("exclusive", 0) != 0, .reverse = call.integer("reverse", 0) != 0}))};
}

Results largest(const Call& call) {
  const int axis = call.axis(call.integer("axis", -1), call.rank());
  const std::int64_t k = call.opset() < 10 ? call.integer("k") : call.integer_of(1);
  call.expect(k >= 0 && k <= call.shape(0)[axis],
              "k is " + std::to_string(k) + ", but the axis has " + std::to_string(call.shape(0)[axis]) + " elements.");
  const TopK top = top_k(call.tensor(0), k, axis, call.integer("largest", 1) != 0);
  return {call.give(top.values), call.give(top.indices, Type::int64)};
}

}  // namespace

const Operators& reduce_operators() {
  static const Operators rows{
      {"ReduceSum", 1, reduction([](const Tensor& x, const Reduce& over) { return sum(x, over); })},
      {"ReduceMean", 1, reduction([](const Tensor& x, const Reduce& over) { return mean(x, over); })},
      {"ReduceProd", 1, reduction([](const Tensor& x, const Reduce& over) { return prod(x, over); })},
      {"ReduceMax", 1, reduction([](const Tensor& x, const Reduce& over) {
         return x.dtype() == DType::boolean ? any(x, over) : max(x, over);
       })},
      {"ReduceMin", 1, reduction([](const Tensor& x, const Reduce& over) {
         return x.dtype() == DType::boolean ? all(x, over) : min(x, over);
       })},
      {"ReduceL1", 1, reduction([](const Tensor& x, const Reduce& over) {
         return is_float(x.dtype()) ? l1_norm(x, over) : sum(abs(x), over);
       })},
      {"ReduceL2", 1, reduction([](const Tensor& x, const Reduce& over) { return l2_norm(x, over); })},
      {"ReduceLogSumExp", 1, reduction([](const Tensor& x, const Reduce& over) { return logsumexp(x, over); })},
      {"ReduceLogSum", 1, reduction([](const Tensor& x, const Reduce& over) { return log(sum(x, over)); })},
      {"ReduceSumSquare", 1, reduction([](const Tensor& x, const Reduce& over) { return sum(square(x), over); })},
      {"ArgMax", 1, place_of_extreme},
      {"ArgMin", 1, place_of_extreme},
      {"CumSum", 1, running_sum},
      {"TopK", 1, largest},
  };
  return rows;
}

}  // namespace tessera::onnx

// Softmax and normalisations.
#include <algorithm>

#include "models/operators.h"

namespace tessera::onnx {

namespace {

Results batch_normalization(const Call& call) {
  call.expect_rank(0, 2);
  const float epsilon = call.number("epsilon", 1e-5f);
  const Tensor x = call.tensor(0, Order::channels_last), gamma = call.tensor(1), beta = call.tensor(2),
               mean_before = call.tensor(3), variance_before = call.tensor(4);
  if (call.opset() < 14 || call.integer("training_mode", 0) == 0) {
    bool is_constant = !call.on_host();
    for (int i = 1; i < 5; ++i) is_constant = is_constant && call.value(i).is_constant();
    if (!is_constant)
      return {call.give(batch_norm(x, mean_before, variance_before, {.gamma = gamma, .beta = beta, .epsilon = epsilon}),
                        Order::channels_last)};
    // A factor and a summand, which are computed once: what is left is part of the convolution before it.
    const Tensor factor = gamma * rsqrt(variance_before + epsilon);
    return {call.give(x * factor + (beta - mean_before * factor), Order::channels_last)};
  }
  Reduce over;
  for (int axis = 0; axis + 1 < call.rank(); ++axis) over.axes.push_back(axis);
  const Tensor mean_now = mean(x, over), variance_now = mean(square(x - mean_now), over);
  const float momentum = call.number("momentum", 0.9f);
  const auto running = [&](const Tensor& before, const Tensor& now) {
    return before * momentum + now * (1 - momentum);
  };
  return {call.give(batch_norm(x, mean_now, variance_now, {.gamma = gamma, .beta = beta, .epsilon = epsilon}),
                    Order::channels_last),
          call.give(running(mean_before, mean_now), call.type(3)),
          call.give(running(variance_before, variance_now), call.type(4))};
}

Results instance_normalization(const Call& call) {
  call.expect_rank(0, 3);
  const ChannelNorm how{.gamma = call.tensor(1), .beta = call.tensor(2), .epsilon = call.number("epsilon", 1e-5f)};
  return {call.give(instance_norm(call.tensor(0, Order::channels_last), how), Order::channels_last)};
}

Results group_normalization(const Call& call) {
  call.expect_rank(0, 3);
  const std::int64_t groups = call.integer("num_groups"), channels = call.shape(0)[1];
  call.expect(groups > 0 && channels % groups == 0,
              std::to_string(groups) + " groups do not divide " + std::to_string(channels) + " channels.");
  const auto by_channel = [&](int input) {  // before opset 21 there was one for each group
    const Tensor given = call.tensor(input);
    if (given.shape().size() == channels) return given;
    return broadcast_to(given.reshape({groups, 1}), {groups, channels / groups}).reshape({channels});
  };
  const ChannelNorm how{.gamma = by_channel(1), .beta = by_channel(2), .epsilon = call.number("epsilon", 1e-5f)};
  return {call.give(group_norm(call.tensor(0, Order::channels_last), groups, how), Order::channels_last)};
}

Results layer_normalization(const Call& call) {
  const int begin = call.axis(call.integer("axis", -1), call.rank());
  const auto dims = call.shape(0).dims();
  const Shape row(dims.subspan(static_cast<std::size_t>(begin)));
  const Tensor x = call.tensor(0);
  RowNorm how{.begin_axis = begin, .epsilon = call.number("epsilon", 1e-5f)};
  // A norm that was written out may have rows of one element, which a longer gamma stretches.
  if (row.size() == 1 && call.shape(1).size() > 1 && call.has(2))
    return {call.give(layer_norm(x, how) * call.tensor(1) + call.tensor(2))};
  how.gamma = broadcast_to(call.tensor(1), row);
  if (call.has(2)) how.beta = broadcast_to(call.tensor(2), row);
  Results results{call.give(layer_norm(x, how))};
  if (call.outputs() > 1) {
    Reduce over{.keep_dims = true};
    for (int axis = begin; axis < call.rank(); ++axis) over.axes.push_back(axis);
    const Tensor middle = mean(x, over);
    results.push_back(call.give(middle));
    results.push_back(call.give(rsqrt(mean(square(x - middle), over) + how.epsilon)));
  }
  return results;
}

Results root_mean_square(const Call& call) {
  const int begin = call.axis(call.integer("axis", -1), call.rank());
  const Shape row(call.shape(0).dims().subspan(static_cast<std::size_t>(begin)));
  return {call.give(rms_norm(
      call.tensor(0),
      {.gamma = broadcast_to(call.tensor(1), row), .begin_axis = begin, .epsilon = call.number("epsilon", 1e-5f)}))};
}

Results local_response(const Call& call) {
  const std::int64_t size = call.integer("size");
  if (size < 1 || size % 2 == 0)
    call.unsupported("a window of " + std::to_string(size) + " channels, which has no middle.");
  const LocalResponse how{.depth_radius = (size - 1) / 2,
                          .bias = call.number("bias", 1),
                          .alpha = call.number("alpha", 1e-4f) / static_cast<float>(size),
                          .beta = call.number("beta", 0.75f)};
  return {call.give(lrn(call.tensor(0, Order::channels_last), how), Order::channels_last)};
}

Results mean_variance(const Call& call) {
  Reduce over{.keep_dims = true};
  for (const std::int64_t axis : call.integers("axes").value_or(Sizes{0, 2, 3}))
    over.axes.push_back(call.axis(axis, call.rank()));
  const Tensor x = call.tensor(0), deviation = x - mean(x, over);
  return {call.give(deviation / (sqrt(mean(square(deviation), over)) + 1e-9))};
}

// Before opset 13 all axes from the given one on were one row.
template <class Function>
auto along_axis(const Function& function) {
  return [function](const Call& call) -> Results {
    const int rank = call.rank();
    if (call.opset() >= 13) {
      const int axis = call.axis(call.integer("axis", -1), rank);
      const Order order = call.value(0).order();
      const int place = order == Order::plain ? axis : to_channels_first(rank)[static_cast<std::size_t>(axis)];
      return {call.give(function(call.tensor(0, order), place), order)};
    }
    const std::int64_t given = call.integer("axis", 1);
    const std::int64_t axis = given == rank ? rank : call.axis(given, rank);
    std::int64_t before = 1, after = 1;
    for (int i = 0; i < rank; ++i) (i < axis ? before : after) *= call.shape(0)[i];
    return {call.give(function(call.tensor(0).reshape({before, after}), 1).reshape(call.shape(0)))};
  };
}

}  // namespace

const Operators& norm_operators() {
  static const Operators rows{
      {"BatchNormalization", 1, batch_normalization},
      {"InstanceNormalization", 1, instance_normalization},
      {"GroupNormalization", 18, group_normalization},
      {"LayerNormalization", 1, layer_normalization},
      {"RMSNormalization", 23, root_mean_square},
      {"LRN", 1, local_response},
      {"MeanVarianceNormalization", 1, mean_variance},
      {"Softmax", 1, along_axis([](const Tensor& x, int axis) { return softmax(x, axis); })},
      {"LogSoftmax", 1, along_axis([](const Tensor& x, int axis) { return log_softmax(x, axis); })},
      {"Hardmax", 1, along_axis([](const Tensor& x, int axis) {
         return one_hot(argmax(x, axis), x.shape()[axis], {.axis = axis, .dtype = x.dtype()});
       })},
  };
  return rows;
}

}  // namespace tessera::onnx

#include <numeric>

#include "core/ops/family.h"
#include "core/ops/row.h"
#include <tessera/pointwise.h>
#include <tessera/reduce.h>
#include <tessera/row.h>

namespace tessera {
namespace {

constexpr KernelEntry<LrnParameters> row_lrn{{.name = "row_lrn", .file = "row"}};

void check_floats(std::string_view op, const Tensor& x) { check_dtype(op, x, is_float(x.dtype()), "floats"); }

void check_epsilon(std::string_view op, float epsilon) {
  if (!(epsilon >= 0))
    fail(ErrorCode::invalid_argument, op, "epsilon is " + std::to_string(epsilon) + "; it must be 0 or more.");
}

void check_parameter(std::string_view op, std::string_view name, const Tensor& x, const Tensor& parameter,
                     const Shape& shape) {
  if (parameter.shape() != shape)
    fail(ErrorCode::shape_mismatch, op,
         std::string(name) + " is " + parameter.shape().to_string() + "; for x " + x.shape().to_string() +
             " it must be " + shape.to_string() + ".");
  if (parameter.dtype() != x.dtype())
    fail(ErrorCode::dtype_mismatch, op,
         std::string(name) + " is " + std::string(to_string(parameter.dtype())) + " and x is " +
             std::string(to_string(x.dtype())) + ".");
}

void check_gamma_and_beta(std::string_view op, const Tensor& x, const std::optional<Tensor>& gamma,
                          const std::optional<Tensor>& beta, const Shape& shape) {
  if (gamma) check_parameter(op, "gamma", x, *gamma, shape);
  if (beta) check_parameter(op, "beta", x, *beta, shape);
}

// normalized * gamma + beta in f32, whatever their type.
Tensor scaled_and_shifted(Tensor normalized, const std::optional<Tensor>& gamma, const std::optional<Tensor>& beta) {
  if (gamma) normalized = normalized * gamma->cast(DType::f32);
  if (beta) normalized = normalized + beta->cast(DType::f32);
  return normalized;
}

Tensor softmax_of(std::string_view op, RowKind kind, const Tensor& x, int axis) {
  check_floats(op, x);
  const int checked = checked_axis(op, axis, x.shape().rank());
  return normalized_rows(kind, x, std::span(&checked, 1), 0, x.dtype());
}

Tensor row_norm(std::string_view op, RowKind kind, const Tensor& x, const RowNorm& norm) {
  check_floats(op, x);
  check_epsilon(op, norm.epsilon);
  const int begin = checked_axis(op, norm.begin_axis, x.shape().rank());
  check_gamma_and_beta(op, x, norm.gamma, norm.beta, Shape(x.shape().dims().subspan(static_cast<std::size_t>(begin))));
  std::vector<int> axes(static_cast<std::size_t>(x.shape().rank() - begin));
  std::iota(axes.begin(), axes.end(), begin);
  return scaled_and_shifted(normalized_rows(kind, x, axes, norm.epsilon, DType::f32), norm.gamma, norm.beta)
      .cast(x.dtype());
}

// Checks an image [batch, ..., channels], and gives the number of its channels.
std::int64_t check_image(std::string_view op, const Tensor& x, const ChannelNorm& norm) {
  check_floats(op, x);
  check_epsilon(op, norm.epsilon);
  if (x.shape().rank() < 3)
    fail(ErrorCode::invalid_argument, op,
         "x is " + x.shape().to_string() + "; it must be [batch, ..., channels], of rank 3 or more.");
  const std::int64_t channels = x.shape()[-1];
  check_gamma_and_beta(op, x, norm.gamma, norm.beta, {channels});
  return channels;
}

}  // namespace

Tensor softmax(const Tensor& x, int axis) { return softmax_of("softmax", RowKind::softmax, x, axis); }
Tensor log_softmax(const Tensor& x, int axis) { return softmax_of("log_softmax", RowKind::log_softmax, x, axis); }
Tensor layer_norm(const Tensor& x, const RowNorm& norm) { return row_norm("layer_norm", RowKind::layer_norm, x, norm); }
Tensor rms_norm(const Tensor& x, const RowNorm& norm) { return row_norm("rms_norm", RowKind::rms_norm, x, norm); }

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const ChannelNorm& norm) {
  constexpr std::string_view op = "batch_norm";
  check_floats(op, x);
  check_epsilon(op, norm.epsilon);
  const Shape channels{x.shape()[checked_axis(op, -1, x.shape().rank())]};
  check_parameter(op, "mean", x, mean, channels);
  check_parameter(op, "variance", x, variance, channels);
  check_gamma_and_beta(op, x, norm.gamma, norm.beta, channels);
  // Seen in x's shape, the variance takes no kernel of its own for its root.
  const Tensor each_variance = strided_tensor(variance, x.shape(), 0, {{1, channels[0], 1}});
  const Tensor normalized =
      (x.cast(DType::f32) - mean.cast(DType::f32)) * rsqrt(each_variance.cast(DType::f32) + norm.epsilon);
  return scaled_and_shifted(normalized, norm.gamma, norm.beta).cast(x.dtype());
}

Tensor instance_norm(const Tensor& x, const ChannelNorm& norm) {
  check_image("instance_norm", x, norm);
  std::vector<int> axes(static_cast<std::size_t>(x.shape().rank() - 2));
  std::iota(axes.begin(), axes.end(), 1);
  return scaled_and_shifted(normalized_rows(RowKind::layer_norm, x, axes, norm.epsilon, DType::f32), norm.gamma,
                            norm.beta)
      .cast(x.dtype());
}

Tensor group_norm(const Tensor& x, std::int64_t groups, const ChannelNorm& norm) {
  const std::int64_t channels = check_image("group_norm", x, norm);
  if (groups < 1 || channels % groups != 0)
    fail(ErrorCode::invalid_argument, "group_norm",
         std::to_string(groups) + " groups do not divide the " + std::to_string(channels) + " channels of " +
             x.shape().to_string() + ".");
  if (x.shape().size() == 0) return x;
  const std::int64_t batch = x.shape()[0], positions = x.shape().size() / (batch * channels);
  const Tensor by_group = x.reshape({batch, positions, groups, channels / groups});
  // One group, or one channel a group, makes the reduced axes adjacent, which takes one kernel.
  const std::vector<int> axes = groups == 1          ? std::vector{1, 2, 3}
                                : groups == channels ? std::vector{1}
                                                     : std::vector{1, 3};
  const Tensor normalized = normalized_rows(RowKind::layer_norm, by_group, axes, norm.epsilon, DType::f32);
  return scaled_and_shifted(normalized.reshape(x.shape()), norm.gamma, norm.beta).cast(x.dtype());
}

Tensor l2_normalize(const Tensor& x, int axis, float epsilon) {
  check_floats("l2_normalize", x);
  check_epsilon("l2_normalize", epsilon);
  const int checked = checked_axis("l2_normalize", axis, x.shape().rank());
  const Tensor total = sum(square(x.cast(DType::f32)), {.axes = {checked}, .keep_dims = true});
  return (x.cast(DType::f32) * rsqrt(maximum(total, epsilon))).cast(x.dtype());
}

Tensor lrn(const Tensor& x, const LocalResponse& response) {
  check_floats("lrn", x);
  const std::int64_t channels = x.shape()[checked_axis("lrn", -1, x.shape().rank())];
  if (response.depth_radius < 0)
    fail(ErrorCode::invalid_argument, "lrn",
         "depth_radius is " + std::to_string(response.depth_radius) + "; it must be 0 or more.");
  return family_tensor(x.shape(), x.dtype(),
                       row_lrn.with({.channels = channels,
                                     .radius = std::min(response.depth_radius, channels),
                                     .bias = response.bias,
                                     .alpha = response.alpha,
                                     .beta = response.beta}),
                       {x});
}

}  // namespace tessera

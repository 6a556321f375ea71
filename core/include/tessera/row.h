// Softmax and normalisations set each element in relation to the others of its row: the elements along the axes that an
// operation works over.
//
//   Tensor attention = softmax(scores * scale);
//   Tensor y = layer_norm(x, {.gamma = gain, .beta = bias});
//
// All take floats, compute in f32 whatever the type, and give x's shape and type. gamma and beta are optional and of
// x's type: y = normalised * gamma + beta. Images are NHWC, their channels the last axis.
#pragma once
#include <optional>

#include <tessera/tensor.h>

namespace tessera {

// exp(x - max) / sum(exp(x - max)) along the axis, and its logarithm, of x [...]. As the formula has it, a NaN, +inf or
// nothing but -inf make the row NaN; a -inf beside numbers gives 0 and -inf.
TESSERA_API Tensor softmax(const Tensor& x, int axis = -1);
TESSERA_API Tensor log_softmax(const Tensor& x, int axis = -1);

struct RowNorm {
  std::optional<Tensor> gamma = {}, beta = {};  // of the shape of x from begin_axis on
  int begin_axis = -1;                          // rows reach from this axis to the last one
  float epsilon = 1e-5f;
};
// x [...] -> (x - mean) / sqrt(variance + epsilon), the variance being the mean of squared deviations.
TESSERA_API Tensor layer_norm(const Tensor& x, const RowNorm& = {});
// x [...] -> x / sqrt(mean of x² + epsilon).
TESSERA_API Tensor rms_norm(const Tensor& x, const RowNorm& = {});

struct ChannelNorm {
  std::optional<Tensor> gamma = {}, beta = {};  // [channels]
  float epsilon = 1e-3f;
};
// x [..., channels], mean and variance [channels] -> (x - mean) / sqrt(variance + epsilon). Pointwise work: it becomes
// part of the kernels around it.
TESSERA_API Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const ChannelNorm& = {});
// x [batch, ..., channels], with one axis or more between the two -> each channel of each image as in layer_norm.
TESSERA_API Tensor instance_norm(const Tensor& x, const ChannelNorm& = {});
// x [batch, ..., channels] -> as in layer_norm, over the positions and the channels of a group; `groups` divides the
// channels into runs of adjacent ones.
TESSERA_API Tensor group_norm(const Tensor& x, std::int64_t groups, const ChannelNorm& = {});

// x [...] -> x / sqrt(max(sum of x² along the axis, epsilon)).
TESSERA_API Tensor l2_normalize(const Tensor& x, int axis = -1, float epsilon = 1e-12f);

struct LocalResponse {
  std::int64_t depth_radius = 5;
  float bias = 1, alpha = 1, beta = 0.5f;
};
// Local response normalisation across channels: x [..., channels] -> x / (bias + alpha * s)^beta, s being the sum of
// the squares of the channels from c - depth_radius to c + depth_radius, as far as there are any. ONNX divides alpha by
// the 2 * depth_radius + 1 channels of the window; TensorFlow, and so this, does not.
TESSERA_API Tensor lrn(const Tensor& x, const LocalResponse& = {});

}  // namespace tessera

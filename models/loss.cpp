// Losses.
#include <algorithm>
#include <cstdint>

#include "models/indices.h"

namespace tessera::onnx {

namespace {

// Negative log likelihood of log probabilities [n,classes,...] and targets [n,...], with weights of classes or none.
Tensor likelihood_loss(const Call& call, const Tensor& log_probabilities, int targets, int weights) {
  const Tensor given = call.tensor(targets).cast(DType::i32);
  call.expect_rank(0, 2);
  Sizes sizes(given.shape().dims().begin(), given.shape().dims().end());
  sizes.insert(sizes.begin() + (sizes.empty() ? 0 : 1), 1);
  Tensor classes = given.reshape(Shape(sizes));
  std::optional<Tensor> weight;
  std::optional<Tensor> is_ignored;
  if (call.attribute("ignore_index")) {
    is_ignored =
        classes == static_cast<double>(std::clamp<std::int64_t>(call.integer("ignore_index"), INT32_MIN, INT32_MAX));
    classes = where(*is_ignored, 0, classes);
  }
  Tensor loss = -elements_at(call, log_probabilities, classes, 1);
  if (call.has(weights)) weight = gather(call.tensor(weights), classes, 0);
  if (is_ignored) {
    const Tensor ones = weight ? *weight : call.context().full(classes.shape(), 1, loss.dtype());
    weight = where(*is_ignored, 0, ones);
  }
  if (weight) loss = loss * *weight;
  const std::string reduction = call.text("reduction", "mean");
  if (reduction == "none") return loss.reshape(given.shape());
  const Tensor total = sum(loss);
  if (reduction == "sum") return total;
  if (reduction != "mean") call.unsupported("there is no reduction '" + reduction + "'.");
  return weight ? total / sum(*weight) : total / static_cast<double>(given.shape().size());
}

Results likelihood(const Call& call) { return {call.give(likelihood_loss(call, call.tensor(0), 1, 2))}; }

Results cross_entropy(const Call& call) {
  const Tensor log_probabilities = log_softmax(call.tensor(0), 1);
  return {call.give(likelihood_loss(call, log_probabilities, 1, 2)), call.give(log_probabilities)};
}

}  // namespace

const Operators& loss_operators() {
  static const Operators rows{
      {"NegativeLogLikelihoodLoss", 1, likelihood},
      {"SoftmaxCrossEntropyLoss", 1, cross_entropy},
  };
  return rows;
}

}  // namespace tessera::onnx

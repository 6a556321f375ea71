// TensorHub: operations on names.
#include <span>
#include <utility>

#include "core/hub_impl.h"
#include "core/sharing_names.h"

namespace tessera {
namespace {

std::vector<Tensor> used(HubImpl& hub, const char* op, std::span<const TensorRef> refs) {
  const std::scoped_lock hold(hub.lock);
  std::vector<Tensor> tensors;
  for (const TensorRef& ref : refs) tensors.push_back(hub.use(*hub.find(op, ref)));
  return tensors;
}

// build(inputs), where an error also tells the names that the inputs have.
template <class Build>
auto built(HubImpl& hub, const char* op, const std::vector<TensorRef>& refs, const Build& build) {
  const std::vector<Tensor> inputs = used(hub, op, refs);
  try {
    return build(inputs);
  } catch (const Error& error) {
    std::string text = std::string(op) + " of ";
    for (std::size_t i = 0; i < refs.size(); ++i)
      text += (i ? " and " : "") + text_of(refs[i]) + " " + inputs[i].shape().to_string();
    throw Error(error.code(), text + ": " + error.what());
  }
}

Tensor activated(const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::relu: return relu(x);
    case Activation::sigmoid: return sigmoid(x);
    case Activation::tanh: return tanh(x);
  }
  throw Error(ErrorCode::invalid_argument,
              "there is no activation of the number " + std::to_string(static_cast<int>(activation)) + ".");
}

}  // namespace

void TensorHub::matmul(const TensorRef& a, const TensorRef& b, const TensorRef& out, MatMul options) {
  publish(out, built(*impl_, "matmul", {a, b}, [&](const auto& in) { return tessera::matmul(in[0], in[1], options); }));
}

void TensorHub::elementwise(const TensorRef& in, const TensorRef& out, Activation activation) {
  publish(out, built(*impl_, "elementwise", {in}, [&](const auto& x) { return activated(x[0], activation); }));
}

void TensorHub::softmax(const TensorRef& in, const TensorRef& out, int axis) {
  publish(out, built(*impl_, "softmax", {in}, [&](const auto& x) { return tessera::softmax(x[0], axis); }));
}

TensorRef TensorHub::quantize(const TensorRef& in, const TensorRef& out) {
  const Quantized result = built(*impl_, "quantize", {in}, [](const auto& x) { return tessera::quantize(x[0]); });
  TensorRef scale{out.name + ".scale", out.model};
  publish(out, result.values);
  publish(scale, result.scale);
  return scale;
}

void TensorHub::dequantize(const TensorRef& in, const TensorRef& scale, const TensorRef& out) {
  publish(out, built(*impl_, "dequantize", {in, scale}, [](const auto& x) { return tessera::dequantize(x[0], x[1]); }));
}

}  // namespace tessera

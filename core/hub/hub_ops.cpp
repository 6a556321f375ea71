// TensorHub: operations on names.
#include <set>
#include <span>
#include <utility>

#include "core/hub/hub_impl.h"
#include "core/hub/sharing_names.h"

namespace tessera {
namespace {

std::vector<Tensor> used(HubImpl& hub, const char* op, std::span<const TensorRef> refs) {
  const std::scoped_lock hold(hub.lock);
  std::vector<Tensor> tensors;
  for (const TensorRef& ref : refs) tensors.push_back(hub.use(*hub.find(op, ref)));
  return tensors;
}

// build(inputs), whose errors tell the names of the inputs.
template <class Build>
auto built(HubImpl& hub, const char* op, const std::vector<TensorRef>& refs, const Build& build) {
  const std::vector<Tensor> inputs = used(hub, op, refs);
  try {
    return build(inputs);
  } catch (const Error& error) {
    std::string text = op;
    for (std::size_t i = 0; i < refs.size(); ++i)
      text += (i ? " and " : " of ") + text_of(refs[i]) + " " + inputs[i].shape().to_string();
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

void TensorHub::define_kernel(const CustomKernel& kernel) {
  const std::shared_ptr<const CheckedKernel> source = checked("define_kernel", kernel);
  {
    const LockedContext context(impl_->context);
    compile(*context, source);
  }
  const std::scoped_lock hold(impl_->lock);
  impl_->kernels[kernel.name] = source;
}

void TensorHub::run_kernel(std::string_view kernel, const std::map<std::string, TensorRef>& inputs,
                           const std::map<std::string, std::pair<TensorRef, TensorSpec>>& outputs,
                           std::array<std::uint32_t, 3> workgroup_count,
                           const std::map<std::string, float>& parameters) {
  const std::shared_ptr<const CheckedKernel> checked_kernel = [&] {
    const std::scoped_lock hold(impl_->lock);
    return impl_->find_kernel("run_kernel", kernel);
  }();
  CustomRun run{.parameters = parameters, .workgroup_count = workgroup_count};
  std::vector<TensorRef> refs;
  for (const auto& [name, ref] : inputs) refs.push_back(ref);
  std::set<TensorRef> published;
  for (const auto& [name, output] : outputs) {
    const auto& [ref, spec] = output;
    run.outputs.emplace(name, spec);
    if (!published.insert(ref).second)
      throw Error(ErrorCode::invalid_argument,
                  "run_kernel: two outputs of " + in_quotes(kernel) + " would be " + text_of(ref) + ".");
  }
  const auto results = built(*impl_, "run_kernel", refs, [&](const std::vector<Tensor>& tensors) {
    auto tensor = tensors.begin();
    for (const auto& [name, ref] : inputs) run.inputs.emplace(name, *tensor++);
    return run_checked(ContextAccess::impl(impl_->context).shared_from_this(), checked_kernel, run);
  });
  for (const auto& [name, output] : outputs) publish(output.first, results.at(name));
}

}  // namespace tessera

#include "core/custom.h"

#include <algorithm>
#include <set>

#include "core/context_impl.h"
#include "core/family.h"

namespace tessera {
namespace {

[[noreturn]] void fail_custom(const CustomKernel& kernel, const std::string& what) {
  fail(ErrorCode::invalid_argument, "run_custom", "the kernel \"" + kernel.name + "\" " + what);
}

template <class Value>
const Value& named(const CustomKernel& kernel, const std::string& what, const std::map<std::string, Value>& given,
                   const std::string& name) {
  const auto found = given.find(name);
  if (found == given.end()) fail_custom(kernel, "needs the " + what + " \"" + name + "\", which was not given.");
  return found->second;
}

template <class Value>
void check_names(const CustomKernel& kernel, const std::string& what, const std::vector<std::string>& wanted,
                 const std::map<std::string, Value>& given) {
  for (const auto& [name, _] : given)
    if (std::ranges::find(wanted, name) == wanted.end()) fail_custom(kernel, "has no " + what + " \"" + name + "\".");
}

void check_kernel(const CustomKernel& kernel) {
  if (kernel.outputs.empty()) fail_custom(kernel, "has no output.");
  std::set<std::string> names;
  for (const auto* list : {&kernel.inputs, &kernel.outputs, &kernel.parameters})
    for (const std::string& name : *list)
      if (!names.insert(name).second) fail_custom(kernel, "has the name \"" + name + "\" twice.");
}

void check_elements(const CustomKernel& kernel, const std::string& name, const Shape& shape) {
  if (shape.size() == 0) fail_custom(kernel, "cannot have \"" + name + "\" of " + shape.to_string() + ": no elements.");
}

}  // namespace

std::map<std::string, Tensor> run_custom(Context& context, const CustomKernel& kernel, const CustomRun& run) {
  check_kernel(kernel);
  check_names(kernel, "input", kernel.inputs, run.inputs);
  check_names(kernel, "output", kernel.outputs, run.outputs);
  check_names(kernel, "parameter", kernel.parameters, run.parameters);
  const auto impl = ContextAccess::impl(context).shared_from_this();

  auto call = std::make_shared<CustomCall>();
  call->kernel = kernel;
  call->workgroup_count = run.workgroup_count;
  for (const std::string& name : kernel.parameters)
    call->parameters.push_back(named(kernel, "parameter", run.parameters, name));
  std::vector<NodePtr> inputs;
  for (const std::string& name : kernel.inputs) {
    const NodePtr& node = TensorAccess::node(named(kernel, "input", run.inputs, name));
    if (node->context != impl) fail_custom(kernel, "was given a tensor of another context as \"" + name + "\".");
    check_elements(kernel, name, node->shape);
    call->inputs.push_back(node->dtype);
    inputs.push_back(std::make_shared<Node>(impl, node->shape, node->dtype, Whole{}, std::vector{node}));
  }
  std::map<std::string, Tensor> results;
  for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
    const TensorSpec& spec = named(kernel, "output", run.outputs, kernel.outputs[i]);
    check_elements(kernel, kernel.outputs[i], spec.shape);
    call->outputs.push_back(spec);
    auto node = std::make_shared<Node>(impl, spec.shape, spec.dtype, Custom{call, i}, inputs);
    call->results.push_back(node);
    results.emplace(kernel.outputs[i], TensorAccess::tensor(std::move(node)));
  }
  return results;
}

}  // namespace tessera

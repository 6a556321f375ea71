#include "core/ops/custom.h"

#include <algorithm>
#include <future>
#include <set>

#include "core/kernel/shader_names.h"
#include "core/ops/family.h"
#include "core/run/context_impl.h"
#include "core/run/custom_on_host.h"

namespace tessera {
namespace {

[[noreturn]] void fail_custom(std::string_view op, const CustomKernel& kernel, const std::string& what,
                              ErrorCode code = ErrorCode::invalid_argument) {
  fail(code, op, "the kernel \"" + kernel.name + "\" " + what);
}

constexpr std::string_view run_op = "run_custom";

const std::string& name_of(const std::string& name) { return name; }
const std::string& name_of(const KernelTensor& tensor) { return tensor.name; }

template <class Value>
const Value& named(const CustomKernel& kernel, const std::string& what, const std::map<std::string, Value>& given,
                   const std::string& name) {
  const auto value = given.find(name);
  if (value == given.end())
    fail_custom(run_op, kernel, "needs the " + what + " \"" + name + "\", which was not given.");
  return value->second;
}

template <class Declared, class Value>
void check_names(const CustomKernel& kernel, const std::string& what, const std::vector<Declared>& declared,
                 const std::map<std::string, Value>& given) {
  for (const auto& entry : given)
    if (std::ranges::none_of(declared, [&](const Declared& known) { return name_of(known) == entry.first; }))
      fail_custom(run_op, kernel, "has no " + what + " \"" + entry.first + "\".");
}

void check_elements(const CustomKernel& kernel, const std::string& name, const Shape& shape) {
  if (shape.size() == 0)
    fail_custom(run_op, kernel, "cannot have \"" + name + "\" of " + shape.to_string() + ": no elements.");
}

std::string text_of(const std::array<std::uint32_t, 3>& counts) {
  return "[" + std::to_string(counts[0]) + "," + std::to_string(counts[1]) + "," + std::to_string(counts[2]) + "]";
}

void check_distinct(std::string_view op, const CustomKernel& kernel) {
  std::set<std::string> names;
  const auto add = [&](const std::string& name) {
    if (!names.insert(name).second) fail_custom(op, kernel, "has the name \"" + name + "\" twice.");
  };
  for (const auto* tensors : {&kernel.inputs, &kernel.outputs})
    for (const KernelTensor& tensor : *tensors) add(tensor.name);
  for (const std::string& parameter : kernel.parameters) add(parameter);
}

// tessera's GLSL around the user's declares names that are made of the kernel's.
void check_glsl_names(std::string_view op, const CustomKernel& kernel) {
  const auto check = [&](const std::string& name, std::string fault) {
    if (name.starts_with("tessera_")) fault = "begins with tessera_, which is reserved";
    if (!fault.empty()) fail_custom(op, kernel, "cannot have the name \"" + name + "\" in GLSL: it " + fault + ".");
  };
  std::set<std::string> functions;
  for (const auto* tensors : {&kernel.inputs, &kernel.outputs})
    for (const KernelTensor& tensor : *tensors) {
      check(tensor.name, fault_of_glsl_part(tensor.name));
      functions.insert(tensor.name + "_at");
    }
  for (const std::string& name : kernel.parameters) {
    check(name, fault_of_glsl_variable(name));
    if (functions.contains(name)) check(name, "is the function of a tensor of the kernel");
  }
}

void check_workgroup_size(std::string_view op, const CustomKernel& kernel,
                          const std::set<std::string, std::less<>>& overrides) {
  const std::array<std::uint32_t, 3>& size = kernel.workgroup_size;
  if (size == std::array<std::uint32_t, 3>{}) return;
  if (std::ranges::count(size, 0u) > 0)
    fail_custom(op, kernel, "has a workgroup_size of " + text_of(size) + ": each has to be at least 1.");
  for (std::size_t axis = 0; axis < size.size() && !kernel.wgsl.empty(); ++axis)
    if (size[axis] > 1 && !overrides.contains(workgroup_size_names[axis]))
      fail_custom(op, kernel,
                  "has a workgroup_size of " + text_of(size) + ", but its WGSL has no \"override " +
                      std::string(workgroup_size_names[axis]) + ": u32\".");
}

// Checks the type that a tensor of the kernel is declared or given as against the WGSL.
void check_scalar(std::string_view op, const CustomKernel& kernel, const std::string& name,
                  const std::optional<WgslScalar>& scalar, DType dtype) {
  if (scalar && !holds(*scalar, dtype))
    fail_custom(op, kernel,
                "has \"" + name + "\" as " + std::string(to_string(*scalar)) + " in its WGSL, which cannot be " +
                    std::string(to_string(dtype)) + ".",
                ErrorCode::dtype_mismatch);
}

void check_dtype(const CheckedKernel& kernel, const KernelTensor& tensor, std::size_t binding, DType given) {
  if (tensor.dtype && *tensor.dtype != given)
    fail_custom(run_op, kernel,
                "has \"" + tensor.name + "\" as " + std::string(to_string(*tensor.dtype)) + ", but was given " +
                    std::string(to_string(given)) + ".",
                ErrorCode::dtype_mismatch);
  check_scalar(run_op, kernel, tensor.name, kernel.wgsl_scalars[binding], given);
}

// The type that GLSL is compiled for before there are tensors; none where neither the user nor the WGSL tells.
std::optional<DType> declared_dtype(const KernelTensor& tensor, const std::optional<WgslScalar>& scalar) {
  if (tensor.dtype || !scalar) return tensor.dtype;
  switch (*scalar) {
    case WgslScalar::f32: return DType::f32;
    case WgslScalar::f16: return DType::f16;
    case WgslScalar::i32: return DType::i32;
    case WgslScalar::u32: return DType::u8;  // words are mostly integers
  }
  return std::nullopt;
}

}  // namespace

std::shared_ptr<const CheckedKernel> checked(std::string_view op, const CustomKernel& kernel) {
  if (kernel.outputs.empty()) fail_custom(op, kernel, "has no output.");
  check_distinct(op, kernel);
  if (!kernel.glsl.empty()) check_glsl_names(op, kernel);
  const WgslDeclarations declared = declarations_of(kernel.wgsl);
  check_workgroup_size(op, kernel, declared.overrides);
  auto result = std::make_shared<CheckedKernel>(CheckedKernel{kernel, declared.overrides, {}});
  for (const auto* tensors : {&kernel.inputs, &kernel.outputs})
    for (const KernelTensor& tensor : *tensors) {
      const auto buffer = declared.buffers.find(static_cast<int>(result->wgsl_scalars.size()));
      auto& scalar = result->wgsl_scalars.emplace_back();
      if (buffer != declared.buffers.end()) scalar = buffer->second;
      if (tensor.dtype) check_scalar(op, kernel, tensor.name, scalar, *tensor.dtype);
    }
  return result;
}

void compile(ContextState& context, const std::shared_ptr<const CheckedKernel>& kernel) {
  CustomCall call{.kernel = kernel, .workgroup_count = {1, 1, 1}};
  call.parameters.resize(kernel->parameters.size());
  bool is_guessed = false;
  const auto spec_of = [&](const KernelTensor& tensor, std::size_t binding) {
    const std::optional<DType> declared = declared_dtype(tensor, kernel->wgsl_scalars[binding]);
    is_guessed = is_guessed || !declared;
    return TensorSpec{.shape = {1}, .dtype = declared.value_or(DType::f32)};
  };
  for (const KernelTensor& input : kernel->inputs) call.inputs.push_back(spec_of(input, call.inputs.size()));
  for (const KernelTensor& output : kernel->outputs)
    call.outputs.push_back(spec_of(output, call.inputs.size() + call.outputs.size()));
  try {
    context.recovery.run([&] {
      if (has_source_for(*kernel, *context.backend)) context.backend->prepare({.kernel = nullptr, .custom = &call});
    });
  } catch (const Error& error) {
    const bool may_be_the_guess = is_guessed && context.backend->limits().custom_language == ShaderLanguage::glsl;
    if (error.code() != ErrorCode::compile_failed || !may_be_the_guess) throw;
    throw Error(error.code(),
                std::string(error.what()) + " (An input or output that declares no type is f32 in define_kernel.)");
  }
}

std::map<std::string, Tensor> run_checked(const std::shared_ptr<ContextImpl>& context,
                                          const std::shared_ptr<const CheckedKernel>& kernel, const CustomRun& run) {
  check_names(*kernel, "input", kernel->inputs, run.inputs);
  check_names(*kernel, "output", kernel->outputs, run.outputs);
  check_names(*kernel, "parameter", kernel->parameters, run.parameters);
  if (std::ranges::count(run.workgroup_count, 0u) > 0)
    fail_custom(run_op, *kernel,
                "was given a workgroup_count of " + text_of(run.workgroup_count) + ": each has to be at least 1.");

  auto call = std::make_shared<CustomCall>();
  call->kernel = kernel;
  call->workgroup_count = run.workgroup_count;
  for (const std::string& name : kernel->parameters)
    call->parameters.push_back(named(*kernel, "parameter", run.parameters, name));
  std::vector<Held> inputs;
  for (const KernelTensor& input : kernel->inputs) {
    const Held& held = TensorAccess::held(named(*kernel, "input", run.inputs, input.name));
    const NodeInfo& given = held->info();
    if (given.context != context)
      fail_custom(run_op, *kernel, "was given a tensor of another context as \"" + input.name + "\".");
    check_elements(*kernel, input.name, given.shape);
    check_dtype(*kernel, input, inputs.size(), given.dtype);
    call->inputs.push_back({given.shape, given.dtype});
    inputs.push_back(held);
  }
  std::map<std::string, Tensor> results;
  for (std::size_t i = 0; i < kernel->outputs.size(); ++i) {
    const KernelTensor& output = kernel->outputs[i];
    const TensorSpec& spec = named(*kernel, "output", run.outputs, output.name);
    check_elements(*kernel, output.name, spec.shape);
    check_dtype(*kernel, output, inputs.size() + i, spec.dtype);
    call->outputs.push_back(spec);
    auto node = make_node(context, spec.shape, spec.dtype, Custom{call, i}, inputs);
    call->results.push_back(node);
    results.emplace(output.name, TensorAccess::tensor(std::move(node)));
  }
  return results;
}

std::map<std::string, Tensor> run_custom(Context& context, const CustomKernel& kernel, const CustomRun& run) {
  return run_checked(ContextAccess::impl(context).shared_from_this(), checked(run_op, kernel), run);
}

struct DefinedKernelImpl {
  std::shared_ptr<ContextImpl> context;
  std::shared_ptr<const CheckedKernel> kernel;
  std::shared_future<void> compiled;  // of a compilation in the background
  bool is_left_to_callers = false;    // to wait(), or to the first run
};

namespace {

constexpr std::string_view define_op = "define_kernel";

void compile_defined(ContextState& context, const std::shared_ptr<const CheckedKernel>& kernel) {
  require_runnable(define_op, context, *kernel);
  compile(context, kernel);
}

}  // namespace

DefinedKernel define_kernel(Context& context, const CustomKernel& kernel, const DefineOptions& options) {
  auto impl = std::make_shared<DefinedKernelImpl>();
  impl->context = ContextAccess::impl(context).shared_from_this();
  impl->kernel = checked(define_op, kernel);
  const LockedContext locked(context);
  if (!options.in_background) {
    compile_defined(*locked, impl->kernel);
    return DefinedKernel(std::move(impl));
  }
  if (!locked->works_beside()) {
    impl->is_left_to_callers = true;
    return DefinedKernel(std::move(impl));
  }
  auto promise = std::make_shared<std::promise<void>>();
  impl->compiled = promise->get_future().share();
  impl->context->background.add([own = impl->context, source = impl->kernel, promise](ContextState& background) {
    try {
      compile_defined(background, source);
      promise->set_value();
    } catch (...) {
      promise->set_exception(std::current_exception());
    }
    return true;
  });
  return DefinedKernel(std::move(impl));
}

std::map<std::string, Tensor> DefinedKernel::run(const CustomRun& run) const {
  return run_checked(impl_->context, impl_->kernel, run);
}

void DefinedKernel::wait() const {
  if (impl_->compiled.valid()) impl_->compiled.get();
  if (!impl_->is_left_to_callers) return;
  const LockedContext locked(*impl_->context);
  compile_defined(*locked, impl_->kernel);  // the device keeps what it has compiled: this is done once
}

}  // namespace tessera

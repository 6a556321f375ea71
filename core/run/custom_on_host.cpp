#include "core/run/custom_on_host.h"

#include <algorithm>

#include "core/base/fail.h"
#include "core/base/sizes.h"
#include "core/run/context_state.h"
#include "core/run/monitor.h"

namespace tessera {

struct CpuCall {
  const CustomCall& call;
  std::vector<std::vector<std::byte>> inputs, outputs;
};

namespace {

[[noreturn]] void fail_on_cpu(const CustomCall& call, ErrorCode code, const std::string& what) {
  fail(code, "run_custom", "the function for the CPU of the kernel \"" + call.kernel->name + "\" " + what);
}

std::optional<std::size_t> index_of(const std::vector<KernelTensor>& tensors, std::string_view name) {
  const auto tensor = std::ranges::find(tensors, name, &KernelTensor::name);
  if (tensor == tensors.end()) return std::nullopt;
  return static_cast<std::size_t>(tensor - tensors.begin());
}

std::span<std::byte> bytes_of(const CustomCall& call, const char* what, const std::vector<KernelTensor>& tensors,
                              const std::vector<TensorSpec>& specs, std::vector<std::vector<std::byte>>& elements,
                              std::string_view name, DType dtype) {
  const auto index = index_of(tensors, name);
  if (!index)
    fail_on_cpu(call, ErrorCode::not_found,
                "asks for the " + std::string(what) + " \"" + std::string(name) + "\", which the kernel has not.");
  if (specs[*index].dtype != dtype)
    fail_on_cpu(call, ErrorCode::dtype_mismatch,
                "asks for \"" + std::string(name) + "\" as " + std::string(to_string(dtype)) + ", but it is " +
                    std::string(to_string(specs[*index].dtype)) + ".");
  return elements[*index];
}

}  // namespace

std::span<std::byte> CpuArguments::input_bytes(std::string_view name, DType dtype) const {
  const CustomCall& call = call_.call;
  return bytes_of(call, "input", call.kernel->inputs, call.inputs, call_.inputs, name, dtype);
}

std::span<std::byte> CpuArguments::output_bytes(std::string_view name, DType dtype) const {
  const CustomCall& call = call_.call;
  return bytes_of(call, "output", call.kernel->outputs, call.outputs, call_.outputs, name, dtype);
}

const Shape& CpuArguments::shape(std::string_view name) const {
  const CustomCall& call = call_.call;
  if (const auto index = index_of(call.kernel->inputs, name)) return call.inputs[*index].shape;
  if (const auto index = index_of(call.kernel->outputs, name)) return call.outputs[*index].shape;
  fail_on_cpu(call, ErrorCode::not_found,
              "asks for the shape of \"" + std::string(name) + "\", which the kernel has not.");
}

float CpuArguments::parameter(std::string_view name) const {
  const CustomCall& call = call_.call;
  const std::vector<std::string>& names = call.kernel->parameters;
  const auto parameter = std::ranges::find(names, name);
  if (parameter == names.end())
    fail_on_cpu(call, ErrorCode::not_found,
                "asks for the parameter \"" + std::string(name) + "\", which the kernel has not.");
  return call.parameters[static_cast<std::size_t>(parameter - names.begin())];
}

void require_runnable(std::string_view op, const ContextState& context, const CustomKernel& kernel) {
  if (has_source_for(kernel, *context.backend)) return;
  const ShaderLanguage language = context.backend->limits().custom_language;
  const std::string which = "the kernel \"" + kernel.name + "\" ";
  if (!kernel.cpu && language == ShaderLanguage::none)
    fail(ErrorCode::unsupported, op,
         which + "has sources for GPUs only; give it a function for the CPU, or use map_kernel.");
  if (!kernel.cpu)
    fail(ErrorCode::unsupported, op,
         which + "has neither " + (language == ShaderLanguage::wgsl ? "WGSL" : "GLSL") + " for " +
             context.backend->device().name + " nor a function for the CPU.");
  if (context.pool->is_recording())
    fail(ErrorCode::unsupported, op,
         which + "has only a function for the CPU, which cannot be part of a host's commands: compute it before.");
}

bool runs_on_host(const ContextState& context, const Dispatch& dispatch) {
  return dispatch.custom && !has_source_for(*dispatch.custom->kernel, *context.backend);
}

void run_on_host(ContextState& context, const Dispatch& dispatch) {
  const CustomCall& call = *dispatch.custom;
  Backend& backend = *context.backend;
  CpuCall on_cpu{.call = call, .inputs = {}, .outputs = {}};
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorSpec& spec = call.inputs[i];
    std::vector<std::byte>& elements = on_cpu.inputs.emplace_back(byte_count(spec.shape.size(), spec.dtype));
    const auto download = backend.download(*dispatch.inputs[i].storage, spec.dtype, 0, spec.shape.size());
    download->wait();
    download->take(elements);
    context.stats.bytes_downloaded += elements.size();
  }
  for (const TensorSpec& spec : call.outputs) on_cpu.outputs.emplace_back(byte_count(spec.shape.size(), spec.dtype));
  const double begin = context.monitor ? context.monitor->now() : 0;
  call.kernel->cpu(CpuArguments(on_cpu));
  if (context.monitor)
    context.monitor->add(MonitorState::Event::Kind::host, call.kernel->name, begin, context.monitor->now());
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    backend.upload(*dispatch.custom_outputs[i], call.outputs[i].dtype, on_cpu.outputs[i]);
    context.stats.bytes_uploaded += on_cpu.outputs[i].size();
  }
}

}  // namespace tessera

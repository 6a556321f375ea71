#include "backend_webgpu/custom_kernel.h"

#include <algorithm>
#include <bit>

#include "backend_webgpu/parameters.h"
#include "backend_webgpu/storage.h"

namespace tessera::webgpu {
namespace {

WGPUBindGroupLayoutEntry layout_entry(std::size_t binding, WGPUBufferBindingType type) {
  WGPUBindGroupLayoutEntry entry{};
  entry.binding = static_cast<std::uint32_t>(binding);
  entry.visibility = WGPUShaderStage_Compute;
  entry.buffer.type = type;
  return entry;
}

constexpr std::uint64_t word = 4;

// As many bytes as the elements take: arrayLength() tells how many there are.
BoundBuffer exactly(BoundBuffer buffer, const TensorSpec& spec) {
  buffer.bytes = round_up(byte_count(spec.shape.size(), spec.dtype), word);
  return buffer;
}

std::vector<WGPUConstantEntry> workgroup_size_of(const CheckedKernel& kernel) {
  std::vector<WGPUConstantEntry> constants;
  for (std::size_t axis = 0; axis < kernel.workgroup_size.size(); ++axis) {
    if (kernel.workgroup_size[axis] == 0 || !kernel.wgsl_overrides.contains(workgroup_size_names[axis])) continue;
    WGPUConstantEntry constant{};
    constant.key = view_of(workgroup_size_names[axis]);
    constant.value = kernel.workgroup_size[axis];
    constants.push_back(constant);
  }
  return constants;
}

}  // namespace

std::vector<std::uint32_t> words_of(const CustomCall& call) {
  std::vector<std::uint32_t> words;
  for (const float parameter : call.parameters) words.push_back(std::bit_cast<std::uint32_t>(parameter));
  return words;
}

const PassPipeline& CustomKernels::get(const CustomCall& call, KernelUses* uses) {
  std::string key;
  for (const std::size_t number : {call.inputs.size(), call.outputs.size(), call.parameters.size()})
    key += std::to_string(number) + ' ';
  for (const std::uint32_t size : call.kernel->workgroup_size) key += std::to_string(size) + ' ';
  return pipelines_.get(key + call.kernel->wgsl, uses, [&] { return compile(call); });
}

Compiled<PassPipeline> CustomKernels::compile(const CustomCall& call) const {
  const std::string& name = call.kernel->name;
  const Compilation compilation(device_->messages());
  std::vector<WGPUBindGroupLayoutEntry> entries;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    entries.push_back(layout_entry(entries.size(), WGPUBufferBindingType_ReadOnlyStorage));
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    entries.push_back(layout_entry(entries.size(), WGPUBufferBindingType_Storage));
  if (!call.parameters.empty()) entries.push_back(layout_entry(entries.size(), WGPUBufferBindingType_Uniform));

  ErrorScope rejected(*device_, WGPUErrorFilter_Validation);
  ErrorScope failed(*device_, WGPUErrorFilter_Internal);
  PassPipeline made;
  WGPUBindGroupLayoutDescriptor group{};
  group.label = view_of(name);
  group.entryCount = entries.size();
  group.entries = entries.data();
  made.layout = Handle(wgpuDeviceCreateBindGroupLayout(device_->get(), &group));
  const WGPUBindGroupLayout layout = made.layout.get();
  WGPUPipelineLayoutDescriptor layouts{};
  layouts.bindGroupLayoutCount = 1;
  layouts.bindGroupLayouts = &layout;
  const Handle pipeline_layout(wgpuDeviceCreatePipelineLayout(device_->get(), &layouts));

  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view_of(call.kernel->wgsl);
  WGPUShaderModuleDescriptor module{};
  module.nextInChain = &source.chain;
  module.label = view_of(name);
  const Handle shader(wgpuDeviceCreateShaderModule(device_->get(), &module));
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view_of(name);
  descriptor.layout = pipeline_layout.get();
  descriptor.compute.module = shader.get();
  descriptor.compute.entryPoint = view_of("main");
  const std::vector<WGPUConstantEntry> constants = workgroup_size_of(*call.kernel);
  descriptor.compute.constantCount = constants.size();
  descriptor.compute.constants = constants.data();
  made.compute = Handle(wgpuDeviceCreateComputePipeline(device_->get(), &descriptor));
  std::string error = failed.close();
  error += rejected.close();
  device_->throw_faults();
  if (!made.compute || !error.empty())
    throw Error(ErrorCode::compile_failed,
                "The WGSL of the kernel \"" + name + "\" does not compile on " + device_->info().name + ": " + error);
  compilation.succeeded([&] { return "custom kernel " + name; }, call.kernel->wgsl);
  return {std::move(made), call.kernel->wgsl.size()};
}

PreparedPass CustomKernels::prepare(const Dispatch& dispatch, const BoundBuffer& parameters) {
  const CustomCall& call = *dispatch.custom;
  const PassPipeline& pipeline = get(call, dispatch.uses);
  std::vector<WGPUBindGroupEntry> entries;
  const auto add = [&](const BoundBuffer& buffer) {
    entries.push_back(entry_for(static_cast<std::uint32_t>(entries.size()), buffer));
  };
  for (std::size_t i = 0; i < dispatch.inputs.size(); ++i)
    add(exactly(buffer_of(*dispatch.inputs[i].storage), call.inputs[i]));
  PreparedPass pass{.pipeline = &pipeline};
  for (std::size_t i = 0; i < dispatch.custom_outputs.size(); ++i) {
    const BoundBuffer& storage = buffer_of(*dispatch.custom_outputs[i]);
    add(exactly(storage, call.outputs[i]));
    BoundBuffer& cleared = pass.cleared.emplace_back(exactly(storage, call.outputs[i]));
    cleared.bytes = std::min(round_up(cleared.bytes, largest_texel), storage.bytes);
  }
  if (!call.parameters.empty()) add(parameters);
  pass.group = make_group(*device_, pipeline, entries);
  pass.groups_x = call.workgroup_count[0];
  pass.groups_y = call.workgroup_count[1];
  pass.groups_z = call.workgroup_count[2];
  return pass;
}

}  // namespace tessera::webgpu

#include "backend_webgpu/custom_kernel.h"

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

// As many bytes as the elements take: arrayLength() tells how many there are.
BoundBuffer exactly(BoundBuffer buffer, DType dtype, std::int64_t elements) {
  constexpr std::uint64_t word = 4;
  const std::uint64_t bytes = byte_count(elements, dtype);
  buffer.bytes = (bytes + word - 1) / word * word;
  return buffer;
}

}  // namespace

std::vector<std::uint32_t> words_of(const CustomCall& call) {
  std::vector<std::uint32_t> words;
  for (const float parameter : call.parameters) words.push_back(std::bit_cast<std::uint32_t>(parameter));
  return words;
}

const PassPipeline& CustomKernels::get(const CustomCall& call) {
  const std::string key = std::to_string(call.inputs.size()) + ' ' + std::to_string(call.outputs.size()) + ' ' +
                          std::to_string(call.parameters.size()) + ' ' + call.kernel.wgsl;
  auto found = pipelines_.find(key);
  if (found == pipelines_.end()) found = pipelines_.emplace(key, compile(call)).first;
  return found->second;
}

PassPipeline CustomKernels::compile(const CustomCall& call) const {
  const std::string& name = call.kernel.name;
  if (call.kernel.wgsl.empty())
    throw Error(ErrorCode::unsupported,
                "run_custom: the kernel \"" + name + "\" has no WGSL, which " + device_->info().name + " needs.");
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
  source.code = view_of(call.kernel.wgsl);
  WGPUShaderModuleDescriptor module{};
  module.nextInChain = &source.chain;
  module.label = view_of(name);
  const Handle shader(wgpuDeviceCreateShaderModule(device_->get(), &module));
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view_of(name);
  descriptor.layout = pipeline_layout.get();
  descriptor.compute.module = shader.get();
  descriptor.compute.entryPoint = view_of("main");
  made.compute = Handle(wgpuDeviceCreateComputePipeline(device_->get(), &descriptor));
  std::string error = failed.close();
  error += rejected.close();
  device_->throw_faults();
  if (!made.compute || !error.empty())
    throw Error(ErrorCode::compile_failed, "run_custom: the WGSL of the kernel \"" + name + "\" does not compile on " +
                                               device_->info().name + ": " + error);
  return made;
}

PreparedPass CustomKernels::prepare(const Dispatch& dispatch, const BoundBuffer& parameters) {
  const CustomCall& call = *dispatch.custom;
  const PassPipeline& pipeline = get(call);
  std::vector<WGPUBindGroupEntry> entries;
  const auto add = [&](const BoundBuffer& buffer) {
    entries.push_back(entry_for(static_cast<std::uint32_t>(entries.size()), buffer));
  };
  for (std::size_t i = 0; i < dispatch.inputs.size(); ++i)
    add(exactly(buffer_of(*dispatch.inputs[i].storage), call.inputs[i], dispatch.operand_elements[i]));
  for (std::size_t i = 0; i < dispatch.custom_outputs.size(); ++i)
    add(exactly(buffer_of(*dispatch.custom_outputs[i]), call.outputs[i].dtype, call.outputs[i].shape.size()));
  if (!call.parameters.empty()) add(parameters);
  PreparedPass pass{.pipeline = &pipeline, .group = make_group(*device_, pipeline, entries)};
  pass.groups_x = call.workgroup_count[0];
  pass.groups_y = call.workgroup_count[1];
  pass.groups_z = call.workgroup_count[2];
  return pass;
}

}  // namespace tessera::webgpu

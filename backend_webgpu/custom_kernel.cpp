#include "backend_webgpu/custom_kernel.h"

#include <algorithm>
#include <bit>

#include "backend_webgpu/program.h"
#include "backend_webgpu/storage.h"

namespace tessera::webgpu {
namespace {

constexpr std::uint64_t bytes_of_a_word = 4;

// Binds the bytes of the elements alone, so that arrayLength() tells how many there are.
BoundBuffer exactly(BoundBuffer buffer, const TensorSpec& spec) {
  buffer.bytes = round_up(byte_count(spec.shape.size(), spec.dtype), bytes_of_a_word);
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

PassPipeline make_custom_pipeline(Device& device, const CustomCall& call, const std::string& name) {
  std::vector<WGPUBindGroupLayoutEntry> entries;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    entries.push_back(layout_entry(entries.size(), WGPUBufferBindingType_ReadOnlyStorage));
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    entries.push_back(layout_entry(entries.size(), WGPUBufferBindingType_Storage));
  if (!call.parameters.empty()) entries.push_back(layout_entry(entries.size(), WGPUBufferBindingType_Uniform));

  ErrorScope rejected(device, WGPUErrorFilter_Validation);
  BindLayout layout = make_layout(device, name, entries);
  if (const std::string error = rejected.close(); !error.empty()) throw_compile_failure(device, name, error);
  return {.compute = make_compute_pipeline(device, call.kernel->wgsl, name, layout.pipeline.get(),
                                           workgroup_size_of(*call.kernel)),
          .layout = std::move(layout.group)};
}

// By bindings, workgroup size and text.
std::string key_of(const CustomCall& call) {
  std::string key;
  for (const std::size_t number : {call.inputs.size(), call.outputs.size(), call.parameters.size()})
    key += std::to_string(number) + ' ';
  for (const std::uint32_t size : call.kernel->workgroup_size) key += std::to_string(size) + ' ';
  return key + call.kernel->wgsl;
}

const PassPipeline& pipeline_of(const PassTools& tools, const CustomCall& call, KernelUses* uses) {
  const std::string name = "WGSL of the kernel \"" + call.kernel->name + "\"";
  return tools.pipelines.get(
      key_of(call), name, [&] { return call.kernel->wgsl; },
      [&](const std::string&) { return make_custom_pipeline(tools.device, call, name); }, uses);
}

}  // namespace

void prepare_custom(const PassTools& tools, const CustomCall& call, KernelUses* uses) {
  pipeline_of(tools, call, uses);
}

std::vector<std::uint32_t> words_of(const CustomCall& call) {
  std::vector<std::uint32_t> words;
  for (const float parameter : call.parameters) words.push_back(std::bit_cast<std::uint32_t>(parameter));
  return words;
}

PreparedPass custom_pass(const PassTools& tools, const Dispatch& dispatch) {
  const CustomCall& call = *dispatch.custom;
  const PassPipeline& pipeline = pipeline_of(tools, call, dispatch.uses);
  std::vector<WGPUBindGroupEntry> entries;
  const auto add = [&](const BoundBuffer& buffer) { entries.push_back(entry_for(entries.size(), buffer)); };
  for (std::size_t i = 0; i < dispatch.inputs.size(); ++i)
    add(exactly(buffer_of(*dispatch.inputs[i].storage), call.inputs[i]));
  PreparedPass pass{.pipeline = &pipeline};
  for (std::size_t i = 0; i < dispatch.custom_outputs.size(); ++i) {
    const BoundBuffer& storage = buffer_of(*dispatch.custom_outputs[i]);
    add(exactly(storage, call.outputs[i]));
    BoundBuffer& cleared = pass.cleared.emplace_back(exactly(storage, call.outputs[i]));
    cleared.bytes = std::min(round_up(cleared.bytes, largest_texel), storage.bytes);
  }
  if (!call.parameters.empty()) add(tools.parameters);
  pass.group = make_group(tools.device, pipeline, entries);
  pass.groups_x = call.workgroup_count[0];
  pass.groups_y = call.workgroup_count[1];
  pass.groups_z = call.workgroup_count[2];
  return pass;
}

}  // namespace tessera::webgpu

#include "backend_webgpu/bind_groups.h"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace tessera::webgpu {
namespace {

constexpr std::size_t max_groups = 1024;

WGPUBindGroupLayoutEntry entry_of(std::size_t binding, WGPUBufferBindingType type) {
  WGPUBindGroupLayoutEntry entry{};
  entry.binding = static_cast<std::uint32_t>(binding);
  entry.visibility = WGPUShaderStage_Compute;
  entry.buffer.type = type;
  entry.buffer.hasDynamicOffset = type == WGPUBufferBindingType_Uniform;
  return entry;
}

WGPUBindGroupEntry entry_of(std::size_t binding, const BoundBuffer& buffer, std::uint64_t bytes) {
  WGPUBindGroupEntry entry{};
  entry.binding = static_cast<std::uint32_t>(binding);
  entry.buffer = buffer.handle;
  entry.offset = buffer.offset;
  entry.size = bytes;
  return entry;
}

}  // namespace

std::uint64_t next_buffer_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::size_t BindGroups::HashOfKey::operator()(const Key& key) const {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(key.data()), key.size() * sizeof(key[0])});
}

const BindGroups::Layout& BindGroups::layout(std::size_t inputs) {
  Layout& layout = layouts_.at(inputs);
  if (layout.pipeline) return layout;
  const std::string label = "tessera, " + std::to_string(inputs) + " inputs";

  std::vector<WGPUBindGroupLayoutEntry> entries{entry_of(0, WGPUBufferBindingType_Uniform)};
  for (std::size_t i = 1; i <= inputs; ++i) entries.push_back(entry_of(i, WGPUBufferBindingType_ReadOnlyStorage));
  entries.push_back(entry_of(inputs + 1, WGPUBufferBindingType_Storage));
  WGPUBindGroupLayoutDescriptor group{};
  group.label = view_of(label);
  group.entryCount = entries.size();
  group.entries = entries.data();
  layout.group = Handle(wgpuDeviceCreateBindGroupLayout(device_->get(), &group));

  const WGPUBindGroupLayout group_layout = layout.group.get();
  WGPUPipelineLayoutDescriptor pipeline{};
  pipeline.label = view_of(label);
  pipeline.bindGroupLayoutCount = 1;
  pipeline.bindGroupLayouts = &group_layout;
  layout.pipeline = Handle(wgpuDeviceCreatePipelineLayout(device_->get(), &pipeline));
  return layout;
}

Handle<WGPUBindGroup> BindGroups::get(const BoundBuffer& parameters, std::uint64_t parameter_bytes,
                                      std::span<const BoundBuffer> inputs_and_output) {
  Key key{parameter_bytes, parameters.id};
  for (const BoundBuffer& buffer : inputs_and_output) key.push_back(buffer.id);
  if (const Handle<WGPUBindGroup>* found = groups_.find(key)) return shared(found->get());
  if (groups_.size() >= max_groups) groups_.drop(1, [](const auto&, const auto&) { return true; });

  std::vector<WGPUBindGroupEntry> entries{entry_of(0, parameters, parameter_bytes)};
  for (const BoundBuffer& buffer : inputs_and_output) entries.push_back(entry_of(entries.size(), buffer, buffer.bytes));
  WGPUBindGroupDescriptor descriptor{};
  descriptor.label = view_of("tessera dispatch");
  descriptor.layout = layout(inputs_and_output.size() - 1).group.get();
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  Handle group(wgpuDeviceCreateBindGroup(device_->get(), &descriptor));
  return shared(groups_.add(key, std::move(group)).get());
}

void BindGroups::forget(std::uint64_t buffer_id) {
  // The first number of a key is a size and not an id.
  groups_.drop(groups_.size(), [&](const Key& key, const auto&) {
    return std::find(key.begin() + 1, key.end(), buffer_id) != key.end();
  });
}

}  // namespace tessera::webgpu

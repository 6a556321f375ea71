#include "backend_webgpu/bind_groups.h"

#include <algorithm>
#include <atomic>
#include <string_view>

namespace tessera::webgpu {

constexpr std::size_t max_groups = 2048;

std::uint64_t next_buffer_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

WGPUBindGroupEntry entry_for(std::size_t binding, const BoundBuffer& buffer) {
  WGPUBindGroupEntry entry{};
  entry.binding = narrow<std::uint32_t>(binding);
  entry.buffer = buffer.handle;
  entry.offset = buffer.offset;
  entry.size = buffer.bytes;
  return entry;
}

WGPUBindGroupLayoutEntry layout_entry(std::size_t binding, WGPUBufferBindingType type) {
  WGPUBindGroupLayoutEntry entry{};
  entry.binding = narrow<std::uint32_t>(binding);
  entry.visibility = WGPUShaderStage_Compute;
  entry.buffer.type = type;
  return entry;
}

Handle<WGPUBindGroup> make_bind_group(const Device& device, WGPUBindGroupLayout layout,
                                      std::span<const WGPUBindGroupEntry> entries, std::string_view label) {
  WGPUBindGroupDescriptor descriptor{};
  descriptor.label = view_of(label);
  descriptor.layout = layout;
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return Handle(wgpuDeviceCreateBindGroup(device.get(), &descriptor));
}

BindLayout make_layout(const Device& device, std::string_view label,
                       std::span<const WGPUBindGroupLayoutEntry> entries) {
  BindLayout layout;
  WGPUBindGroupLayoutDescriptor group{};
  group.label = view_of(label);
  group.entryCount = entries.size();
  group.entries = entries.data();
  layout.group = Handle(wgpuDeviceCreateBindGroupLayout(device.get(), &group));
  const WGPUBindGroupLayout group_layout = layout.group.get();
  WGPUPipelineLayoutDescriptor pipeline{};
  pipeline.label = view_of(label);
  pipeline.bindGroupLayoutCount = 1;
  pipeline.bindGroupLayouts = &group_layout;
  layout.pipeline = Handle(wgpuDeviceCreatePipelineLayout(device.get(), &pipeline));
  return layout;
}

std::size_t BindGroups::HashOfKey::operator()(const Key& key) const {
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(key.data()), key.size() * sizeof(key[0])});
}

const BindLayout& BindGroups::layout(std::size_t inputs) {
  BindLayout& layout = layouts_.at(inputs);
  if (layout.pipeline) return layout;
  std::vector<WGPUBindGroupLayoutEntry> entries{layout_entry(0, WGPUBufferBindingType_Uniform)};
  for (std::size_t i = 1; i <= inputs; ++i) entries.push_back(layout_entry(i, WGPUBufferBindingType_ReadOnlyStorage));
  entries.push_back(layout_entry(inputs + 1, WGPUBufferBindingType_Storage));
  return layout = make_layout(*device_, "tessera, " + std::to_string(inputs) + " inputs", entries);
}

Handle<WGPUBindGroup> BindGroups::make(const BoundBuffer& words, std::span<const BoundBuffer> inputs_and_output) {
  std::vector<WGPUBindGroupEntry> entries{entry_for(0, words)};
  for (const BoundBuffer& buffer : inputs_and_output) entries.push_back(entry_for(entries.size(), buffer));
  return make_bind_group(*device_, layout(inputs_and_output.size() - 1).group.get(), entries, "tessera dispatch");
}

Handle<WGPUBindGroup> BindGroups::add(const Key& key, Handle<WGPUBindGroup> group) {
  if (groups_.size() >= max_groups) groups_.drop(1, [](const auto&, const auto&) { return true; });
  return shared(groups_.add(key, std::move(group)).get());
}

void BindGroups::forget(std::uint64_t id) {
  // The first number of a key is no id.
  groups_.drop(groups_.size(),
               [&](const Key& key, const auto&) { return std::find(key.begin() + 1, key.end(), id) != key.end(); });
}

}  // namespace tessera::webgpu

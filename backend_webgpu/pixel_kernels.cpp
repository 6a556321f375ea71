#include "backend_webgpu/pixel_kernels.h"

#include <algorithm>

#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/parameters.h"
#include "backend_webgpu/pixel_text.h"
#include "backend_webgpu/program.h"
#include "backend_webgpu/storage.h"
#include "backend_webgpu/texture_format.h"

namespace tessera::webgpu {
namespace {

WGPUBindGroupLayoutEntry entry_for_input(std::size_t binding, const PixelInput& input) {
  WGPUBindGroupLayoutEntry entry = layout_entry(binding, WGPUBufferBindingType_ReadOnlyStorage);
  if (input.place != PixelPlace::host && !is_texture(input)) return entry;
  entry.buffer = {};
  entry.texture = (is_texture(input) ? SourceType{"f32", "rgba"} : SourceType::of(input.host_type)).binding();
  if (input.is_filtered) entry.texture.sampleType = WGPUTextureSampleType_Float;
  if (input.is_volume) entry.texture.viewDimension = WGPUTextureViewDimension_3D;
  return entry;
}

WGPUBindGroupLayoutEntry entry_for_output(std::size_t binding, const PixelOutput& output) {
  WGPUBindGroupLayoutEntry entry = layout_entry(binding, WGPUBufferBindingType_Storage);
  if (output.place != PixelPlace::host && !is_texture(output)) return entry;
  entry.buffer = {};
  entry.storageTexture.access = WGPUStorageTextureAccess_WriteOnly;
  if (is_texture(output)) {
    entry.storageTexture.format = WGPUTextureFormat_RGBA16Float;
    entry.storageTexture.viewDimension = output.is_volume ? WGPUTextureViewDimension_3D : WGPUTextureViewDimension_2D;
    return entry;
  }
  const TargetType type = TargetType::of(output.host_type);
  entry.storageTexture.format = type.format;
  entry.storageTexture.viewDimension = type.is_stored_in_3d ? WGPUTextureViewDimension_3D : WGPUTextureViewDimension_2D;
  return entry;
}

BindLayout layout_for(const Device& device, const PixelKernel& kernel, bool draws) {
  std::vector<WGPUBindGroupLayoutEntry> entries{layout_entry(0, WGPUBufferBindingType_Uniform)};
  for (const PixelInput& input : kernel.inputs) entries.push_back(entry_for_input(entries.size(), input));
  for (const PixelOutput& output : kernel.outputs)
    if (&output != drawn_output(kernel)) entries.push_back(entry_for_output(entries.size(), output));
  if (filters(kernel)) {
    entries.push_back(layout_entry(entries.size(), WGPUBufferBindingType_Storage));
    entries.back().buffer = {};
    entries.back().sampler.type = WGPUSamplerBindingType_Filtering;
  }
  if (draws)
    for (WGPUBindGroupLayoutEntry& entry : entries) entry.visibility = WGPUShaderStage_Fragment;
  return make_layout(device, "tessera pixels", entries);
}

WGPUTextureFormat format_of_target(const PixelKernel& kernel) {
  const PixelOutput& output = *drawn_output(kernel);
  return is_texture(output) ? WGPUTextureFormat_RGBA16Float : TargetType::of(output.host_type).format;
}

const TextureSource& source_of(const BoundInput& input) { return static_cast<const TextureSource&>(*input.source); }
const TextureTarget& target_of(const Dispatch& dispatch) { return static_cast<const TextureTarget&>(*dispatch.target); }

}  // namespace

const PixelPipeline& PixelKernels::get(const PixelKernel& kernel, KernelUses* uses) {
  return CompiledCache::get(kernel.key, uses, [&] { return compile(kernel); });
}

Compiled<PixelPipeline> PixelKernels::compile(const PixelKernel& kernel) const {
  const Compilation compilation(device_->messages());
  const BlobLookups before = device_->blob_lookups();
  const bool draws = entry_of(kernel) == PixelEntry::draw;
  const std::string text = pixel_text(kernel, device_->stores_half_infinity_as_nan()), name = "kernel " + kernel.label;
  ErrorScope rejected(*device_, WGPUErrorFilter_Validation);
  BindLayout layout = layout_for(*device_, kernel, draws);
  if (const std::string error = rejected.close(); !error.empty()) throw_compile_failure(*device_, name, error);
  PixelPipeline pipeline;
  pipeline.id = next_buffer_id();
  pipeline.entry = entry_of(kernel);
  if (const PixelOutput* drawn = drawn_output(kernel)) pipeline.drawn_output = drawn - kernel.outputs.data();
  pipeline.word_bytes = 16 * vectors_of(kernel);
  if (draws)
    pipeline.render = make_render_pipeline(*device_, text, name, format_of_target(kernel), layout.pipeline.get());
  else pipeline.compute = make_compute_pipeline(*device_, text, name, layout.pipeline.get());
  pipeline.layout = std::move(layout.group);
  const bool is_from_cache = device_->blob_lookups().are_hits_since(before);
  compilation.succeeded([&] { return name; }, text, is_from_cache);
  return {std::move(pipeline), text.size(), is_from_cache};
}

Handle<WGPUBindGroup> PixelKernels::group(const Dispatch& dispatch, const PixelPipeline& pipeline, HostViews& views,
                                          BoundBuffer words) {
  words.bytes = pipeline.word_bytes;
  const PixelKernel& kernel = *dispatch.pixel_kernel;
  // Calls `add` with each object that is bound, in the order of the bindings.
  const auto for_each = [&](const auto& add) {
    for (std::size_t i = 0; i < dispatch.inputs.size(); ++i) {
      const BoundInput& input = dispatch.inputs[i];
      if (input.source) add(views.get(source_of(input).slice()));
      else if (is_texture(kernel.inputs[i])) add(texels_of(*input.storage));
      else add(elements_of(input, kernel.inputs[i].dtype));
    }
    for (std::size_t i = 0; i < dispatch.custom_outputs.size(); ++i) {
      const Storage* const output = dispatch.custom_outputs[i];
      if (static_cast<std::ptrdiff_t>(i) == pipeline.drawn_output) continue;
      if (output && is_texture(kernel.outputs[i])) add(texels_of(*output));
      else if (output) add(buffer_of(*output));
      else add(views.get(target_of(dispatch).slice()));
    }
  };
  BindGroups::Key& key = bind_groups_->new_key();
  for (const std::uint64_t part : {words.offset << 32 | words.bytes, words.id, pipeline.id}) key.push_back(part);
  for_each([&](const auto& object) {
    key.push_back(object.id);
    if constexpr (requires { object.bytes; }) key.push_back(key_of_bytes(object.bytes));
  });
  return bind_groups_->get(key, [&] {
    std::vector<WGPUBindGroupEntry> entries{entry_for(0, words)};
    for_each([&](const auto& object) {
      if constexpr (requires { object.bytes; }) entries.push_back(entry_for(entries.size(), object));
      else entries.push_back(entry_for(entries.size(), object.handle));
    });
    if (filters(kernel)) {
      WGPUBindGroupEntry entry{};
      entry.binding = narrow<std::uint32_t>(entries.size());
      entry.sampler = linear_filter();
      entries.push_back(entry);
    }
    return make_bind_group(*device_, pipeline.layout.get(), entries, "tessera dispatch");
  });
}

WGPUSampler PixelKernels::linear_filter() {
  if (!linear_filter_) {
    WGPUSamplerDescriptor descriptor{};
    descriptor.label = view_of("tessera linear filter");
    descriptor.addressModeU = descriptor.addressModeV = descriptor.addressModeW = WGPUAddressMode_ClampToEdge;
    descriptor.magFilter = descriptor.minFilter = WGPUFilterMode_Linear;
    descriptor.maxAnisotropy = 1;
    linear_filter_ = Handle(wgpuDeviceCreateSampler(device_->get(), &descriptor));
  }
  return linear_filter_.get();
}

PreparedPass PixelKernels::pass(const Dispatch& dispatch, const PixelPipeline& pipeline, HostViews& views,
                                const BoundBuffer& words) {
  PreparedPass pass{.pipeline = &pipeline, .group = group(dispatch, pipeline, views, words)};
  const std::uint32_t width = dispatch.words[0], height = dispatch.words[1];
  switch (pipeline.entry) {
    case PixelEntry::draw: {
      if (!dispatch.target) {
        pass.target = shared(texels_of(*dispatch.custom_outputs[0]).handle);
        break;
      }
      const TextureTarget& target = target_of(dispatch);
      pass.target = shared(views.get(target.slice()).handle);
      pass.depth_slice = target.depth_slice();
      pass.rectangle = target.rectangle();
      break;
    }
    case PixelEntry::gather: set_invocations(pass, steps_to(std::uint64_t{width} * height, 4), *device_); break;
    case PixelEntry::compute:
      pass.groups_x = steps_to(width, PixelGroup::width);
      pass.groups_y = steps_to(height, PixelGroup::height);
      break;
  }
  return pass;
}

void add_pixel_words(Parameters& parameters, const Dispatch& dispatch) {
  parameters.add(dispatch.words);
  for (const BoundInput& input : dispatch.inputs)
    if (input.source) parameters.add(source_of(input).words());
  if (dispatch.target) parameters.add(target_of(dispatch).words());
}

PixelLimits pixel_limits(const WGPULimits& limits) {
  // Inputs and outputs share the buffers of a shader.
  const int buffers = narrow<int>(std::min(limits.maxStorageBuffersPerShaderStage, 16u));
  const int outputs = buffers >= 12 ? 4 : 2;
  return {.max_side = narrow<int>(std::min(limits.maxComputeWorkgroupsPerDimension, 65535u)),
          .max_half_side = narrow<int>(limits.maxTextureDimension2D),
          .max_slice_side = narrow<int>(limits.maxTextureDimension3D),
          .max_inputs = std::min(buffers - outputs, narrow<int>(limits.maxSampledTexturesPerShaderStage)),
          .max_outputs = outputs,
          .stores_elements = true};
}

}  // namespace tessera::webgpu

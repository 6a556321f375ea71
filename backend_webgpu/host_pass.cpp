#include "backend_webgpu/host_pass.h"

#include "backend_webgpu/program.h"

namespace tessera::webgpu {

const PassPipeline& PassPipelines::get(const std::string& key, const std::string& name, const Text& text,
                                       const Make& make, KernelUses* uses) {
  return CompiledCache::get(key, uses, [&]() -> Compiled<PassPipeline> {
    const Compilation compilation(device_->messages());
    const BlobLookups before = device_->blob_lookups();
    const std::string made_text = text();
    PassPipeline pipeline = make(made_text);
    const bool is_from_cache = device_->blob_lookups().are_hits_since(before);
    compilation.succeeded([&] { return name; }, made_text, is_from_cache);
    return {std::move(pipeline), made_text.size(), is_from_cache};
  });
}

const PassPipeline& PassPipelines::compute(const std::string& key, const Text& text) {
  const std::string name = "pass " + key;
  return get(key, name, text, [&](const std::string& made_text) {
    PassPipeline pipeline{.compute = make_compute_pipeline(*device_, made_text, name)};
    pipeline.layout = Handle(wgpuComputePipelineGetBindGroupLayout(pipeline.compute.get(), 0));
    return pipeline;
  });
}

void record(WGPUCommandEncoder encoder, const PreparedPass& prepared, std::string_view label,
            const WGPUPassTimestampWrites* times) {
  if (const auto& copy = prepared.copy)
    return wgpuCommandEncoderCopyBufferToBuffer(encoder, copy->from, copy->from_offset, copy->to, copy->to_offset,
                                                copy->bytes);
  for (const BoundBuffer& buffer : prepared.cleared)
    wgpuCommandEncoderClearBuffer(encoder, buffer.handle, buffer.offset, buffer.bytes);
  if (!prepared.target) {
    WGPUComputePassDescriptor descriptor{};
    descriptor.label = view_of(label);
    descriptor.timestampWrites = times;
    const Handle pass(wgpuCommandEncoderBeginComputePass(encoder, &descriptor));
    wgpuComputePassEncoderSetPipeline(pass.get(), prepared.pipeline->compute.get());
    wgpuComputePassEncoderSetBindGroup(pass.get(), 0, prepared.group.get(), 0, nullptr);
    wgpuComputePassEncoderDispatchWorkgroups(pass.get(), prepared.groups_x, prepared.groups_y, prepared.groups_z);
    wgpuComputePassEncoderEnd(pass.get());
    return;
  }
  WGPURenderPassColorAttachment attachment{};
  attachment.view = prepared.target.get();
  attachment.depthSlice = prepared.depth_slice;
  attachment.loadOp = prepared.rectangle ? WGPULoadOp_Load : WGPULoadOp_Clear;
  attachment.storeOp = WGPUStoreOp_Store;
  WGPURenderPassDescriptor descriptor{};
  descriptor.label = view_of(label);
  descriptor.colorAttachmentCount = 1;
  descriptor.colorAttachments = &attachment;
  descriptor.timestampWrites = times;
  const Handle pass(wgpuCommandEncoderBeginRenderPass(encoder, &descriptor));
  wgpuRenderPassEncoderSetPipeline(pass.get(), prepared.pipeline->render.get());
  wgpuRenderPassEncoderSetBindGroup(pass.get(), 0, prepared.group.get(), 0, nullptr);
  if (const auto& drawn = prepared.rectangle)
    wgpuRenderPassEncoderSetScissorRect(pass.get(), drawn->x, drawn->y, drawn->width, drawn->height);
  wgpuRenderPassEncoderDraw(pass.get(), 3, 1, 0, 0);
  wgpuRenderPassEncoderEnd(pass.get());
}

WGPUBindGroupEntry entry_for(std::size_t binding, WGPUTextureView view) {
  WGPUBindGroupEntry entry{};
  entry.binding = narrow<std::uint32_t>(binding);
  entry.textureView = view;
  return entry;
}

Handle<WGPUBindGroup> make_group(const Device& device, const PassPipeline& pipeline,
                                 const std::vector<WGPUBindGroupEntry>& entries) {
  return make_bind_group(device, pipeline.layout.get(), entries, "tessera pass");
}

Handle<WGPUTextureView> view_of(const TextureSlice& slice) {
  const bool is_3d = wgpuTextureGetDimension(slice.texture) == WGPUTextureDimension_3D;
  WGPUTextureViewDescriptor descriptor{};
  descriptor.label = view_of("tessera pass");
  descriptor.dimension = is_3d ? WGPUTextureViewDimension_3D : WGPUTextureViewDimension_2D;
  descriptor.baseMipLevel = slice.level;
  descriptor.mipLevelCount = 1;
  descriptor.baseArrayLayer = slice.layer;
  descriptor.arrayLayerCount = 1;
  descriptor.aspect = slice.aspect;
  return Handle(wgpuTextureCreateView(slice.texture, &descriptor));
}

WorkgroupRows rows_of_workgroups(std::uint64_t workgroups, const Device& device) {
  const std::uint64_t rows = steps_to(workgroups, device.limits().maxComputeWorkgroupsPerDimension);
  return {narrow<std::uint32_t>(steps_to(workgroups, rows)), narrow<std::uint32_t>(rows)};
}

void set_invocations(PreparedPass& pass, std::uint64_t count, const Device& device) {
  const auto [length, rows] = rows_of_workgroups(steps_to(count, pass_group_size), device);
  pass.groups_x = length;
  pass.groups_y = rows;
}

}  // namespace tessera::webgpu

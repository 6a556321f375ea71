#include "backend_webgpu/lent.h"

namespace tessera::webgpu {
namespace {

// Runs `use`, which makes objects and drops them, and throws what Dawn says against it.
template <class Use>
void try_use(std::string_view op, std::string_view what, const Device& device, const Use& use) {
  ErrorScope refused(device, WGPUErrorFilter_Validation);
  use();
  const std::string error = refused.close();
  if (error.empty()) return;
  const bool is_foreign = error.find("is associated with") != std::string::npos;
  refuse(op, ErrorCode::invalid_argument,
         "the " + std::string(what) +
             (is_foreign ? " belongs to another device than the tensor's context (" + device.info().name + ")."
                         : " cannot be used: " + error));
}

void make_group_of(const Device& device, const WGPUBindGroupLayoutEntry& binding, const WGPUBindGroupEntry& entry) {
  WGPUBindGroupLayoutDescriptor layout_descriptor{};
  layout_descriptor.entryCount = 1;
  layout_descriptor.entries = &binding;
  const Handle layout(wgpuDeviceCreateBindGroupLayout(device.get(), &layout_descriptor));
  WGPUBindGroupDescriptor descriptor{};
  descriptor.layout = layout.get();
  descriptor.entryCount = 1;
  descriptor.entries = &entry;
  const Handle group(wgpuDeviceCreateBindGroup(device.get(), &descriptor));
}

}  // namespace

WebGpuBackend& webgpu_backend(std::string_view op, ContextImpl& context) {
  require_backend(op, context, BackendKind::webgpu);
  return static_cast<WebGpuBackend&>(*context.backend);
}

void require_usable(std::string_view op, const Device& device, WGPUBuffer buffer, std::uint64_t offset,
                    std::uint64_t bytes) {
  try_use(op, "buffer", device, [&] {
    WGPUBindGroupLayoutEntry binding{};
    binding.visibility = WGPUShaderStage_Compute;
    binding.buffer.type = WGPUBufferBindingType_ReadOnlyStorage;
    make_group_of(device, binding, entry_for(0, {.handle = buffer, .bytes = bytes, .offset = offset}));
  });
}

void require_usable_for_sampling(std::string_view op, const Device& device, WGPUTexture texture,
                                 WGPUTextureSampleType type) {
  try_use(op, "texture", device, [&] {
    WGPUBindGroupLayoutEntry binding{};
    binding.visibility = WGPUShaderStage_Compute;
    binding.texture.sampleType = type;
    binding.texture.viewDimension = WGPUTextureViewDimension_2D;
    const Handle view = view_of(texture);
    make_group_of(device, binding, entry_for(0, view.get()));
  });
}

void require_usable_as_target(std::string_view op, const Device& device, WGPUTexture texture) {
  try_use(op, "texture", device, [&] {
    const Handle view = view_of(texture);
    WGPURenderPassColorAttachment attachment{};
    attachment.view = view.get();
    attachment.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
    attachment.loadOp = WGPULoadOp_Load;
    attachment.storeOp = WGPUStoreOp_Store;
    WGPURenderPassDescriptor descriptor{};
    descriptor.colorAttachmentCount = 1;
    descriptor.colorAttachments = &attachment;
    const Handle encoder(wgpuDeviceCreateCommandEncoder(device.get(), nullptr));
    const Handle pass(wgpuCommandEncoderBeginRenderPass(encoder.get(), &descriptor));
    wgpuRenderPassEncoderEnd(pass.get());
    const Handle commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  });
}

void refuse(std::string_view op, ErrorCode code, const std::string& why) {
  throw Error(code, std::string(op) + ": " + why);
}

}  // namespace tessera::webgpu

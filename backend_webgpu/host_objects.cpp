#include "backend_webgpu/host_objects.h"

#include "backend_webgpu/host_pass.h"
#include "core/base/fail.h"

namespace tessera::webgpu {
namespace {

// Runs `use`, which makes objects and drops them, and throws Dawn's error, if there is one.
template <class Use>
void try_use(std::string_view op, std::string_view what, const Device& device, const Use& use) {
  ErrorScope refused(device, WGPUErrorFilter_Validation);
  use();
  const std::string error = refused.close();
  if (error.empty()) return;
  const bool is_foreign = error.find("is associated with") != std::string::npos;
  fail(ErrorCode::invalid_argument, op,
       "the " + std::string(what) +
           (is_foreign ? " belongs to another device than the context (" + device.info().name + ")."
                       : " cannot be used: " + error));
}

}  // namespace

void HostObjectChecks::make_group_of(const WGPUBindGroupLayoutEntry& binding, const WGPUBindGroupEntry& entry) {
  const WGPUTextureBindingLayout& texture = binding.texture;
  Handle<WGPUBindGroupLayout>& layout = layouts_[{texture.sampleType, texture.viewDimension, texture.multisampled}];
  if (!layout) {
    WGPUBindGroupLayoutDescriptor descriptor{};
    descriptor.entryCount = 1;
    descriptor.entries = &binding;
    layout = Handle(wgpuDeviceCreateBindGroupLayout(device_->get(), &descriptor));
  }
  make_bind_group(*device_, layout.get(), std::span(&entry, 1), "tessera check");
}

void HostObjectChecks::require_buffer(std::string_view op, WGPUBuffer buffer, std::uint64_t offset,
                                      std::uint64_t bytes) {
  try_use(op, "buffer", *device_, [&] {
    make_group_of(layout_entry(0, WGPUBufferBindingType_ReadOnlyStorage),
                  entry_for(0, {.handle = buffer, .bytes = bytes, .offset = offset}));
  });
}

void HostObjectChecks::require_copy_target(std::string_view op, WGPUBuffer buffer) {
  try_use(op, "buffer", *device_, [&] {
    const Handle encoder(wgpuDeviceCreateCommandEncoder(device_->get(), nullptr));
    wgpuCommandEncoderClearBuffer(encoder.get(), buffer, 0, 0);
    const Handle commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  });
}

void HostObjectChecks::require_source(std::string_view op, const TextureSource& source) {
  if (views_.was_checked(source.slice(), HostViews::Use::source)) return;
  try_use(op, "texture", *device_, [&] {
    WGPUBindGroupLayoutEntry binding{};
    binding.visibility = WGPUShaderStage_Compute;
    binding.texture = source.parts_of_type().binding();
    const Handle view = view_of(source.slice());
    make_group_of(binding, entry_for(0, view.get()));
  });
  views_.note_checked(source.slice(), HostViews::Use::source);
}

void HostObjectChecks::require_drawable(std::string_view op, const TextureTarget& target) {
  if (views_.was_checked(target.slice(), HostViews::Use::target)) return;
  try_use(op, "texture", *device_, [&] {
    const Handle view = view_of(target.slice());
    WGPURenderPassColorAttachment attachment{};
    attachment.view = view.get();
    attachment.depthSlice = target.depth_slice();
    attachment.loadOp = WGPULoadOp_Load;
    attachment.storeOp = WGPUStoreOp_Store;
    WGPURenderPassDescriptor descriptor{};
    descriptor.colorAttachmentCount = 1;
    descriptor.colorAttachments = &attachment;
    const Handle encoder(wgpuDeviceCreateCommandEncoder(device_->get(), nullptr));
    const Handle pass(wgpuCommandEncoderBeginRenderPass(encoder.get(), &descriptor));
    wgpuRenderPassEncoderEnd(pass.get());
    const Handle commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  });
  views_.note_checked(target.slice(), HostViews::Use::target);
}

}  // namespace tessera::webgpu

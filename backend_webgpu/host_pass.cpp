#include "backend_webgpu/host_pass.h"

namespace tessera::webgpu {
namespace {

Handle<WGPUShaderModule> make_module(const Device& device, const std::string& name, const std::string& text) {
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view_of(text);
  WGPUShaderModuleDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  descriptor.label = view_of(name);
  return Handle(wgpuDeviceCreateShaderModule(device.get(), &descriptor));
}

}  // namespace

template <class Make>
Compiled<PassPipeline> PassPipelines::compile(const std::string& name, const std::string& text,
                                              const Make& make) const {
  const Compilation compilation(device_->messages());
  ErrorScope rejected(*device_, WGPUErrorFilter_Validation);
  ErrorScope failed(*device_, WGPUErrorFilter_Internal);
  PassPipeline pipeline;
  const Handle module = make_module(*device_, name, text);
  make(pipeline, module.get());
  std::string error = failed.close();
  error += rejected.close();
  device_->throw_faults();
  if (!error.empty())
    throw Error(ErrorCode::compile_failed,
                "WebGPU: " + device_->info().name + " does not take the pass " + name + ": " + error);
  compilation.succeeded([&] { return "pass " + name; }, text);
  return {std::move(pipeline), text.size()};
}

const PassPipeline& PassPipelines::compute(const std::string& name, const std::function<std::string()>& text) {
  const auto make = [&](PassPipeline& pipeline, WGPUShaderModule module) {
    WGPUComputePipelineDescriptor descriptor{};
    descriptor.label = view_of(name);
    descriptor.compute.module = module;
    descriptor.compute.entryPoint = view_of("main");
    pipeline.compute = Handle(wgpuDeviceCreateComputePipeline(device_->get(), &descriptor));
    pipeline.layout = Handle(wgpuComputePipelineGetBindGroupLayout(pipeline.compute.get(), 0));
  };
  return pipelines_.get(name, nullptr, [&] { return compile(name, text(), make); });
}

const PassPipeline& PassPipelines::render(const std::string& name, WGPUTextureFormat format,
                                          const std::function<std::string()>& text) {
  const auto make = [&](PassPipeline& pipeline, WGPUShaderModule module) {
    WGPUColorTargetState target{};
    target.format = format;
    target.writeMask = WGPUColorWriteMask_All;
    WGPUFragmentState fragment{};
    fragment.module = module;
    fragment.entryPoint = view_of("fragment_main");
    fragment.targetCount = 1;
    fragment.targets = &target;
    WGPURenderPipelineDescriptor descriptor{};
    descriptor.label = view_of(name);
    descriptor.vertex.module = module;
    descriptor.vertex.entryPoint = view_of("vertex_main");
    descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
    descriptor.multisample.count = 1;
    descriptor.multisample.mask = 0xffffffffu;
    descriptor.fragment = &fragment;
    pipeline.render = Handle(wgpuDeviceCreateRenderPipeline(device_->get(), &descriptor));
    pipeline.layout = Handle(wgpuRenderPipelineGetBindGroupLayout(pipeline.render.get(), 0));
  };
  return pipelines_.get(name, nullptr, [&] { return compile(name, text(), make); });
}

void record(WGPUCommandEncoder encoder, const PreparedPass& prepared, const WGPUPassTimestampWrites* times) {
  for (const BoundBuffer& buffer : prepared.cleared)
    wgpuCommandEncoderClearBuffer(encoder, buffer.handle, buffer.offset, buffer.bytes);
  if (!prepared.target) {
    WGPUComputePassDescriptor descriptor{};
    descriptor.label = view_of("tessera pass");
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
  attachment.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
  attachment.loadOp = WGPULoadOp_Clear;  // every pixel is written, so that what was there need not be loaded
  attachment.storeOp = WGPUStoreOp_Store;
  WGPURenderPassDescriptor descriptor{};
  descriptor.label = view_of("tessera pass");
  descriptor.colorAttachmentCount = 1;
  descriptor.colorAttachments = &attachment;
  descriptor.timestampWrites = times;
  const Handle pass(wgpuCommandEncoderBeginRenderPass(encoder, &descriptor));
  wgpuRenderPassEncoderSetPipeline(pass.get(), prepared.pipeline->render.get());
  wgpuRenderPassEncoderSetBindGroup(pass.get(), 0, prepared.group.get(), 0, nullptr);
  wgpuRenderPassEncoderDraw(pass.get(), 3, 1, 0, 0);
  wgpuRenderPassEncoderEnd(pass.get());
}

WGPUBindGroupEntry entry_for(std::uint32_t binding, const BoundBuffer& buffer) {
  WGPUBindGroupEntry entry{};
  entry.binding = binding;
  entry.buffer = buffer.handle;
  entry.offset = buffer.offset;
  entry.size = buffer.bytes;
  return entry;
}

WGPUBindGroupEntry entry_for(std::uint32_t binding, WGPUTextureView view) {
  WGPUBindGroupEntry entry{};
  entry.binding = binding;
  entry.textureView = view;
  return entry;
}

Handle<WGPUBindGroup> make_group(const Device& device, const PassPipeline& pipeline,
                                 const std::vector<WGPUBindGroupEntry>& entries) {
  WGPUBindGroupDescriptor descriptor{};
  descriptor.label = view_of("tessera pass");
  descriptor.layout = pipeline.layout.get();
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return Handle(wgpuDeviceCreateBindGroup(device.get(), &descriptor));
}

Handle<WGPUTextureView> view_of(WGPUTexture texture) {
  WGPUTextureViewDescriptor descriptor{};
  descriptor.label = view_of("tessera pass");
  descriptor.format = wgpuTextureGetFormat(texture);
  descriptor.dimension = WGPUTextureViewDimension_2D;
  descriptor.mipLevelCount = 1;
  descriptor.arrayLayerCount = 1;
  descriptor.aspect = WGPUTextureAspect_All;
  return Handle(wgpuTextureCreateView(texture, &descriptor));
}

void set_invocations(PreparedPass& pass, std::uint64_t count, const Device& device) {
  const std::uint64_t groups = (count + pass_group_size - 1) / pass_group_size;
  const std::uint64_t longest_row = device.limits().maxComputeWorkgroupsPerDimension;
  const std::uint64_t rows = (groups + longest_row - 1) / longest_row;
  pass.groups_x = static_cast<std::uint32_t>((groups + rows - 1) / rows);
  pass.groups_y = static_cast<std::uint32_t>(rows);
}

}  // namespace tessera::webgpu

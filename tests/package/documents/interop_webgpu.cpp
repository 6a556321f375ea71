#include <gtest/gtest.h>

#include <cstdint>
#include <future>

#include "interop_webgpu/the_host_s_device.inc"
#include "interop_webgpu/in_textures_and_buffers.inc"
#include "interop_webgpu/out_buffers.inc"
#include "interop_webgpu/out_buffers_2.inc"
#include "interop_webgpu/out_into_the_host_s_buffers.inc"
#include "interop_webgpu/out_textures.inc"
#include "interop_webgpu/the_host_s_encoder.inc"
#include "interop_webgpu/without_waiting.inc"

namespace {

constexpr std::uint32_t side = 8;

// The host has a device that tessera opened, and gives it to a context that adopts it.
class InteropWebgpu : public ::testing::Test {
 protected:
  ~InteropWebgpu() override {
    for (const WGPUTexture texture : {from_, to_}) wgpuTextureRelease(texture);
    wgpuBufferRelease(buffer_);
    wgpuQueueRelease(queue_);
  }

  WGPUTexture texture() const {
    WGPUTextureDescriptor descriptor{};
    descriptor.usage = WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_TextureBinding;
    descriptor.dimension = WGPUTextureDimension_2D;
    descriptor.size = {side, side, 1};
    descriptor.format = WGPUTextureFormat_RGBA8Unorm;
    descriptor.mipLevelCount = descriptor.sampleCount = 1;
    return wgpuDeviceCreateTexture(host_.device, &descriptor);
  }
  WGPUBuffer buffer() const {
    WGPUBufferDescriptor descriptor{};
    descriptor.usage = WGPUBufferUsage_Storage;
    descriptor.size = 80 * sizeof(float);
    return wgpuDeviceCreateBuffer(host_.device, &descriptor);
  }

  WGPURenderPipeline pipeline_of(std::string_view wgsl) const {  // with the entry points place and shade
    WGPUShaderSourceWGSL source{};
    source.chain.sType = WGPUSType_ShaderSourceWGSL;
    source.code = {wgsl.data(), wgsl.size()};
    WGPUShaderModuleDescriptor module_descriptor{};
    module_descriptor.nextInChain = &source.chain;
    const WGPUShaderModule module = wgpuDeviceCreateShaderModule(host_.device, &module_descriptor);
    WGPUVertexAttribute point{};
    point.format = WGPUVertexFormat_Float32x2;
    WGPUVertexBufferLayout points{};
    points.arrayStride = 2 * sizeof(float);
    points.stepMode = WGPUVertexStepMode_Vertex;
    points.attributeCount = 1;
    points.attributes = &point;
    WGPUColorTargetState target{};
    target.format = WGPUTextureFormat_RGBA8Unorm;
    target.writeMask = WGPUColorWriteMask_All;
    WGPUFragmentState fragment{};
    fragment.module = module;
    fragment.entryPoint = {"shade", 5};
    fragment.targetCount = 1;
    fragment.targets = &target;
    WGPURenderPipelineDescriptor descriptor{};
    descriptor.vertex.module = module;
    descriptor.vertex.entryPoint = {"place", 5};
    descriptor.vertex.bufferCount = 1;
    descriptor.vertex.buffers = &points;
    descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
    descriptor.multisample.count = 1;
    descriptor.multisample.mask = ~0u;
    descriptor.fragment = &fragment;
    const WGPURenderPipeline pipeline = wgpuDeviceCreateRenderPipeline(host_.device, &descriptor);
    wgpuShaderModuleRelease(module);
    return pipeline;
  }

  tessera::Context owner_ = tessera::Context::create({.prefer = {tessera::BackendKind::webgpu}});
  tessera::webgpu::HostDevice host_ = tessera::webgpu::host_device(owner_);
  tessera::Context gpu_ = start(host_.instance, host_.device);
  WGPUQueue queue_ = wgpuDeviceGetQueue(host_.device);
  WGPUTexture from_ = texture(), to_ = texture();
  WGPUBuffer buffer_ = buffer();
};

TEST_F(InteropWebgpu, TexturesAndBuffers) {
  show(gpu_.full({side, side, 3}, 0.2f), from_);
  EXPECT_NEAR(brightness(gpu_, from_).read()[0], 0.2f, 1e-5);
  EXPECT_EQ(speeds(gpu_, buffer_, 4).read(), std::vector<float>(4, 0));
}

TEST_F(InteropWebgpu, IntoBuffersAndWithoutWaiting) {
  fill(gpu_.full({16}, 3) * 2.0f, buffer_);
  EXPECT_EQ(tessera::webgpu::from_buffer(gpu_, buffer_, {16}, tessera::DType::f32, {.offset = 256}).read(),
            std::vector<float>(16, 6));
  std::promise<void> recycled;
  after_this_frame(gpu_, [&] { recycled.set_value(); });
  recycled.get_future().get();
}

TEST_F(InteropWebgpu, TheHostsEncoder) {
  show(gpu_.full({side, side}, 0.4f), from_);
  frame(gpu_, host_.device, queue_, from_, to_);
  EXPECT_NEAR(brightness(gpu_, to_).read()[0], 0.4f, 1e-5);
}

// The points of one triangle over all of the target, in the colours of an image.
TEST_F(InteropWebgpu, BuffersInAPassAndAShader) {
  const tessera::Tensor points = gpu_.tensor({3, 2}, {-1, -1, 3, -1, -1, 3});
  const tessera::Tensor image = gpu_.full({side, side, 3}, 0.6f);
  const std::string wgsl = shader_for(image) +
                           "@vertex fn place(@location(0) p: vec2f) -> @builtin(position) vec4f {\n"
                           "  return vec4f(p, 0.0, 1.0);\n"
                           "}\n";
  const WGPURenderPipeline pipeline = pipeline_of(wgsl);
  const tessera::webgpu::GpuData elements = tessera::webgpu::data_to_gpu(image);
  WGPUBindGroupEntry entry{};
  entry.buffer = elements.buffer;
  entry.size = WGPU_WHOLE_SIZE;
  WGPUBindGroupDescriptor group_descriptor{};
  group_descriptor.layout = wgpuRenderPipelineGetBindGroupLayout(pipeline, 0);
  group_descriptor.entryCount = 1;
  group_descriptor.entries = &entry;
  const WGPUBindGroup group = wgpuDeviceCreateBindGroup(host_.device, &group_descriptor);

  WGPURenderPassColorAttachment target{};
  target.view = wgpuTextureCreateView(to_, nullptr);
  target.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
  target.loadOp = WGPULoadOp_Clear;
  target.storeOp = WGPUStoreOp_Store;
  WGPURenderPassDescriptor pass_descriptor{};
  pass_descriptor.colorAttachmentCount = 1;
  pass_descriptor.colorAttachments = &target;
  const WGPUCommandEncoder commands = wgpuDeviceCreateCommandEncoder(host_.device, nullptr);
  const WGPURenderPassEncoder pass = wgpuCommandEncoderBeginRenderPass(commands, &pass_descriptor);
  wgpuRenderPassEncoderSetPipeline(pass, pipeline);
  wgpuRenderPassEncoderSetBindGroup(pass, 0, group, 0, nullptr);
  draw_points(points, pass);
  wgpuRenderPassEncoderEnd(pass);
  const WGPUCommandBuffer finished = wgpuCommandEncoderFinish(commands, nullptr);
  wgpuQueueSubmit(queue_, 1, &finished);
  EXPECT_NEAR(brightness(gpu_, to_).read()[0], 0.6f, 1e-5);

  wgpuCommandBufferRelease(finished);
  wgpuRenderPassEncoderRelease(pass);
  wgpuCommandEncoderRelease(commands);
  wgpuTextureViewRelease(target.view);
  wgpuBindGroupRelease(group);
  wgpuBindGroupLayoutRelease(group_descriptor.layout);
  wgpuRenderPipelineRelease(pipeline);
}

}  // namespace

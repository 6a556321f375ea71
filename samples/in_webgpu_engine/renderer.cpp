#include "renderer.h"

#include <cstdio>

#include "support/scene.h"
// tessera: begin
#include "support/bloom.h"
// tessera: end

namespace {

constexpr WGPUTextureFormat scene_format = WGPUTextureFormat_RGBA8Unorm, depth_format = WGPUTextureFormat_Depth24Plus;

constexpr const char* scene_wgsl = R"(
struct Uniforms { view_projection: mat4x4f, models: array<mat4x4f, 2> }
@group(0) @binding(0) var<uniform> uniforms: Uniforms;
@group(0) @binding(1) var cube_texture: texture_2d<f32>;
@group(0) @binding(2) var smooth_sampler: sampler;

struct Varying { @builtin(position) position: vec4f, @location(0) normal: vec3f, @location(1) uv: vec2f }

@vertex fn vertex_main(@builtin(instance_index) cube: u32, @location(0) position: vec3f, @location(1) normal: vec3f,
                       @location(2) uv: vec2f) -> Varying {
  let model = uniforms.models[cube];
  return Varying(uniforms.view_projection * model * vec4f(position, 1.0), (model * vec4f(normal, 0.0)).xyz, uv);
}

@fragment fn fragment_main(in: Varying) -> @location(0) vec4f {
  let texel = textureSample(cube_texture, smooth_sampler, in.uv);
  let light = 0.2 + 0.8 * max(dot(normalize(in.normal), normalize(vec3f(0.4, 0.8, 0.6))), 0.0);
  return vec4f(texel.rgb * mix(light, 1.0, texel.a), 1.0);
}
)";

constexpr const char* present_wgsl = R"(
@group(0) @binding(0) var frame: texture_2d<f32>;

@vertex fn vertex_main(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
  return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment fn fragment_main(@builtin(position) position: vec4f) -> @location(0) vec4f {
  let from_middle = position.xy / vec2f(textureDimensions(frame)) - 0.5;
  let color = textureLoad(frame, vec2i(position.xy), 0).rgb;
  return vec4f(color * (1.0 - 0.6 * dot(from_middle, from_middle)), 1.0);
}
)";

Owned<WGPUTextureView> view_of(WGPUTexture texture) {
  return Owned<WGPUTextureView>(wgpuTextureCreateView(texture, nullptr));
}

}  // namespace

Renderer::Renderer(Gpu& gpu, bool with_bloom) : gpu_(gpu) {
  const auto vertices = sample::cube_vertices();
  const auto indices = sample::cube_indices();
  vertices_ = gpu.buffer(vertices.size() * sizeof vertices[0], WGPUBufferUsage_Vertex | WGPUBufferUsage_CopyDst,
                         vertices.data());
  indices_ =
      gpu.buffer(indices.size() * sizeof indices[0], WGPUBufferUsage_Index | WGPUBufferUsage_CopyDst, indices.data());
  uniforms_ = gpu.buffer(sizeof(sample::Uniforms), WGPUBufferUsage_Uniform | WGPUBufferUsage_CopyDst);

  constexpr sample::Size texture_size{sample::texture_size, sample::texture_size};
  cube_texture_ = gpu.texture(texture_size, WGPUTextureFormat_RGBA8Unorm,
                              WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst);
  const auto texels = sample::texture_pixels();
  WGPUTexelCopyTextureInfo to{};
  to.texture = cube_texture_.get();
  WGPUTexelCopyBufferLayout layout{};
  layout.bytesPerRow = sample::texture_size * 4;
  layout.rowsPerImage = sample::texture_size;
  const WGPUExtent3D extent{sample::texture_size, sample::texture_size, 1};
  wgpuQueueWriteTexture(gpu.queue(), &to, texels.data(), texels.size(), &layout, &extent);

  scene_pipeline_ = pipeline(scene_wgsl, scene_format, true);
  present_pipeline_ = pipeline(present_wgsl, gpu.target_format(), false);
  WGPUSamplerDescriptor smooth{};
  smooth.addressModeU = smooth.addressModeV = smooth.addressModeW = WGPUAddressMode_ClampToEdge;
  smooth.magFilter = smooth.minFilter = WGPUFilterMode_Linear;
  smooth.mipmapFilter = WGPUMipmapFilterMode_Nearest;
  smooth.maxAnisotropy = 1;
  const Owned<WGPUSampler> smooth_sampler(wgpuDeviceCreateSampler(gpu.device(), &smooth));
  const Owned<WGPUTextureView> cube_view = view_of(cube_texture_.get());
  scene_bindings_ = bindings(scene_pipeline_.get(), {{.buffer = uniforms_.get(), .size = sizeof(sample::Uniforms)},
                                                     {.textureView = cube_view.get()},
                                                     {.sampler = smooth_sampler.get()}});
  // tessera: begin
  if (with_bloom)
    tensors_ = tessera::webgpu::adopt({gpu.instance(), gpu.device()}, {.on_message = sample::print_warnings});
  // tessera: end
}

Owned<WGPURenderPipeline> Renderer::pipeline(const char* wgsl, WGPUTextureFormat format, bool is_scene) const {
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = text(wgsl);
  WGPUShaderModuleDescriptor module_descriptor{};
  module_descriptor.nextInChain = &source.chain;
  const Owned<WGPUShaderModule> module(wgpuDeviceCreateShaderModule(gpu_.device(), &module_descriptor));

  WGPUVertexAttribute attributes[3]{};
  attributes[0].format = attributes[1].format = WGPUVertexFormat_Float32x3;
  attributes[2].format = WGPUVertexFormat_Float32x2;
  attributes[1].offset = offsetof(sample::Vertex, normal);
  attributes[2].offset = offsetof(sample::Vertex, uv);
  attributes[1].shaderLocation = 1;
  attributes[2].shaderLocation = 2;
  WGPUVertexBufferLayout layout{};
  layout.stepMode = WGPUVertexStepMode_Vertex;
  layout.arrayStride = sizeof(sample::Vertex);
  layout.attributeCount = 3;
  layout.attributes = attributes;
  WGPUDepthStencilState depth{};
  depth.format = depth_format;
  depth.depthWriteEnabled = WGPUOptionalBool_True;
  depth.depthCompare = WGPUCompareFunction_Less;
  WGPUColorTargetState target{};
  target.format = format;
  target.writeMask = WGPUColorWriteMask_All;
  WGPUFragmentState fragment{};
  fragment.module = module.get();
  fragment.entryPoint = text("fragment_main");
  fragment.targetCount = 1;
  fragment.targets = &target;

  WGPURenderPipelineDescriptor descriptor{};
  descriptor.vertex.module = module.get();
  descriptor.vertex.entryPoint = text("vertex_main");
  descriptor.vertex.bufferCount = is_scene ? 1 : 0;
  descriptor.vertex.buffers = &layout;
  descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
  descriptor.primitive.cullMode = is_scene ? WGPUCullMode_Back : WGPUCullMode_None;
  descriptor.depthStencil = is_scene ? &depth : nullptr;
  descriptor.multisample.count = 1;
  descriptor.multisample.mask = 0xffffffffu;
  descriptor.fragment = &fragment;
  return Owned<WGPURenderPipeline>(wgpuDeviceCreateRenderPipeline(gpu_.device(), &descriptor));
}

Owned<WGPUBindGroup> Renderer::bindings(WGPURenderPipeline of, std::vector<WGPUBindGroupEntry> entries) const {
  for (std::uint32_t i = 0; i < entries.size(); ++i) entries[i].binding = i;
  const Owned<WGPUBindGroupLayout> layout(wgpuRenderPipelineGetBindGroupLayout(of, 0));
  WGPUBindGroupDescriptor descriptor{};
  descriptor.layout = layout.get();
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return Owned<WGPUBindGroup>(wgpuDeviceCreateBindGroup(gpu_.device(), &descriptor));
}

void Renderer::resize(sample::Size size) {
  if (size == size_) return;
  size_ = size;
  gpu_.resize(size);
  constexpr WGPUTextureUsage drawn_and_read = WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_TextureBinding;
  scene_ = gpu_.texture(size, scene_format, drawn_and_read);
  depth_ = gpu_.texture(size, depth_format, WGPUTextureUsage_RenderAttachment);
  WGPUTexture shown = scene_.get();
  // tessera: begin
  if (tensors_) {
    bloomed_ = gpu_.texture(size, scene_format, drawn_and_read);
    shown = bloomed_.get();
  }
  // tessera: end
  const Owned<WGPUTextureView> view = view_of(shown);
  present_bindings_ = bindings(present_pipeline_.get(), {{.textureView = view.get()}});
}

void Renderer::draw(int frame) {
  const Owned<WGPUTexture> target = gpu_.next_target();
  if (!target) return;
  const Owned<WGPUCommandEncoder> commands(wgpuDeviceCreateCommandEncoder(gpu_.device(), nullptr));
  record_scene(commands.get(), frame);
  // tessera: begin
  if (tensors_) {
    const tessera::Tensor scene = tessera::webgpu::from_texture(*tensors_, scene_.get(), {.channels = "RGB"});
    tessera::webgpu::to_texture(sample::bloom(scene), bloomed_.get(), commands.get());
  }
  // tessera: end
  record_present(commands.get(), target.get());
  const Owned<WGPUCommandBuffer> finished(wgpuCommandEncoderFinish(commands.get(), nullptr));
  const WGPUCommandBuffer submitted = finished.get();
  wgpuQueueSubmit(gpu_.queue(), 1, &submitted);
  // tessera: begin
  if (tensors_) tessera::webgpu::submitted(*tensors_);
  // tessera: end
  gpu_.present();
}

void Renderer::record_scene(WGPUCommandEncoder commands, int frame) {
  const float aspect = static_cast<float>(size_.width) / static_cast<float>(size_.height);
  const sample::Uniforms uniforms = sample::uniforms_of(frame, aspect, sample::Depth::zero_to_one);
  wgpuQueueWriteBuffer(gpu_.queue(), uniforms_.get(), 0, &uniforms, sizeof uniforms);

  const Owned<WGPUTextureView> color_view = view_of(scene_.get()), depth_view = view_of(depth_.get());
  WGPURenderPassColorAttachment color{};
  color.view = color_view.get();
  color.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
  color.loadOp = WGPULoadOp_Clear;
  color.storeOp = WGPUStoreOp_Store;
  color.clearValue = {0.06, 0.06, 0.1, 1};
  WGPURenderPassDepthStencilAttachment depth{};
  depth.view = depth_view.get();
  depth.depthLoadOp = WGPULoadOp_Clear;
  depth.depthStoreOp = WGPUStoreOp_Discard;
  depth.depthClearValue = 1;
  WGPURenderPassDescriptor descriptor{};
  descriptor.colorAttachmentCount = 1;
  descriptor.colorAttachments = &color;
  descriptor.depthStencilAttachment = &depth;
  const Owned<WGPURenderPassEncoder> pass(wgpuCommandEncoderBeginRenderPass(commands, &descriptor));
  wgpuRenderPassEncoderSetPipeline(pass.get(), scene_pipeline_.get());
  wgpuRenderPassEncoderSetBindGroup(pass.get(), 0, scene_bindings_.get(), 0, nullptr);
  wgpuRenderPassEncoderSetVertexBuffer(pass.get(), 0, vertices_.get(), 0, WGPU_WHOLE_SIZE);
  wgpuRenderPassEncoderSetIndexBuffer(pass.get(), indices_.get(), WGPUIndexFormat_Uint16, 0, WGPU_WHOLE_SIZE);
  wgpuRenderPassEncoderDrawIndexed(pass.get(), 36, sample::cubes, 0, 0, 0);
  wgpuRenderPassEncoderEnd(pass.get());
}

void Renderer::record_present(WGPUCommandEncoder commands, WGPUTexture target) {
  const Owned<WGPUTextureView> view = view_of(target);
  WGPURenderPassColorAttachment color{};
  color.view = view.get();
  color.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
  color.loadOp = WGPULoadOp_Clear;
  color.storeOp = WGPUStoreOp_Store;
  WGPURenderPassDescriptor descriptor{};
  descriptor.colorAttachmentCount = 1;
  descriptor.colorAttachments = &color;
  const Owned<WGPURenderPassEncoder> pass(wgpuCommandEncoderBeginRenderPass(commands, &descriptor));
  wgpuRenderPassEncoderSetPipeline(pass.get(), present_pipeline_.get());
  wgpuRenderPassEncoderSetBindGroup(pass.get(), 0, present_bindings_.get(), 0, nullptr);
  wgpuRenderPassEncoderDraw(pass.get(), 3, 1, 0, 0);
  wgpuRenderPassEncoderEnd(pass.get());
}

void Renderer::report() const {
  // tessera: begin
  if (tensors_) sample::print_costs(*tensors_);
  // tessera: end
}

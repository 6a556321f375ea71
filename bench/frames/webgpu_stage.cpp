#include "bench/frames/stage.h"

#if TESSERA_HAS_WEBGPU
#include <array>
#include <map>
#include <stdexcept>

#include "bench/frames/prelude.h"
#include "samples/support/webgpu_handles.h"
#include "support/webgpu_host.h"

namespace tessera::bench {
namespace {

using sample::Owned;
using sample::text;

constexpr std::uint32_t sampler_binding = 8, tensor_binding = 9;

WGPUTextureFormat format_of(Format format) {
  switch (format) {
    case Format::r8: return WGPUTextureFormat_R8Unorm;
    case Format::rg8: return WGPUTextureFormat_RG8Unorm;
    case Format::rgba8: return WGPUTextureFormat_RGBA8Unorm;
    default: return WGPUTextureFormat_RGBA16Float;
  }
}

// The textures of a name: one, or one for even and one for odd frames.
using Textures = std::map<std::string, std::vector<WGPUTexture>>;

WGPUTexture texture_on(test::Host& host, const Texture& texture, Format format, const Bytes* contents) {
  const WGPUTextureUsage usage = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst | WGPUTextureUsage_CopySrc |
                                 (texture.depth ? WGPUTextureUsage_None : WGPUTextureUsage_RenderAttachment);
  const auto bytes = static_cast<std::uint32_t>(format == Format::rgba16f ? 8 : components(format));
  return host.texture(static_cast<std::uint32_t>(texture.size.width), static_cast<std::uint32_t>(texture.size.height),
                      format_of(format), usage, contents ? contents->data() : nullptr, bytes,
                      static_cast<std::uint32_t>(texture.depth));
}

class WgslFrames : public Frames {
 public:
  WgslFrames(test::Host& host, const Pipeline& pipeline, int channels, Textures textures, Format between)
      : host_(host), pipeline_(pipeline), textures_(std::move(textures)) {
    for (const Texture& texture : pipeline.between)
      textures_[texture.name] = {texture_on(host, texture, between, nullptr)};
    if (const auto& history = pipeline.history)
      textures_[history->name] = {texture_on(host, *history, between, nullptr),
                                  texture_on(host, *history, between, nullptr)};
    for (const Texture& texture : pipeline.targets)
      if (texture.format != Format::tensor)
        textures_[texture.name] = {texture_on(host, texture, texture.format, nullptr)};
    WGPUSamplerDescriptor descriptor{};
    descriptor.addressModeU = descriptor.addressModeV = descriptor.addressModeW = WGPUAddressMode_ClampToEdge;
    descriptor.magFilter = descriptor.minFilter = WGPUFilterMode_Linear;
    descriptor.mipmapFilter = WGPUMipmapFilterMode_Nearest;
    descriptor.lodMaxClamp = 32;
    descriptor.maxAnisotropy = 1;
    sampler_.reset(wgpuDeviceCreateSampler(host.device, &descriptor));
    for (const Pass& pass : pipeline.passes) steps_.push_back(step_of(pass, wgsl_of(pipeline, pass, channels)));
  }

  void next() override {
    const std::size_t parity = frame_++ % 2;
    const Owned<WGPUCommandEncoder> commands(wgpuDeviceCreateCommandEncoder(host_.device, nullptr));
    for (const Step& step : steps_)
      step.drawing ? draw(commands.get(), step, parity) : compute(commands.get(), step, parity);
    const Owned<WGPUCommandBuffer> finished(wgpuCommandEncoderFinish(commands.get(), nullptr));
    const WGPUCommandBuffer submitted = finished.get();
    wgpuQueueSubmit(host_.queue, 1, &submitted);
  }

  std::vector<float> values(std::size_t target) override {
    const Texture& texture = pipeline_.targets[target];
    if (texture.format == Format::tensor)
      return host_.read<float>(tensor_, 0, static_cast<std::size_t>(texture.size.width * texture.size.height * 3));
    return normalised(host_.read<std::uint8_t>(textures_.at(texture.name)[0],
                                               static_cast<std::uint32_t>(components(texture.format))));
  }

 private:
  struct Step {
    Owned<WGPURenderPipeline> drawing;
    Owned<WGPUComputePipeline> computing;
    std::array<Owned<WGPUBindGroup>, 2> groups;  // of even and odd frames
    std::array<std::vector<WGPUTextureView>, 2> targets;
    Size size;
  };

  WGPUTexture at(const std::string& name, std::size_t version) const {
    const std::vector<WGPUTexture>& versions = textures_.at(name);
    return versions[version % versions.size()];
  }

  Step step_of(const Pass& pass, const std::string& wgsl) {
    const Texture& target = texture_of(pipeline_, pass.writes[0]);
    const bool is_compute = target.format == Format::tensor;
    Step step;
    step.size = target.size;

    std::vector<WGPUBindGroupLayoutEntry> bindings(pass.reads.size());
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      bindings[i].binding = static_cast<std::uint32_t>(i);
      bindings[i].texture.sampleType = WGPUTextureSampleType_Float;
      bindings[i].texture.viewDimension =
          texture_of(pipeline_, pass.reads[i]).depth ? WGPUTextureViewDimension_3D : WGPUTextureViewDimension_2D;
    }
    bindings.push_back({});
    bindings.back().binding = sampler_binding;
    bindings.back().sampler.type = WGPUSamplerBindingType_Filtering;
    if (is_compute) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(target.size.width * target.size.height) * 12;
      tensor_ = host_.buffer(bytes, WGPUBufferUsage_Storage);
      bindings.push_back({});
      bindings.back().binding = tensor_binding;
      bindings.back().buffer.type = WGPUBufferBindingType_Storage;
    }
    for (WGPUBindGroupLayoutEntry& binding : bindings)
      binding.visibility = is_compute ? WGPUShaderStage_Compute : WGPUShaderStage_Fragment;
    WGPUBindGroupLayoutDescriptor group_descriptor{};
    group_descriptor.entryCount = bindings.size();
    group_descriptor.entries = bindings.data();
    const Owned<WGPUBindGroupLayout> group_layout(wgpuDeviceCreateBindGroupLayout(host_.device, &group_descriptor));
    const WGPUBindGroupLayout layouts[] = {group_layout.get()};
    WGPUPipelineLayoutDescriptor layout_descriptor{};
    layout_descriptor.bindGroupLayoutCount = 1;
    layout_descriptor.bindGroupLayouts = layouts;
    const Owned<WGPUPipelineLayout> layout(wgpuDeviceCreatePipelineLayout(host_.device, &layout_descriptor));

    if (is_compute) make_computing(step, layout.get(), wgsl);
    else make_drawing(step, layout.get(), wgsl, pass);

    for (std::size_t parity = 0; parity < 2; ++parity) {
      std::vector<WGPUBindGroupEntry> entries(bindings.size());
      for (std::size_t i = 0; i < entries.size(); ++i) {
        entries[i].binding = bindings[i].binding;
        if (i < pass.reads.size()) entries[i].textureView = host_.view(at(pass.reads[i], parity));
        else if (bindings[i].binding == sampler_binding) entries[i].sampler = sampler_.get();
        else entries[i].buffer = tensor_, entries[i].size = WGPU_WHOLE_SIZE;
      }
      WGPUBindGroupDescriptor descriptor{};
      descriptor.layout = group_layout.get();
      descriptor.entryCount = entries.size();
      descriptor.entries = entries.data();
      step.groups[parity].reset(wgpuDeviceCreateBindGroup(host_.device, &descriptor));
      if (!is_compute)  // what is written twice, a history, is read by the next frame
        for (const std::string& name : pass.writes) step.targets[parity].push_back(host_.view(at(name, parity + 1)));
    }
    if (!host_.errors.empty()) throw std::runtime_error(host_.errors[0]);
    return step;
  }

  Owned<WGPUShaderModule> module_of(const std::string& wgsl) {
    WGPUShaderSourceWGSL source{};
    source.chain.sType = WGPUSType_ShaderSourceWGSL;
    source.code = text(wgsl);
    WGPUShaderModuleDescriptor descriptor{};
    descriptor.nextInChain = &source.chain;
    return Owned<WGPUShaderModule>(wgpuDeviceCreateShaderModule(host_.device, &descriptor));
  }

  void make_computing(Step& step, WGPUPipelineLayout layout, const std::string& wgsl) {
    const Owned<WGPUShaderModule> shader = module_of(wgsl);
    WGPUComputePipelineDescriptor descriptor{};
    descriptor.layout = layout;
    descriptor.compute.module = shader.get();
    descriptor.compute.entryPoint = text("main");
    step.computing.reset(wgpuDeviceCreateComputePipeline(host_.device, &descriptor));
  }

  void make_drawing(Step& step, WGPUPipelineLayout layout, const std::string& wgsl, const Pass& pass) {
    const Owned<WGPUShaderModule> shader = module_of(wgsl + R"(
@vertex fn whole_target(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
  return vec4f(f32(i & 1) * 4.0 - 1.0, f32(i >> 1) * 4.0 - 1.0, 0.0, 1.0);
})");
    std::vector<WGPUColorTargetState> targets(pass.writes.size());
    for (std::size_t i = 0; i < targets.size(); ++i) {
      targets[i].format = wgpuTextureGetFormat(at(pass.writes[i], 0));
      targets[i].writeMask = WGPUColorWriteMask_All;
    }
    WGPUFragmentState fragment{};
    fragment.module = shader.get();
    fragment.entryPoint = text("main");
    fragment.targetCount = targets.size();
    fragment.targets = targets.data();
    WGPURenderPipelineDescriptor descriptor{};
    descriptor.layout = layout;
    descriptor.vertex.module = shader.get();
    descriptor.vertex.entryPoint = text("whole_target");
    descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
    descriptor.multisample.count = 1;
    descriptor.multisample.mask = 0xffffffffu;
    descriptor.fragment = &fragment;
    step.drawing.reset(wgpuDeviceCreateRenderPipeline(host_.device, &descriptor));
  }

  void draw(WGPUCommandEncoder commands, const Step& step, std::size_t parity) {
    std::vector<WGPURenderPassColorAttachment> attachments(step.targets[parity].size());
    for (std::size_t i = 0; i < attachments.size(); ++i) {
      attachments[i].view = step.targets[parity][i];
      attachments[i].depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
      attachments[i].loadOp = WGPULoadOp_Clear;
      attachments[i].storeOp = WGPUStoreOp_Store;
    }
    WGPURenderPassDescriptor descriptor{};
    descriptor.colorAttachmentCount = attachments.size();
    descriptor.colorAttachments = attachments.data();
    const Owned<WGPURenderPassEncoder> pass(wgpuCommandEncoderBeginRenderPass(commands, &descriptor));
    wgpuRenderPassEncoderSetPipeline(pass.get(), step.drawing.get());
    wgpuRenderPassEncoderSetBindGroup(pass.get(), 0, step.groups[parity].get(), 0, nullptr);
    wgpuRenderPassEncoderDraw(pass.get(), 3, 1, 0, 0);
    wgpuRenderPassEncoderEnd(pass.get());
  }

  void compute(WGPUCommandEncoder commands, const Step& step, std::size_t parity) {
    const Owned<WGPUComputePassEncoder> pass(wgpuCommandEncoderBeginComputePass(commands, nullptr));
    wgpuComputePassEncoderSetPipeline(pass.get(), step.computing.get());
    wgpuComputePassEncoderSetBindGroup(pass.get(), 0, step.groups[parity].get(), 0, nullptr);
    const Size groups = part(step.size, 8);
    wgpuComputePassEncoderDispatchWorkgroups(pass.get(), static_cast<std::uint32_t>(groups.width),
                                             static_cast<std::uint32_t>(groups.height), 1);
    wgpuComputePassEncoderEnd(pass.get());
  }

  test::Host& host_;
  const Pipeline& pipeline_;
  Textures textures_;
  WGPUBuffer tensor_ = nullptr;
  Owned<WGPUSampler> sampler_;
  std::vector<Step> steps_;
  std::size_t frame_ = 0;
};

class WebGpuTensorFrames : public TensorFrames {
 public:
  WebGpuTensorFrames(Context& gpu, test::Host& host, const Pipeline& pipeline, int channels, const Textures& textures,
                     Precision between)
      : TensorFrames(gpu, pipeline, channels, between), host_(host) {
    for (const Texture& source : pipeline.sources) sources_.push_back(textures.at(source.name));
    for (const Texture& target : pipeline.targets)
      if (target.format != Format::tensor) targets_.push_back(texture_on(host, target, target.format, nullptr));
  }

 private:
  Tensor imported(std::size_t source, std::size_t frame) override {
    return webgpu::from_texture(gpu_, sources_[source][frame % sources_[source].size()],
                                {.channels = channels_of(pipeline_.sources[source].format, channels_)});
  }
  void show(const Tensor& image, std::size_t target, const std::vector<Tensor>& also_compute) override {
    webgpu::to_texture(image, targets_[target], {.also_compute = also_compute});
  }
  std::vector<float> shown(std::size_t target) override {
    return normalised(host_.read<std::uint8_t>(
        targets_[target], static_cast<std::uint32_t>(components(pipeline_.targets[target].format))));
  }

  test::Host& host_;
  std::vector<std::vector<WGPUTexture>> sources_;
  std::vector<WGPUTexture> targets_;
};

class WebGpuStage : public Stage {
 public:
  WebGpuStage(const test::TestDevice& device, const Pipeline& pipeline, int channels, const HostWay& way)
      : host_(device, test::Host::Threads::one, {WGPUFeatureName_TimestampQuery}),
        gpu_(webgpu::adopt(host_.handles(), {.tuning = Tuning::eager, .device_errors = errors_of(way)})),
        pipeline_(pipeline),
        channels_(channels) {
    for (const auto* list : {&pipeline.sources, &pipeline.tables})
      for (const Texture& texture : *list)
        for (const Bytes& contents : texture.contents)
          textures_[texture.name].push_back(texture_on(host_, texture, texture.format, &contents));
  }

  std::unique_ptr<Frames> by_hand(Format between) override {
    return std::make_unique<WgslFrames>(host_, pipeline_, channels_, textures_, between);
  }
  std::unique_ptr<Frames> by_tensors(Precision between) override {
    return std::make_unique<WebGpuTensorFrames>(gpu_, host_, pipeline_, channels_, textures_, between);
  }
  Context& context() override { return gpu_; }
  void wait() override {
    WGPUQueueWorkDoneCallbackInfo on_done{};
    on_done.mode = WGPUCallbackMode_WaitAnyOnly;
    on_done.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void*, void*) {};
    host_.wait_for(wgpuQueueOnSubmittedWorkDone(host_.queue, on_done));
    if (!host_.errors.empty()) throw std::runtime_error(host_.errors[0]);
  }

 private:
  test::Host host_;
  Context gpu_;
  const Pipeline& pipeline_;
  const int channels_;
  Textures textures_;
};

}  // namespace

std::unique_ptr<Stage> make_webgpu_stage(const test::TestDevice& device, const Pipeline& pipeline, int channels,
                                         const HostWay& way) {
  return std::make_unique<WebGpuStage>(device, pipeline, channels, way);
}

}  // namespace tessera::bench
#endif

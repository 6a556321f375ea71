// webgpu::from_texture and webgpu::to_texture with parts of textures, samples, depth and stencil, and as f16 and u8.
#include <gmock/gmock.h>

#include "support/webgpu_host.h"

namespace tessera::test::webgpu_parts_test {
namespace {

using ::testing::Each;
using ::testing::FloatNear;

constexpr int width = 13, height = 10, levels = 3;  // 6 x 5 and 3 x 2 texels after level 0
constexpr WGPUTextureUsage in_and_out = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_CopyDst;

std::uint8_t byte_at(int x, int y, int layer, int level, int channel) {
  return static_cast<std::uint8_t>(x + 13 * y + 31 * layer + 61 * level + 101 * channel);
}

struct Kind {
  const char* name;
  WGPUTextureDimension dimension;
  std::uint32_t layers;
  int layers_of(int level) const {
    return dimension == WGPUTextureDimension_3D ? std::max(static_cast<int>(layers) >> level, 1)
                                                : static_cast<int>(layers);
  }
};
// The faces of a cube are layers.
constexpr Kind kinds[] = {{"flat", WGPUTextureDimension_2D, 1},
                          {"layers", WGPUTextureDimension_2D, 6},
                          {"volume", WGPUTextureDimension_3D, 4}};
const TexturePart parts[] = {{},
                             {.x = 3, .y = 2, .width = 7, .height = 5},
                             {.x = 12, .y = 9},
                             {.level = 1},
                             {.x = 1, .y = 2, .width = 4, .height = 2, .level = 1},
                             {.level = 2}};

class WebGpuParts : public OnHost {
 protected:
  using Texture = std::shared_ptr<WGPUTextureImpl>;

  Texture made(WGPUTextureDescriptor descriptor) {
    return {wgpuDeviceCreateTexture(host->device, &descriptor), wgpuTextureRelease};
  }
  Texture made(const Kind& kind, WGPUTextureFormat format, WGPUTextureUsage usage, std::uint32_t samples = 1) {
    WGPUTextureDescriptor descriptor{};
    descriptor.usage = usage;
    descriptor.dimension = kind.dimension;
    descriptor.size = {width, height, kind.layers};
    descriptor.format = format;
    descriptor.mipLevelCount = samples > 1 ? 1 : levels;
    descriptor.sampleCount = samples;
    return made(descriptor);
  }
  // Each texel tells its place.
  Texture filled(const Kind& kind, WGPUTextureUsage usage = in_and_out) {
    Texture texture = made(kind, WGPUTextureFormat_RGBA8Unorm, usage);
    for (int level = 0; level < levels; ++level)
      for (int layer = 0; layer < kind.layers_of(level); ++layer) {
        const int w = width >> level, h = height >> level;
        std::vector<std::uint8_t> bytes;
        for (int y = 0; y < h; ++y)
          for (int x = 0; x < w; ++x)
            for (int c = 0; c < 4; ++c) bytes.push_back(byte_at(x, y, layer, level, c));
        WGPUTexelCopyTextureInfo to{};
        to.texture = texture.get();
        to.mipLevel = static_cast<std::uint32_t>(level);
        to.origin.z = static_cast<std::uint32_t>(layer);
        to.aspect = WGPUTextureAspect_All;
        WGPUTexelCopyBufferLayout layout{};
        layout.bytesPerRow = static_cast<std::uint32_t>(4 * w);
        layout.rowsPerImage = static_cast<std::uint32_t>(h);
        const WGPUExtent3D size{static_cast<std::uint32_t>(w), static_cast<std::uint32_t>(h), 1};
        wgpuQueueWriteTexture(host->queue, &to, bytes.data(), bytes.size(), &layout, &size);
      }
    return texture;
  }

  Tensor in(const Texture& texture, const TexturePart& part, DType dtype = DType::f32,
            const std::string& channels = "RGBA") {
    return webgpu::from_texture(*gpu, texture.get(), {.channels = channels, .dtype = dtype, .part = part});
  }
  std::vector<float> bytes_of(const Texture& texture, const TexturePart& part) {
    return in(texture, part, DType::u8).read();
  }

  // Clears all samples to 0, and draws 1 into those of the mask.
  void draw_samples(const Texture& texture, std::uint32_t mask) {
    WGPUShaderSourceWGSL source{};
    source.chain.sType = WGPUSType_ShaderSourceWGSL;
    const std::string_view text =
        "@vertex fn v(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {\n"
        "  return vec4f(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0); }\n"
        "@fragment fn f() -> @location(0) vec4f { return vec4f(1.0); }\n";
    source.code = {text.data(), text.size()};
    WGPUShaderModuleDescriptor module_descriptor{};
    module_descriptor.nextInChain = &source.chain;
    const WGPUShaderModule module = wgpuDeviceCreateShaderModule(host->device, &module_descriptor);
    WGPUColorTargetState target{};
    target.format = wgpuTextureGetFormat(texture.get());
    target.writeMask = WGPUColorWriteMask_All;
    WGPUFragmentState fragment{};
    fragment.module = module;
    fragment.entryPoint = {"f", 1};
    fragment.targetCount = 1;
    fragment.targets = &target;
    WGPURenderPipelineDescriptor descriptor{};
    descriptor.vertex.module = module;
    descriptor.vertex.entryPoint = {"v", 1};
    descriptor.primitive.topology = WGPUPrimitiveTopology_TriangleList;
    descriptor.multisample.count = 4;
    descriptor.multisample.mask = mask;
    descriptor.fragment = &fragment;
    const WGPURenderPipeline pipeline = wgpuDeviceCreateRenderPipeline(host->device, &descriptor);
    WGPURenderPassColorAttachment attachment{};
    attachment.view = host->view(texture.get());
    attachment.depthSlice = WGPU_DEPTH_SLICE_UNDEFINED;
    attachment.loadOp = WGPULoadOp_Clear;
    attachment.storeOp = WGPUStoreOp_Store;
    WGPURenderPassDescriptor pass_descriptor{};
    pass_descriptor.colorAttachmentCount = 1;
    pass_descriptor.colorAttachments = &attachment;
    const WGPUCommandEncoder commands = host->encoder();
    const WGPURenderPassEncoder pass = wgpuCommandEncoderBeginRenderPass(commands, &pass_descriptor);
    wgpuRenderPassEncoderSetPipeline(pass, pipeline);
    wgpuRenderPassEncoderDraw(pass, 3, 1, 0, 0);
    wgpuRenderPassEncoderEnd(pass);
    wgpuRenderPassEncoderRelease(pass);
    host->submit(commands);
    wgpuRenderPipelineRelease(pipeline);
    wgpuShaderModuleRelease(module);
  }
  void clear_depth(const Texture& texture, float depth, std::uint32_t stencil, bool has_stencil) {
    WGPURenderPassDepthStencilAttachment attachment{};
    attachment.view = host->view(texture.get());
    attachment.depthLoadOp = WGPULoadOp_Clear;
    attachment.depthStoreOp = WGPUStoreOp_Store;
    attachment.depthClearValue = depth;
    if (has_stencil) {
      attachment.stencilLoadOp = WGPULoadOp_Clear;
      attachment.stencilStoreOp = WGPUStoreOp_Store;
      attachment.stencilClearValue = stencil;
    }
    WGPURenderPassDescriptor descriptor{};
    descriptor.depthStencilAttachment = &attachment;
    const WGPUCommandEncoder commands = host->encoder();
    const WGPURenderPassEncoder pass = wgpuCommandEncoderBeginRenderPass(commands, &descriptor);
    wgpuRenderPassEncoderEnd(pass);
    wgpuRenderPassEncoderRelease(pass);
    host->submit(commands);
  }
};

TEST_P(WebGpuParts, AreRead) {
  for (const Kind& kind : kinds) {
    const Texture texture = filled(kind);
    for (TexturePart part : parts)
      for (const int layer : {0, kind.layers_of(part.level) - 1}) {
        part.layer = layer;
        const int w = part.width ? part.width : (width >> part.level) - part.x,
                  h = part.height ? part.height : (height >> part.level) - part.y;
        std::vector<float> expected;
        for (int y = part.y; y < part.y + h; ++y)
          for (int x = part.x; x < part.x + w; ++x)
            for (const int c : {2, 1, 0}) expected.push_back(byte_at(x, y, layer, part.level, c));
        const Tensor bytes = in(texture, part, DType::u8, "BGR");
        EXPECT_EQ(bytes.shape(), (Shape{h, w, 3}));
        EXPECT_EQ(bytes.dtype(), DType::u8);
        EXPECT_EQ(bytes.read(), expected) << kind.name << " level " << part.level << " layer " << layer;
        EXPECT_EQ(round(in(texture, part, DType::f32, "BGR") * 255.0f).read(), expected);
      }
  }
}

TEST_P(WebGpuParts, AreDrawnAndStored) {
  for (const Kind& kind : kinds)
    for (const WGPUTextureUsage usage : {WGPUTextureUsage_RenderAttachment, WGPUTextureUsage_StorageBinding}) {
      const Texture texture = filled(kind, usage | in_and_out);
      for (TexturePart part : parts)
        for (const bool flip_y : {false, true}) {
          part.layer = kind.layers_of(part.level) - 1;
          const int w = part.width ? part.width : (width >> part.level) - part.x,
                    h = part.height ? part.height : (height >> part.level) - part.y;
          const TexturePart level{.level = part.level, .layer = part.layer}, other{.level = part.level == 0 ? 1 : 0};
          std::vector<float> expected = bytes_of(texture, level), image;
          const std::vector<float> others = bytes_of(texture, other);
          for (int y = 0; y < h; ++y)
            for (int x = 0; x < w; ++x) {
              image.push_back(static_cast<std::uint8_t>(200 - 3 * x - 11 * y - (flip_y ? 1 : 0)));
              const int row = part.y + (flip_y ? h - 1 - y : y), first = 4 * (row * (width >> part.level) + part.x + x);
              for (int c = 0; c < 4; ++c) expected[static_cast<std::size_t>(first + c)] = c < 3 ? image.back() : 255;
            }
          const Tensor tensor = gpu->tensor({h, w}, image) * (1 / 255.0f);
          webgpu::to_texture(tensor, texture.get(), {.flip_y = flip_y, .part = part});
          EXPECT_EQ(bytes_of(texture, level), expected)
              << kind.name << (usage == WGPUTextureUsage_RenderAttachment ? " drawn" : " stored") << " level "
              << part.level << (flip_y ? " flipped" : "");
          EXPECT_EQ(bytes_of(texture, other), others);
        }
    }
}

// Levels from the level before, in kernels that sample the texture which they write.
TEST_P(WebGpuParts, OfOneTextureAreMadeOfEachOther) {
  const Texture texture = filled(kinds[1], in_and_out | WGPUTextureUsage_RenderAttachment);
  const TexturePart even{.width = 12, .layer = 2};
  const std::vector<float> expected = resize_bilinear(in(texture, even), 5, 6).read();
  gpu->reset_stats();
  webgpu::to_texture(resize_bilinear(in(texture, even), 5, 6), texture.get(), {.part = {.level = 1, .layer = 2}});
  EXPECT_EQ(gpu->stats().dispatches, 1u);
  EXPECT_THAT(in(texture, {.level = 1, .layer = 2}).read(), ::testing::Pointwise(FloatNear(0.503f / 255), expected));
  const std::vector<float> before = bytes_of(texture, {.layer = 3});
  webgpu::to_texture(1.0f - in(texture, {.layer = 3}), texture.get());
  std::vector<float> inverted;
  for (const float value : before) inverted.push_back(255 - value);
  EXPECT_EQ(bytes_of(texture, {}), inverted);
  webgpu::to_texture(1.0f - in(texture, {.layer = 3}), texture.get(), {.part = {.layer = 3}});  // in place
  EXPECT_EQ(bytes_of(texture, {.layer = 3}), inverted);
  const Texture volume = filled(kinds[2], in_and_out | WGPUTextureUsage_RenderAttachment);
  webgpu::to_texture(1.0f - in(volume, {.layer = 3}), volume.get());
  std::vector<float> of_volume;
  for (const float value : bytes_of(volume, {.layer = 3})) of_volume.push_back(255 - value);
  EXPECT_EQ(bytes_of(volume, {}), of_volume);
}

// Textures from their first texel on have a kernel, all other parts have one, and no size has one of its own; frames of
// other sizes take no more memory.
TEST_P(WebGpuParts, AndOtherSizesCompileNothing) {
  const Texture flat = filled(kinds[0]), layers = filled(kinds[1]);
  for (const WGPUTextureUsage usage : {WGPUTextureUsage_RenderAttachment, WGPUTextureUsage_StorageBinding}) {
    const Texture screen = filled(kinds[1], usage | in_and_out);
    const auto frame = [&](const Texture& from, const TexturePart& part, const TexturePart& to) {
      webgpu::to_texture(gaussian_blur(in(from, part), 0.5f) * 0.5f, screen.get(), {.part = to});
    };
    frame(flat, {.x = 1, .width = 5, .height = 6}, {.width = 5, .height = 6});
    gpu->reset_stats();
    frame(flat, {}, {});
    const std::uint64_t dispatches = gpu->stats().dispatches;
    gpu->reset_stats();
    frame(layers, {.x = 2, .width = 5, .height = 6, .layer = 2}, {.width = 5, .height = 6, .layer = 3});
    EXPECT_EQ(gpu->stats().dispatches, dispatches) << "no part takes a pass of its own";
    frame(flat, {.x = 3, .y = 1, .width = 6, .height = 5}, {.x = 1, .y = 4, .width = 6, .height = 5});
    frame(flat, {.level = 1}, {.level = 1, .layer = 2});
    EXPECT_EQ(gpu->stats().kernels_compiled, 0u);
    std::uint64_t bytes = 0;
    for (std::uint32_t i = 0; i < 50; ++i) {  // the host makes another texture for each frame
      WGPUTextureDescriptor descriptor{};
      descriptor.usage = usage | WGPUTextureUsage_TextureBinding;
      descriptor.dimension = WGPUTextureDimension_2D;
      descriptor.size = {20 + i % 25, 30 + i / 25, 1};
      descriptor.format = WGPUTextureFormat_RGBA8Unorm;
      descriptor.mipLevelCount = descriptor.sampleCount = 1;
      const Texture from = made(descriptor), to = made(descriptor);
      webgpu::to_texture(in(from, {}) * 0.5f, to.get());
      if (i == 0) {
        gpu->reset_stats();
        bytes = gpu->memory().bytes_in_use + gpu->memory().bytes_pooled;
      }
    }
    EXPECT_EQ(gpu->stats().kernels_compiled, 0u);
    EXPECT_EQ(gpu->memory().bytes_in_use + gpu->memory().bytes_pooled, bytes);
  }
}

TEST_P(WebGpuParts, RunAProgram) {
  const Texture flat = filled(kinds[0]), screen = filled(kinds[2], in_and_out | WGPUTextureUsage_RenderAttachment);
  const Program invert = Program::record(*gpu, {{{4, 5, 4}, DType::u8}}, [](std::span<const Tensor> in) {
    return std::vector{1.0f - in[0].cast(DType::f32) * (1 / 255.0f)};
  });
  for (const int x : {0, 3, 6}) {
    const TexturePart from{.x = x, .y = 2, .width = 5, .height = 4},
        to{.x = 1, .y = x, .width = 5, .height = 4, .layer = x / 3};
    const std::vector<float> before = bytes_of(flat, from);
    gpu->reset_stats();
    webgpu::to_texture(invert({in(flat, from, DType::u8)})[0], screen.get(), {.part = to});
    EXPECT_EQ(gpu->stats().dispatches, 1u);
    EXPECT_EQ(gpu->stats().kernels_compiled, x == 0 ? 1u : 0u);
    std::vector<float> inverted;
    for (const float value : before) inverted.push_back(255 - value);
    EXPECT_EQ(bytes_of(screen, to), inverted);
  }
}

TEST_P(WebGpuParts, BytesAndHalvesAreThoseOfTheFormat) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  const std::vector<float> expected(bytes.begin(), bytes.end());
  const auto of_format = [&](WGPUTextureFormat format, std::uint32_t side, std::uint32_t size,
                             const std::string& channels, DType dtype, const void* values) {
    const WGPUTexture texture = host->texture(side, side, format, in_and_out, values, size);
    return webgpu::from_texture(*gpu, texture, {.channels = channels, .dtype = dtype});
  };
  EXPECT_EQ(of_format(WGPUTextureFormat_RGBA8Unorm, 8, 4, "RGBA", DType::u8, bytes.data()).read(), expected);
  EXPECT_EQ(of_format(WGPUTextureFormat_RGBA8UnormSrgb, 8, 4, "RGBA", DType::u8, bytes.data()).read(), expected);
  EXPECT_EQ(of_format(WGPUTextureFormat_BGRA8Unorm, 8, 4, "BGRA", DType::u8, bytes.data()).read(), expected);
  EXPECT_EQ(of_format(WGPUTextureFormat_R8Unorm, 16, 1, "R", DType::u8, bytes.data()).read(), expected);
  EXPECT_EQ(of_format(WGPUTextureFormat_RGBA8Uint, 8, 4, "RGBA", DType::u8, bytes.data()).read(), expected);
  const std::vector<float> values{0.1f, 0.2f, -3.3f, 70000.0f};
  const Tensor halves = of_format(WGPUTextureFormat_RGBA32Float, 1, 16, "RGBA", DType::f16, values.data());
  EXPECT_EQ(halves.dtype(), DType::f16);
  std::vector<float> rounded;
  for (const float value : values) rounded.push_back(static_cast<float>(half(value)));
  EXPECT_EQ(halves.read(), rounded);

  // Work on bytes samples the texture and writes the target in one kernel, as work on floats does.
  const WGPUTexture from = host->texture(8, 8, WGPUTextureFormat_RGBA8Unorm, in_and_out, bytes.data(), 4);
  const WGPUTexture to =
      host->texture(8, 8, WGPUTextureFormat_RGBA8Unorm, WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);
  for (const DType dtype : {DType::u8, DType::f16, DType::f32}) {
    gpu->reset_stats();
    webgpu::to_texture(webgpu::from_texture(*gpu, from, {.dtype = dtype}), to);
    EXPECT_EQ(gpu->stats().dispatches, 1u);
    EXPECT_EQ(host->read<std::uint8_t>(to, 4), bytes);
  }
  EXPECT_TESSERA_ERROR(of_format(WGPUTextureFormat_RGBA16Float, 1, 8, "RGBA", DType::u8, values.data()), dtype_mismatch,
                       "0 to 255", "RGBA16Float");
  EXPECT_TESSERA_ERROR(of_format(WGPUTextureFormat_RGBA8Unorm, 1, 4, "RGBA", DType::i32, bytes.data()), dtype_mismatch,
                       "i32");
}

TEST_P(WebGpuParts, SamplesOfAPixelAreAveraged) {
  const WGPUTextureUsage usage = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_RenderAttachment;
  const Texture texture = made(kinds[0], WGPUTextureFormat_RGBA8Unorm, usage, 4);
  draw_samples(texture, 0b0111);
  EXPECT_THAT(in(texture, {.x = 2, .y = 3, .width = 4}).read(), Each(FloatNear(0.75f, 1e-6f)));
  const Texture screen = filled(kinds[0], in_and_out | WGPUTextureUsage_RenderAttachment);
  gpu->reset_stats();
  webgpu::to_texture(in(texture, {}), screen.get());
  EXPECT_EQ(gpu->stats().dispatches, 1u);
  EXPECT_THAT(bytes_of(screen, {}), Each(191));
  EXPECT_TESSERA_ERROR(webgpu::to_texture(gpu->full({height, width}, 1), texture.get()), unsupported, "4 samples");
}

TEST_P(WebGpuParts, DepthAndStencil) {
  const WGPUTextureUsage usage = WGPUTextureUsage_TextureBinding | WGPUTextureUsage_RenderAttachment;
  WGPUTextureDescriptor descriptor{};
  descriptor.usage = usage;
  descriptor.dimension = WGPUTextureDimension_2D;
  descriptor.size = {5, 3, 1};
  descriptor.mipLevelCount = descriptor.sampleCount = 1;
  descriptor.format = WGPUTextureFormat_Depth24PlusStencil8;
  const Texture both = made(descriptor);
  clear_depth(both, 0.25f, 7, true);
  EXPECT_THAT(in(both, {}, DType::f32, "D").read(), Each(FloatNear(0.25f, 1e-6f)));
  EXPECT_THAT(in(both, {.x = 1}, DType::u8, "S").read(), Each(7));
  EXPECT_THAT((in(both, {}, DType::f32, "D") + in(both, {}, DType::f32, "S")).read(), Each(FloatNear(7.25f, 1e-6f)));
  descriptor.format = WGPUTextureFormat_Depth32Float;
  const Texture depth = made(descriptor);
  clear_depth(depth, 0.625f, 0, false);
  EXPECT_THAT(in(depth, {}, DType::f16, "D").read(), Each(0.625f));
  descriptor.sampleCount = 4;
  const Texture samples = made(descriptor);
  clear_depth(samples, 0.125f, 0, false);
  EXPECT_THAT(in(samples, {}, DType::f32, "D").read(), Each(0.125f));
  EXPECT_TESSERA_ERROR(in(depth, {}, DType::f32, "S"), unsupported, "Depth32Float", "\"S\"");
  EXPECT_TESSERA_ERROR(in(depth, {}, DType::u8, "D"), dtype_mismatch, "0 to 255");
  EXPECT_TESSERA_ERROR(in(filled(kinds[0]), {}, DType::f32, "D"), unsupported, "RGBA8Unorm");
}

TEST_P(WebGpuParts, ThatAreNotThereAreRefused) {
  const Texture flat = filled(kinds[0]), layers = filled(kinds[1]), volume = filled(kinds[2]);
  EXPECT_TESSERA_ERROR(in(flat, {.x = 8, .width = 6}), invalid_argument, "8 to 14", "13");
  EXPECT_TESSERA_ERROR(in(flat, {.y = -1}), invalid_argument, "-1");
  EXPECT_TESSERA_ERROR(in(flat, {.height = -2}), invalid_argument, "-2");
  EXPECT_TESSERA_ERROR(in(flat, {.x = 6, .level = 1}), invalid_argument, "6 to 6", "has 6");
  EXPECT_TESSERA_ERROR(in(flat, {.level = 3}), invalid_argument, "level 3", "has 3");
  EXPECT_TESSERA_ERROR(in(flat, {.layer = 1}), invalid_argument, "layer 1");
  EXPECT_TESSERA_ERROR(in(layers, {.layer = 6}), invalid_argument, "layer 6", "has 6");
  EXPECT_TESSERA_ERROR(in(volume, {.level = 1, .layer = 2}), invalid_argument, "slice 2", "has 2");
  const Texture screen = filled(kinds[0], in_and_out | WGPUTextureUsage_RenderAttachment);
  EXPECT_TESSERA_ERROR(webgpu::to_texture(gpu->full({4, 5}, 1), screen.get(), {.part = {.width = 4, .height = 4}}),
                       shape_mismatch, "5 x 4", "4 x 4");
  EXPECT_TESSERA_ERROR(webgpu::to_texture(gpu->full({4, 5}, 1), screen.get(), {.part = {.level = -1}}),
                       invalid_argument, "level -1");
}

TESSERA_ON_WEBGPU_DEVICES(WebGpuParts);

}  // namespace
}  // namespace tessera::test::webgpu_parts_test

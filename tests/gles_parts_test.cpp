// gles::from_texture and gles::to_texture with parts of textures, framebuffers, depth and stencil, and as f16 and u8.
#include <gmock/gmock.h>

#include "support/gles_host.h"

namespace tessera::test::gles_parts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr int width = 13, height = 10, levels = 3;  // 6 x 5 and 3 x 2 texels after level 0

int layers_of(GLenum target) { return target == GL_TEXTURE_2D ? 1 : target == GL_TEXTURE_CUBE_MAP ? 6 : 4; }
// Cubes have squares.
int height_of(GLenum target) { return target == GL_TEXTURE_CUBE_MAP ? width : height; }
int layers_of(GLenum target, int level) {
  return target == GL_TEXTURE_3D ? std::max(layers_of(target) >> level, 1) : layers_of(target);
}

std::uint8_t byte_at(int x, int y, int layer, int level, int channel) {
  return static_cast<std::uint8_t>(x + 13 * y + 31 * layer + 61 * level + 101 * channel);
}

class GlesParts : public OnGlesHost {
 protected:
  // Each texel tells its place.
  GLuint texture(GLenum target) {
    GLuint name = 0;
    gl().GenTextures(1, &name);
    gl().BindTexture(target, name);
    const bool has_layers = target == GL_TEXTURE_2D_ARRAY || target == GL_TEXTURE_3D;
    if (has_layers) gl().TexStorage3D(target, levels, GL_RGBA8, width, height, layers_of(target));
    else gl().TexStorage2D(target, levels, GL_RGBA8, width, height_of(target));
    for (int level = 0; level < levels; ++level)
      for (int layer = 0; layer < layers_of(target, level); ++layer) {
        const int w = width >> level, h = height_of(target) >> level;
        std::vector<std::uint8_t> bytes;
        for (int y = 0; y < h; ++y)
          for (int x = 0; x < w; ++x)
            for (int c = 0; c < 4; ++c) bytes.push_back(byte_at(x, y, layer, level, c));
        if (has_layers)
          gl().TexSubImage3D(target, level, 0, 0, layer, w, h, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes.data());
        else
          gl().TexSubImage2D(
              target == GL_TEXTURE_2D ? target : GL_TEXTURE_CUBE_MAP_POSITIVE_X + static_cast<GLenum>(layer), level, 0,
              0, w, h, GL_RGBA, GL_UNSIGNED_BYTE, bytes.data());
      }
    gl().BindTexture(target, 0);
    host().expect_no_error("making a texture");
    return name;
  }

  static gles::HostTexture part_of(GLuint texture, GLenum target, const TexturePart& part) {
    return {.texture = texture, .width = width, .height = height_of(target), .target = target, .part = part};
  }

  std::vector<std::uint8_t> pixels(GLuint texture, GLenum target, int level, int layer) {
    GLuint name = 0;
    gl().GenFramebuffers(1, &name);
    gl().BindFramebuffer(GL_FRAMEBUFFER, name);
    if (target == GL_TEXTURE_2D_ARRAY || target == GL_TEXTURE_3D)
      gl().FramebufferTextureLayer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, texture, level, layer);
    else
      gl().FramebufferTexture2D(
          GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0,
          target == GL_TEXTURE_2D ? target : GL_TEXTURE_CUBE_MAP_POSITIVE_X + static_cast<GLenum>(layer), texture,
          level);
    gl().BindFramebuffer(GL_FRAMEBUFFER, 0);
    auto values =
        host().pixels<std::uint8_t>(name, width >> level, height_of(target) >> level, GL_RGBA, GL_UNSIGNED_BYTE);
    gl().DeleteFramebuffers(1, &name);
    return values;
  }

  // A framebuffer over renderbuffers with several samples a pixel.
  struct Sampled {
    GLuint framebuffer, colour, depth;
  };
  Sampled sampled(int w, int h, GLenum format, int samples) {
    Sampled made{};
    gl().GenFramebuffers(1, &made.framebuffer);
    gl().GenRenderbuffers(1, &made.colour);
    gl().GenRenderbuffers(1, &made.depth);
    gl().BindFramebuffer(GL_FRAMEBUFFER, made.framebuffer);
    gl().BindRenderbuffer(GL_RENDERBUFFER, made.colour);
    gl().RenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, w, h);
    gl().FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, made.colour);
    gl().BindRenderbuffer(GL_RENDERBUFFER, made.depth);
    gl().RenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH24_STENCIL8, w, h);
    gl().FramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, made.depth);
    gl().BindRenderbuffer(GL_RENDERBUFFER, 0);
    gl().BindFramebuffer(GL_FRAMEBUFFER, 0);
    host().expect_no_error("making a framebuffer");
    return made;
  }
  bool has_stencil_textures() {
    return host().version() >= (host().is_desktop() ? 43 : 31) || host().has_extension("GL_ARB_stencil_texturing");
  }
  void clear(const Sampled& target, int x, int y, int w, int h, float grey, float depth, int stencil = 0) {
    gl().BindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
    gl().Enable(GL_SCISSOR_TEST);
    gl().Scissor(x, y, w, h);
    gl().ClearColor(grey, grey, grey, 1);
    gl().ClearDepthf(depth);
    gl().ClearStencil(stencil);
    gl().Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    gl().Disable(GL_SCISSOR_TEST);
    gl().BindFramebuffer(GL_FRAMEBUFFER, 0);
  }
};

constexpr GLenum targets[] = {GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_3D};
const TexturePart parts[] = {{},
                             {.x = 3, .y = 2, .width = 7, .height = 5},
                             {.x = 12, .y = 9},
                             {.level = 1},
                             {.x = 1, .y = 2, .width = 4, .height = 2, .level = 1},
                             {.level = 2}};

TEST_P(GlesParts, AreRead) {
  for (const GLenum target : targets) {
    const GLuint name = texture(target);
    for (TexturePart part : parts)
      for (const int layer : {0, layers_of(target, part.level) - 1}) {
        part.layer = layer;
        const int w = part.width ? part.width : (width >> part.level) - part.x,
                  h = part.height ? part.height : (height_of(target) >> part.level) - part.y;
        std::vector<float> expected;
        for (int y = part.y; y < part.y + h; ++y)
          for (int x = part.x; x < part.x + w; ++x)
            for (const int c : {2, 1, 0}) expected.push_back(byte_at(x, y, layer, part.level, c));
        gles::HostTexture host_texture = part_of(name, target, part);
        host_texture.channels = "BGR";
        host_texture.dtype = DType::u8;
        const Tensor bytes = gles::from_texture(gpu(), host_texture);
        EXPECT_EQ(bytes.shape(), (Shape{h, w, 3}));
        EXPECT_EQ(bytes.dtype(), DType::u8);
        EXPECT_EQ(bytes.read(), expected) << target << " level " << part.level << " layer " << layer;
        host_texture.dtype = DType::f32;
        const Tensor floats = gles::from_texture(gpu(), host_texture);
        EXPECT_EQ(round(floats * 255.0f).read(), expected);
      }
  }
}

TEST_P(GlesParts, AreWritten) {
  for (const GLenum target : targets) {
    const GLuint name = texture(target);
    for (TexturePart part : parts)
      for (const bool flip_y : {false, true}) {
        part.layer = layers_of(target, part.level) - 1;
        const int w = part.width ? part.width : (width >> part.level) - part.x,
                  h = part.height ? part.height : (height_of(target) >> part.level) - part.y;
        std::vector<std::uint8_t> expected = pixels(name, target, part.level, part.layer);
        const auto others = pixels(name, target, part.level == 0 ? 1 : 0, 0);
        std::vector<float> image;
        for (int y = 0; y < h; ++y)
          for (int x = 0; x < w; ++x) {
            const auto value = static_cast<std::uint8_t>(200 - 3 * x - 11 * y - (flip_y ? 1 : 0));
            image.push_back(value);
            const int row = part.y + (flip_y ? h - 1 - y : y), first = 4 * (row * (width >> part.level) + part.x + x);
            for (int c = 0; c < 4; ++c) expected[static_cast<std::size_t>(first + c)] = c < 3 ? value : 255;
          }
        const Tensor tensor = gpu().tensor({h, w}, image) * (1 / 255.0f);
        gles::to_texture(tensor, part_of(name, target, part), {.flip_y = flip_y});
        EXPECT_EQ(pixels(name, target, part.level, part.layer), expected)
            << target << " level " << part.level << (flip_y ? " flipped" : "");
        EXPECT_EQ(pixels(name, target, part.level == 0 ? 1 : 0, 0), others);
      }
  }
}

// A level of mipmaps from the level before, and a layer from another.
TEST_P(GlesParts, OfOneTextureAreMadeOfEachOther) {
  const GLuint name = texture(GL_TEXTURE_2D_ARRAY);
  const auto in = [&](const TexturePart& part) {
    return gles::from_texture(gpu(), part_of(name, GL_TEXTURE_2D_ARRAY, part));
  };
  const TexturePart even{.width = 12, .layer = 2};
  const Tensor smaller = resize_bilinear(in(even), 5, 6);
  const std::vector<float> expected = smaller.read();
  gles::to_texture(resize_bilinear(in(even), 5, 6), part_of(name, GL_TEXTURE_2D_ARRAY, {.level = 1, .layer = 2}));
  EXPECT_THAT(in({.level = 1, .layer = 2}).read(), Pointwise(FloatNear(0.503f / 255), expected));
  const std::vector<float> before = in({.layer = 3}).read();
  gles::to_texture(1.0f - in({.layer = 3}), part_of(name, GL_TEXTURE_2D_ARRAY, {}));
  const std::vector<float> after = in({}).read();
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], 1 - before[i], 1e-6) << i;
}

// Textures from their first texel on have a kernel, all other parts have one, as sources and as targets, and no size
// has one of its own; frames of other sizes take no more memory.
TEST_P(GlesParts, AndOtherSizesCompileNothing) {
  const GLuint flat = texture(GL_TEXTURE_2D), screen = texture(GL_TEXTURE_2D), layers = texture(GL_TEXTURE_2D_ARRAY);
  const auto frame = [&](GLuint from, GLenum target, const TexturePart& part, const TexturePart& to) {
    const Tensor image = gles::from_texture(gpu(), part_of(from, target, part));
    gles::to_texture(gaussian_blur(image, 0.5f) * 0.5f, part_of(screen, GL_TEXTURE_2D, to));
  };
  frame(flat, GL_TEXTURE_2D, {.x = 1, .width = 5, .height = 4}, {.width = 5, .height = 4});
  frame(flat, GL_TEXTURE_2D, {.x = 1, .width = 5, .height = 4}, {.x = 1, .width = 5, .height = 4});
  gpu().reset_stats();
  frame(flat, GL_TEXTURE_2D, {.width = 5, .height = 4}, {.width = 5, .height = 4});
  const std::uint64_t dispatches = gpu().stats().dispatches;
  frame(layers, GL_TEXTURE_2D_ARRAY, {.width = 5, .height = 4}, {.width = 5, .height = 4});
  EXPECT_EQ(gpu().stats().dispatches, 2 * dispatches) << "no part takes a pass of its own";
  gpu().reset_stats();
  frame(flat, GL_TEXTURE_2D, {.x = 3, .y = 1, .width = 6, .height = 5}, {.x = 1, .y = 4, .width = 6, .height = 5});
  frame(flat, GL_TEXTURE_2D, {.level = 1}, {.x = 2, .width = 6, .height = 5});
  frame(flat, GL_TEXTURE_2D, {.level = 1}, {.level = 1});
  frame(flat, GL_TEXTURE_2D, {}, {});
  frame(layers, GL_TEXTURE_2D_ARRAY, {.x = 2, .y = 3, .width = 4, .height = 6, .layer = 3}, {.width = 4, .height = 6});
  EXPECT_EQ(gpu().stats().kernels_compiled, 0u);
  const std::size_t tensors = gpu().memory().num_tensors;
  const std::uint64_t bytes = gpu().memory().bytes_in_use + gpu().memory().bytes_pooled;
  for (int i = 0; i < 50; ++i) {  // the host makes another texture for each frame
    const int w = 20 + i % 25, h = 30 + i / 25;
    const GLuint names[] = {host().texture(GL_RGBA8, w, h, 0, 0, nullptr),
                            host().texture(GL_RGBA8, w, h, 0, 0, nullptr)};
    gles::to_texture(gles::from_texture(gpu(), {.texture = names[0], .width = w, .height = h}) * 0.5f,
                     {.texture = names[1], .width = w, .height = h});
    gl().DeleteTextures(2, names);
    if (i == 0) gpu().reset_stats();
  }
  EXPECT_EQ(gpu().stats().kernels_compiled, 0u);
  EXPECT_EQ(gpu().memory().bytes_in_use + gpu().memory().bytes_pooled, bytes);
  EXPECT_EQ(gpu().memory().num_tensors, tensors);
}

TEST_P(GlesParts, RunAProgram) {
  const GLuint flat = texture(GL_TEXTURE_2D), screen = texture(GL_TEXTURE_2D);
  const Program invert = Program::record(gpu(), {{{4, 5, 4}, DType::u8}}, [](std::span<const Tensor> in) {
    return std::vector{255.0f - in[0].cast(DType::f32)};
  });
  for (const int x : {0, 3, 6}) {
    gles::HostTexture from = part_of(flat, GL_TEXTURE_2D, {.x = x, .y = 2, .width = 5, .height = 4});
    from.dtype = DType::u8;
    gpu().reset_stats();
    gles::to_texture(invert({gles::from_texture(gpu(), from)})[0] * (1 / 255.0f),
                     part_of(screen, GL_TEXTURE_2D, {.x = 1, .y = x, .width = 5, .height = 4}));
    if (x == 0) continue;
    EXPECT_EQ(gpu().stats().kernels_compiled, 0u);
    const auto values = pixels(screen, GL_TEXTURE_2D, 0, 0);
    EXPECT_EQ(values[static_cast<std::size_t>(4 * (width * x + 1))], 255 - byte_at(x, 2, 0, 0, 0));
  }
  // The program's kernel samples the texture and writes the target: one dispatch.
  const gles::HostTexture from{.texture = flat,
                               .width = width,
                               .height = height,
                               .dtype = DType::u8,
                               .part = {.x = 1, .y = 2, .width = 5, .height = 4}};
  gles::to_texture(invert({gles::from_texture(gpu(), from)})[0],
                   part_of(screen, GL_TEXTURE_2D, {.y = 3, .width = 5, .height = 4}));
  gpu().reset_stats();
  gles::to_texture(invert({gles::from_texture(gpu(), from)})[0],
                   part_of(screen, GL_TEXTURE_2D, {.x = 1, .width = 5, .height = 4}));
  EXPECT_EQ(gpu().stats().dispatches, 1u);
  EXPECT_EQ(gpu().stats().kernels_compiled, 0u);
}

TEST_P(GlesParts, BytesAndHalvesAreThoseOfTheFormat) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  const std::vector<float> expected(bytes.begin(), bytes.end());
  const auto in = [&](GLenum internal, GLenum format, int w, int h, DType dtype, const std::string& channels,
                      const void* values, GLenum type = GL_UNSIGNED_BYTE) {
    const GLuint name = host().texture(internal, w, h, format, type, values);
    return gles::from_texture(
        gpu(), {.texture = name, .width = w, .height = h, .channels = channels, .copy = true, .dtype = dtype});
  };
  EXPECT_EQ(in(GL_RGBA8, GL_RGBA, 8, 8, DType::u8, "RGBA", bytes.data()).read(), expected);
  EXPECT_EQ(in(GL_SRGB8_ALPHA8, GL_RGBA, 8, 8, DType::u8, "RGBA", bytes.data()).read(), expected);
  EXPECT_EQ(in(GL_R8, GL_RED, 16, 16, DType::u8, "R", bytes.data()).read(), expected);
  EXPECT_EQ(in(GL_RGBA8UI, GL_RGBA_INTEGER, 8, 8, DType::u8, "RGBA", bytes.data()).read(), expected);
  const std::vector<float> values{0.1f, 0.2f, -3.3f, 70000.0f};
  const auto halves = in(GL_RGBA32F, GL_RGBA, 1, 1, DType::f16, "RGBA", values.data(), GL_FLOAT);
  EXPECT_EQ(halves.dtype(), DType::f16);
  std::vector<float> rounded;
  for (const float value : values) rounded.push_back(static_cast<float>(half(value)));
  EXPECT_EQ(halves.read(), rounded);

  // Work on bytes samples the texture and writes the target in one kernel, as work on floats does.
  const GLuint from = host().texture(GL_RGBA8, 8, 8, GL_RGBA, GL_UNSIGNED_BYTE, bytes.data()),
               to = host().texture(GL_RGBA8, 8, 8, 0, 0, nullptr);
  for (const DType dtype : {DType::u8, DType::f16, DType::f32}) {
    gpu().reset_stats();
    const Tensor image = gles::from_texture(gpu(), {.texture = from, .width = 8, .height = 8, .dtype = dtype});
    gles::to_texture(image, {.texture = to, .width = 8, .height = 8});
    EXPECT_EQ(gpu().stats().dispatches, 1u);
    EXPECT_EQ(host().pixels<std::uint8_t>(host().framebuffer(to), 8, 8, GL_RGBA, GL_UNSIGNED_BYTE), bytes);
  }
  EXPECT_TESSERA_ERROR(in(GL_RGBA16F, GL_RGBA, 1, 1, DType::u8, "RGBA", values.data(), GL_FLOAT), dtype_mismatch,
                       "0 to 255");
  EXPECT_TESSERA_ERROR(in(GL_RGBA8, GL_RGBA, 1, 1, DType::i32, "RGBA", bytes.data()), dtype_mismatch, "i32");
}

// With functions of OpenGL ES 3.0 alone, the format comes from a framebuffer, and the rest is taken on trust.
TEST_P(GlesParts, AreReadAndWrittenOnPlainOpenGlEs30) {
  const auto hiding = [&](const char* name) {
    return std::string_view(name).starts_with("glGetTexLevelParameter") ? nullptr : host().loader()(name);
  };
  Context plain = gles::adopt_current(hiding, {}, {.check_state = true});
  for (const GLenum target : targets) {
    const GLuint name = texture(target);
    gles::HostTexture part = part_of(name, target, {.x = 2, .y = 1, .level = 1, .layer = layers_of(target, 1) - 1});
    part.dtype = DType::u8;
    const Tensor bytes = gles::from_texture(plain, part);
    EXPECT_EQ(bytes.read()[1], byte_at(2, 1, part.part.layer, 1, 1)) << target;
    gles::to_texture(plain.full(bytes.shape(), 1), part_of(name, target, part.part));
    EXPECT_EQ(gles::from_texture(plain, part).read()[1], 255) << target;
  }
}

TEST_P(GlesParts, DepthAndStencil) {
  const std::vector<std::uint32_t> values{0x80000001, 0xffffffff, 0x00000080, 0x40000007, 0, 0xc0000003};
  const GLuint name = host().texture(GL_DEPTH24_STENCIL8, 3, 2, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, values.data());
  // A host samples its shadow maps with comparisons.
  gl().BindTexture(GL_TEXTURE_2D, name);
  gl().TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
  gl().BindTexture(GL_TEXTURE_2D, 0);
  const auto in = [&](const std::string& channels, DType dtype = DType::f32) {
    return gles::from_texture(gpu(), {.texture = name, .width = 3, .height = 2, .channels = channels, .dtype = dtype});
  };
  EXPECT_THAT(in("D").read(), Pointwise(FloatNear(1e-6f), {0.5f, 1.0f, 0.0f, 0.25f, 0.0f, 0.75f}));
  if (!has_stencil_textures()) {
    EXPECT_TESSERA_ERROR(in("S"), unsupported, "3.1", "4.3");
  } else {
    EXPECT_THAT(in("S").read(), ElementsAre(1, 255, 128, 7, 0, 3));
    EXPECT_THAT(in("S", DType::u8).read(), ElementsAre(1, 255, 128, 7, 0, 3));
    EXPECT_THAT((in("D") * 4.0f + in("S")).read(),
                Pointwise(FloatNear(1e-4f), {3.0f, 259.0f, 128.0f, 8.0f, 0.0f, 6.0f}));
  }
  const GLuint colours = host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr);
  EXPECT_TESSERA_ERROR(
      gles::from_texture(gpu(),
                         {.texture = colours, .width = 3, .height = 2, .channels = "D", .internal_format = GL_RGBA8}),
      invalid_argument, "GL_RGBA8", "\"D\"");
  EXPECT_TESSERA_ERROR(in("D", DType::u8), dtype_mismatch, "0 to 255");
}

TEST_P(GlesParts, FramebuffersAreResolved) {
  const Sampled made = sampled(9, 6, GL_RGBA8, 4);
  clear(made, 0, 0, 9, 6, 0.2f, 0.25f);
  clear(made, 4, 2, 3, 3, 0.8f, 0.75f);
  const gles::HostFramebuffer all{made.framebuffer, 9, 6};
  const GlState state = state_of(gl());
  const Tensor colours = gles::from_texture(gpu(), all, {.channels = "RG", .dtype = DType::u8});
  std::vector<float> expected;
  for (int i = 0; i < 9 * 6; ++i) {
    const bool is_inside = i % 9 >= 4 && i % 9 < 7 && i / 9 >= 2 && i / 9 < 5;
    expected.insert(expected.end(), 2, is_inside ? 204.0f : 51.0f);
  }
  EXPECT_EQ(colours.read(), expected);
  const Tensor part = gles::from_texture(gpu(), {made.framebuffer, 2, 2, 3, 1}, {.channels = "R"});
  EXPECT_THAT((part + 0.0f).read(), Pointwise(FloatNear(1e-6f), {0.2f, 0.2f, 0.2f, 0.8f}));
  const Tensor depth = gles::from_texture(gpu(), {made.framebuffer, 2, 1, 3, 2}, {.channels = "D"});
  EXPECT_THAT(depth.read(), Pointwise(FloatNear(1e-6f), {0.25f, 0.75f}));
  EXPECT_EQ(difference(state, state_of(gl())), "");
  // It sees what is drawn until then, and one kernel takes it to a texture.
  const Tensor later = gles::from_texture(gpu(), all) * 0.5f;
  clear(made, 0, 0, 9, 6, 1, 0);
  const GLuint screen = host().texture(GL_RGBA8, 9, 6, 0, 0, nullptr);
  gpu().reset_stats();
  gles::to_texture(later, {.texture = screen, .width = 9, .height = 6});
  EXPECT_EQ(gpu().stats().dispatches, 1u);
  EXPECT_EQ(host().pixels<std::uint8_t>(host().framebuffer(screen), 9, 6, GL_RGBA, GL_UNSIGNED_BYTE)[4], 128);
  EXPECT_TESSERA_ERROR(gles::from_texture(gpu(), gles::HostFramebuffer{made.framebuffer, 10, 6}), invalid_argument,
                       "9 x 6", "10 x 6");
  EXPECT_TESSERA_ERROR(gles::from_texture(gpu(), gles::HostFramebuffer{999, 9, 6}), invalid_argument, "999");
  EXPECT_TESSERA_ERROR(gles::from_texture(gpu(), gles::HostFramebuffer{made.framebuffer, 9, 6, -1, 0}),
                       invalid_argument, "-1");
  host().expect_no_error("reading framebuffers");
}

TEST_P(GlesParts, StencilOfFramebuffers) {
  const std::vector<std::uint32_t> values{0x80000001, 0xffffffff, 0x00000080, 0x40000007, 0, 0xc0000003};
  const GLuint attached =
      host().texture(GL_DEPTH24_STENCIL8, 3, 2, GL_DEPTH_STENCIL, GL_UNSIGNED_INT_24_8, values.data());
  const GLuint of_texture = host().framebuffer(host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr));
  gl().BindFramebuffer(GL_FRAMEBUFFER, of_texture);
  gl().FramebufferTexture2D(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_TEXTURE_2D, attached, 0);
  gl().BindFramebuffer(GL_FRAMEBUFFER, 0);
  const Sampled made = sampled(9, 6, GL_RGBA8, 4);
  clear(made, 0, 0, 9, 6, 0, 0.25f, 200);
  clear(made, 4, 2, 3, 3, 0, 0.75f, 7);
  const auto in = [&](const gles::HostFramebuffer& from, const char* channels, DType dtype = DType::f32) {
    return gles::from_texture(gpu(), from, {.channels = channels, .dtype = dtype});
  };
  EXPECT_THAT(in({of_texture, 3, 2}, "D").read(), Pointwise(FloatNear(1e-6f), {0.5f, 1.0f, 0.0f, 0.25f, 0.0f, 0.75f}));
  if (!has_stencil_textures()) {
    EXPECT_TESSERA_ERROR(in({of_texture, 3, 2}, "S"), unsupported, "3.1", "4.3");
    return;
  }
  EXPECT_THAT(in({of_texture, 3, 2}, "S").read(), ElementsAre(1, 255, 128, 7, 0, 3));
  EXPECT_THAT(in({made.framebuffer, 2, 1, 3, 2}, "S", DType::u8).read(), ElementsAre(200, 7));
  // Depth and stencil in one kernel, and depth again from what the stencil was copied into.
  const gles::HostFramebuffer part{made.framebuffer, 2, 1, 3, 2};
  EXPECT_THAT((in(part, "D") * 4.0f + in(part, "S")).read(), Pointwise(FloatNear(1e-4f), {201.0f, 10.0f}));
  EXPECT_THAT(in(part, "D").read(), Pointwise(FloatNear(1e-6f), {0.25f, 0.75f}));
  EXPECT_TESSERA_ERROR(in({host().framebuffer(host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr)), 3, 2}, "S"),
                       invalid_argument, "no attachment", "\"S\"");
  host().expect_no_error("reading stencil");
}

// OpenGL before 4.2, as macOS has it, makes textures in another way. The host's buffer is left alone there.
TEST_P(GlesParts, FramebuffersAreCopiedWithoutTextureStorage) {
  if (!host().is_desktop()) GTEST_SKIP() << "OpenGL ES always has glTexStorage2D";
  const auto hiding = [&](const char* name) {
    return std::string_view(name) == "glTexStorage2D" ? nullptr : host().loader()(name);
  };
  Context plain = gles::adopt_current(hiding, {}, {.check_state = true});
  const Sampled made = sampled(9, 6, GL_RGBA8, 4);
  clear(made, 0, 0, 9, 6, 0.2f, 0.25f);
  GLuint buffer = 0;
  gl().GenBuffers(1, &buffer);
  gl().BindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer);
  const gles::HostFramebuffer part{made.framebuffer, 2, 1, 3, 2};
  EXPECT_THAT(gles::from_texture(plain, part, {.channels = "R", .dtype = DType::u8}).read(), ElementsAre(51, 51));
  EXPECT_THAT(gles::from_texture(plain, part, {.channels = "D"}).read(), Pointwise(FloatNear(1e-6f), {0.25f, 0.25f}));
  gl().BindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  host().expect_no_error("copies without texture storage");
}

TEST_P(GlesParts, SamplesOfAPixelAreAveraged) {
  const Sampled made = sampled(3, 2, GL_RGBA8, 4);
  clear(made, 0, 0, 3, 2, 0, 1);
  gl().Enable(GL_SAMPLE_COVERAGE);
  gl().SampleCoverage(0.5f, GL_FALSE);
  const GLuint white = host().program(
      "#version 300 es\nprecision highp float;\nout vec4 colour;\nvoid main() { colour = vec4(1.0); }\n");
  host().draw(white, made.framebuffer, 3, 2);
  gl().Disable(GL_SAMPLE_COVERAGE);
  gl().SampleCoverage(1, GL_FALSE);
  const Tensor resolved = gles::from_texture(gpu(), gles::HostFramebuffer{made.framebuffer, 3, 2}, {.channels = "R"});
  EXPECT_THAT(resolved.read(), ::testing::Each(::testing::FloatNear(0.5f, 0.01f)));
}

TEST_P(GlesParts, ThatAreNotThereAreRefused) {
  const GLuint flat = texture(GL_TEXTURE_2D), cube = texture(GL_TEXTURE_CUBE_MAP), volume = texture(GL_TEXTURE_3D);
  const auto in = [&](GLuint name, GLenum target, const TexturePart& part) {
    return gles::from_texture(gpu(), part_of(name, target, part));
  };
  EXPECT_TESSERA_ERROR(in(flat, GL_TEXTURE_2D, {.x = 8, .width = 6}), invalid_argument, "8 to 14", "13");
  EXPECT_TESSERA_ERROR(in(flat, GL_TEXTURE_2D, {.y = -1}), invalid_argument, "-1");
  EXPECT_TESSERA_ERROR(in(flat, GL_TEXTURE_2D, {.height = -2}), invalid_argument, "-2");
  EXPECT_TESSERA_ERROR(in(flat, GL_TEXTURE_2D, {.x = 6, .level = 1}), invalid_argument, "6 to 6", "has 6");
  EXPECT_TESSERA_ERROR(in(flat, GL_TEXTURE_2D, {.level = 7}), invalid_argument, "level 7");
  EXPECT_TESSERA_ERROR(in(flat, GL_TEXTURE_2D, {.layer = 1}), invalid_argument, "layer 1", "1 of them");
  EXPECT_TESSERA_ERROR(in(cube, GL_TEXTURE_CUBE_MAP, {.layer = 6}), invalid_argument, "face 6");
  EXPECT_TESSERA_ERROR(in(volume, GL_TEXTURE_3D, {.layer = -1}), invalid_argument, "slice -1");
  EXPECT_TESSERA_ERROR(in(flat, GL_TEXTURE_3D, {}), invalid_argument, "not a GL_TEXTURE_3D");
  EXPECT_TESSERA_ERROR(in(flat, 0x0DE0, {}), invalid_argument, "GL_TEXTURE_2D_ARRAY");
  const Tensor image = gpu().full({4, 5, 3}, 0.5f);
  EXPECT_TESSERA_ERROR(gles::to_texture(image, part_of(flat, GL_TEXTURE_2D, {.width = 4, .height = 4})), shape_mismatch,
                       "5 x 4", "4 x 4");
  EXPECT_TESSERA_ERROR(gles::to_texture(image, part_of(flat, GL_TEXTURE_2D, {.width = 5, .height = 4, .layer = 1})),
                       invalid_argument, "layer 1");
  gl().BindTexture(GL_TEXTURE_2D, flat);
  gl().TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_BASE_LEVEL, 1);
  gl().BindTexture(GL_TEXTURE_2D, 0);
  EXPECT_TESSERA_ERROR(in(flat, GL_TEXTURE_2D, {}), invalid_argument, "level 0", "1");
  EXPECT_EQ(round(in(flat, GL_TEXTURE_2D, {.level = 2}) * 255.0f).read()[1], byte_at(0, 0, 0, 2, 1));
  host().expect_no_error("parts that are not there");
}

TESSERA_ON_GLES_DEVICES(GlesParts);

}  // namespace
}  // namespace tessera::test::gles_parts_test

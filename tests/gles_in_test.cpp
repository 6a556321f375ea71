// gles::from_texture: textures of every kind that a host has.
#include <gmock/gmock.h>

#include "support/gles_host.h"

namespace tessera::test::gles_in_test {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::Pointwise;

class GlesIn : public OnGlesHost {
 protected:
  template <class T>
  Tensor imported(GLenum internal_format, int width, int height, GLenum format, GLenum type,
                  const std::vector<T>& values, const std::string& channels = "RGBA") {
    const GLuint texture = host().texture(internal_format, width, height, format, type, values.data());
    return gles::from_texture(gpu(), {.texture = texture, .width = width, .height = height, .channels = channels});
  }
};

const std::vector<float> six_texels{0.5f, 1,  2,  3,  4,  5.25f, -6, 7,  8,  9,  10, 11,
                                    12,   13, 14, 15, 16, 17,    18, 19, 20, 21, 22, 23};

TEST_P(GlesIn, DenseFloatsAreReadInPlace) {
  const GLuint texture = host().texture(GL_RGBA32F, 3, 2, GL_RGBA, GL_FLOAT, six_texels.data());
  gpu().reset_stats();
  {
    const Tensor tensor = gles::from_texture(gpu(), {.texture = texture, .width = 3, .height = 2});
    EXPECT_EQ(tensor.shape(), (Shape{2, 3, 4}));
    EXPECT_TRUE(tensor.is_computed());
    EXPECT_EQ(gpu().memory().bytes_external, 96u);
    EXPECT_EQ(gpu().memory().bytes_in_use, 0u);
    EXPECT_EQ(tensor.read(), six_texels);
    EXPECT_EQ(gpu().stats().dispatches, 0u);
    // It is the host's own memory: what the host writes there is what is read next.
    gl().BindTexture(GL_TEXTURE_2D, texture);
    const float other[] = {100, 200, 300, 400};
    gl().TexSubImage2D(GL_TEXTURE_2D, 0, 1, 0, 1, 1, GL_RGBA, GL_FLOAT, other);
    gl().BindTexture(GL_TEXTURE_2D, 0);
    EXPECT_EQ((tensor * 2.0f).read()[4], 200);
    EXPECT_EQ(gles::data_to_gpu(tensor).texture, texture);
  }
  gpu().trim();
  EXPECT_EQ(gpu().memory().bytes_external, 0u);
  EXPECT_TRUE(gl().IsTexture(texture));  // never deleted
}

TEST_P(GlesIn, CopiesAreCopies) {
  const GLuint texture = host().texture(GL_RGBA32F, 3, 2, GL_RGBA, GL_FLOAT, six_texels.data());
  gpu().reset_stats();
  const Tensor tensor = gles::from_texture(gpu(), {.texture = texture, .width = 3, .height = 2, .copy = true});
  EXPECT_FALSE(tensor.is_computed());
  EXPECT_EQ(gpu().memory().bytes_external, 0u);
  tensor.compute();
  EXPECT_EQ(gpu().stats().dispatches, 1u);
  gl().DeleteTextures(1, &texture);
  EXPECT_EQ(tensor.read(), six_texels);
}

TEST_P(GlesIn, TakesAnyOrderOfChannels) {
  const GLuint texture = host().texture(GL_RGBA32F, 3, 2, GL_RGBA, GL_FLOAT, six_texels.data());
  for (const std::string channels : {"R", "A", "BG", "RB", "BGR", "GBA", "ABGR", "BGRA"}) {
    const Tensor tensor =
        gles::from_texture(gpu(), {.texture = texture, .width = 3, .height = 2, .channels = channels});
    std::vector<float> expected;
    for (std::size_t texel = 0; texel < 6; ++texel)
      for (const char channel : channels) expected.push_back(six_texels[4 * texel + std::string("RGBA").find(channel)]);
    EXPECT_EQ(tensor.shape(), (Shape{2, 3, static_cast<std::int64_t>(channels.size())}));
    EXPECT_EQ(tensor.read(), expected) << channels;
  }
  for (const char* channels : {"", "RR", "RGBX", "rgb", "RGBAR"})
    EXPECT_TESSERA_ERROR(gles::from_texture(gpu(), {.texture = texture, .width = 3, .height = 2, .channels = channels}),
                         invalid_argument, "channels");
}

TEST_P(GlesIn, ReadsNormalisedAndHalfFormats) {
  const std::vector<std::uint8_t> bytes{0, 51, 102, 255, 153, 204, 1, 128};
  std::vector<float> expected;
  for (const std::uint8_t byte : bytes) expected.push_back(static_cast<float>(byte) / 255);
  const auto near = [&](const std::vector<float>& values) { return Pointwise(FloatNear(1e-6f), values); };
  EXPECT_THAT(imported(GL_RGBA8, 2, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes).read(), near(expected));
  EXPECT_THAT(imported(GL_R8, 8, 1, GL_RED, GL_UNSIGNED_BYTE, bytes, "R").read(), near(expected));
  EXPECT_THAT(imported(GL_RG8, 2, 2, GL_RG, GL_UNSIGNED_BYTE, bytes, "RG").read(), near(expected));
  const std::vector<std::uint8_t> three(bytes.begin(), bytes.begin() + 6);
  EXPECT_THAT(imported(GL_RGB8, 1, 2, GL_RGB, GL_UNSIGNED_BYTE, three, "RGB").read(),
              near({expected.begin(), expected.begin() + 6}));
  // Components that a format lacks are as a shader sees them: 0, and 1 for alpha.
  EXPECT_THAT(imported(GL_R8, 1, 1, GL_RED, GL_UNSIGNED_BYTE, std::vector<std::uint8_t>{255}).read(),
              ElementsAre(1, 0, 0, 1));
  EXPECT_THAT(imported(GL_RGBA8_SNORM, 1, 1, GL_RGBA, GL_BYTE, std::vector<std::int8_t>{127, -127, 0, -128}).read(),
              ElementsAre(1, -1, 0, -1));
  // 188 is the middle between black and white.
  EXPECT_THAT(
      imported(GL_SRGB8_ALPHA8, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, std::vector<std::uint8_t>{188, 255, 0, 51}).read(),
      Pointwise(FloatNear(3e-3f), {0.5029f, 1.0f, 0.0f, 0.2f}));
  EXPECT_THAT(imported(GL_RGBA16F, 3, 2, GL_RGBA, GL_FLOAT, six_texels).read(), ElementsAreArray(six_texels));
  EXPECT_THAT(imported(GL_R16F, 6, 4, GL_RED, GL_FLOAT, six_texels, "R").read(), ElementsAreArray(six_texels));
  EXPECT_THAT(imported(GL_RG32F, 6, 2, GL_RG, GL_FLOAT, six_texels, "RG").read(), ElementsAreArray(six_texels));
  EXPECT_THAT(imported(GL_RGB32F, 4, 2, GL_RGB, GL_FLOAT, six_texels, "RGB").read(), ElementsAreArray(six_texels));
  EXPECT_THAT(
      imported(GL_DEPTH_COMPONENT32F, 2, 1, GL_DEPTH_COMPONENT, GL_FLOAT, std::vector<float>{0.25f, 0.75f}, "R").read(),
      ElementsAre(0.25f, 0.75f));
}

TEST_P(GlesIn, ReadsIntegerFormats) {
  const std::vector<std::uint8_t> bytes{0, 1, 127, 255};
  EXPECT_THAT(imported(GL_RGBA8UI, 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, bytes).read(), ElementsAre(0, 1, 127, 255));
  EXPECT_THAT(imported(GL_R8UI, 2, 2, GL_RED_INTEGER, GL_UNSIGNED_BYTE, bytes, "R").read(),
              ElementsAre(0, 1, 127, 255));
  const std::vector<std::int32_t> ints{-5, 70000, 0, 3};
  EXPECT_THAT(imported(GL_RGBA32I, 1, 1, GL_RGBA_INTEGER, GL_INT, ints).read(), ElementsAre(-5, 70000, 0, 3));
  EXPECT_THAT(imported(GL_RG32I, 2, 1, GL_RG_INTEGER, GL_INT, ints, "GR").read(), ElementsAre(70000, -5, 3, 0));
}

// With functions of OpenGL ES 3.0 alone, the format comes from a framebuffer.
TEST_P(GlesIn, FindsFormatsOnPlainOpenGlEs30) {
  const auto hiding = [&](const char* name) {
    return std::string_view(name).starts_with("glGetTexLevelParameter") ? nullptr : host().loader()(name);
  };
  Context plain = gles::adopt_current(hiding, {}, {.check_state = true});
  const auto in = [&](GLenum internal, GLenum format, GLenum type, const auto& values, int width,
                      std::string channels) {
    const GLuint texture = host().texture(internal, width, 1, format, type, values.data());
    return gles::from_texture(plain, {.texture = texture, .width = width, .height = 1, .channels = channels});
  };
  EXPECT_THAT(in(GL_RGBA32F, GL_RGBA, GL_FLOAT, six_texels, 6, "RGBA").read(), ElementsAreArray(six_texels));
  EXPECT_EQ(plain.stats().dispatches, 0u);
  const std::vector<std::uint8_t> bytes{0, 51, 102, 255};
  EXPECT_THAT(in(GL_RGBA8, GL_RGBA, GL_UNSIGNED_BYTE, bytes, 1, "AR").read(), ElementsAre(1, 0));
  EXPECT_THAT(in(GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, bytes, 1, "RGBA").read(), ElementsAre(0, 51, 102, 255));
  EXPECT_THAT(in(GL_R32I, GL_RED_INTEGER, GL_INT, std::vector<GLint>{-1, 7}, 2, "R").read(), ElementsAre(-1, 7));
  EXPECT_THAT(in(GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, bytes, 1, "R").read(), ElementsAre(0));
  EXPECT_THAT(in(GL_RGBA16F, GL_RGBA, GL_FLOAT, six_texels, 6, "RGBA").read(), ElementsAreArray(six_texels));
  EXPECT_THAT(in(GL_RGB9_E5, GL_RGB, GL_FLOAT, std::vector<float>{1, 2, 4}, 1, "RGB").read(), ElementsAre(1, 2, 4));
  // The host may say it itself.
  const GLuint texture = host().texture(GL_RGBA8UI, 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, bytes.data());
  EXPECT_THAT(
      gles::from_texture(plain, {.texture = texture, .width = 1, .height = 1, .internal_format = GL_RGBA8UI}).read(),
      ElementsAre(0, 51, 102, 255));
  host().expect_no_error("finding formats");
}

// Filters, swizzles and samplers of the host change what a fetch gives, or must not.
TEST_P(GlesIn, IgnoresFiltersAndFollowsSwizzles) {
  GLuint texture = 0;
  gl().GenTextures(1, &texture);
  gl().BindTexture(GL_TEXTURE_2D, texture);
  gl().TexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, 3, 2, 0, GL_RGBA, GL_FLOAT, six_texels.data());  // mipmap incomplete
  gl().BindTexture(GL_TEXTURE_2D, 0);
  const auto in = [&] { return gles::from_texture(gpu(), {.texture = texture, .width = 3, .height = 2}); };
  EXPECT_EQ((in() + 0.0f).read(), six_texels);
  gl().BindTexture(GL_TEXTURE_2D, texture);
  gl().TexParameteri(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_R, GL_BLUE);
  gl().BindTexture(GL_TEXTURE_2D, 0);
  const auto swizzled = in().read();
  EXPECT_EQ(swizzled[0], 2);
  EXPECT_EQ(swizzled[4], -6);
}

// What the host has rendered becomes a tensor, with no copy to the host's memory.
TEST_P(GlesIn, ImportsWhatTheHostRendered) {
  const GLuint program = host().program(
      "#version 300 es\nprecision highp float; out vec4 c;\n"
      "void main() { c = vec4(gl_FragCoord.xy - 0.5, 10.0, 1.0) / 255.0; }");
  const GLuint texture = host().texture(GL_RGBA8, 5, 4, 0, 0, nullptr);
  host().draw(program, host().framebuffer(texture), 5, 4);
  gpu().reset_stats();
  const Tensor frame = gles::from_texture(gpu(), {.texture = texture, .width = 5, .height = 4, .channels = "RG"});
  const Tensor doubled = frame * 510.0f;
  doubled.compute();
  EXPECT_EQ(gpu().stats().submits, 1u);
  EXPECT_EQ(gpu().stats().dispatches, 1u);  // which samples the texture itself
  EXPECT_EQ(gpu().stats().bytes_downloaded, 0u);
  const auto values = doubled.read();
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 5; ++x) {
      EXPECT_NEAR(values[static_cast<std::size_t>(2 * (5 * y + x))], 2 * x, 1e-3);
      EXPECT_NEAR(values[static_cast<std::size_t>(2 * (5 * y + x) + 1)], 2 * y, 1e-3);
    }
}

TEST_P(GlesIn, TellsWhatIsWrongAndWorksOn) {
  const GLuint texture = host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr);
  const auto in = [&](GLuint name, int width, int height) {
    return gles::from_texture(gpu(), {.texture = name, .width = width, .height = height});
  };
  EXPECT_TESSERA_ERROR(in(0, 3, 2), invalid_argument, "from_texture", "0 is not");
  EXPECT_TESSERA_ERROR(in(12345, 3, 2), invalid_argument, "12345 is not");
  EXPECT_TESSERA_ERROR(in(texture, 0, 2), invalid_argument, "0 x 2");
  EXPECT_TESSERA_ERROR(in(texture, 3, -2), invalid_argument, "3 x -2");
  EXPECT_TESSERA_ERROR(in(texture, 1 << 20, 1), invalid_argument, "1048576");
  EXPECT_TESSERA_ERROR(in(texture, 2, 3), invalid_argument, "has 3 x 2 texels, not 2 x 3");
  GLuint cube = 0;
  gl().GenTextures(1, &cube);
  gl().BindTexture(GL_TEXTURE_CUBE_MAP, cube);
  gl().TexStorage2D(GL_TEXTURE_CUBE_MAP, 1, GL_RGBA8, 2, 2);
  EXPECT_TESSERA_ERROR(in(cube, 2, 2), invalid_argument, "not a GL_TEXTURE_2D");
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  EXPECT_TESSERA_ERROR(gles::from_texture(cpu, {.texture = texture, .width = 3, .height = 2}), wrong_backend, "cpu");
  if (!gl().OES_EGL_image_external_essl3)
    EXPECT_TESSERA_ERROR(
        gles::from_texture(gpu(), {.texture = texture, .width = 3, .height = 2, .target = GlesHost::texture_external}),
        unsupported, "GL_OES_EGL_image_external_essl3");
  host().expect_no_error("failed imports");
  EXPECT_EQ(in(texture, 3, 2).read().size(), 24u);
}

TEST_P(GlesIn, NoticesDeletedTextures) {
  GLuint texture = host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr);
  const Tensor later = gles::from_texture(gpu(), {.texture = texture, .width = 3, .height = 2}) + 1.0f;
  gl().DeleteTextures(1, &texture);
  EXPECT_TESSERA_ERROR(later.compute(), invalid_argument, "no longer");
  EXPECT_TESSERA_ERROR(later.read(), invalid_argument, "no longer");

  texture = host().texture(GL_RGBA32F, 3, 2, GL_RGBA, GL_FLOAT, six_texels.data());
  const Tensor borrowed = gles::from_texture(gpu(), {.texture = texture, .width = 3, .height = 2});
  gl().DeleteTextures(1, &texture);
  EXPECT_TESSERA_ERROR((borrowed + 1.0f).read(), invalid_argument, "deleted");
  EXPECT_TESSERA_ERROR(borrowed.read(), invalid_argument, "deleted");
  EXPECT_EQ((gpu().full({3}, 1) + 1.0f).read(), std::vector<float>(3, 2));
  host().expect_no_error("deleted textures");
}

TEST_P(GlesIn, ReadsExternalTextures) {
  const std::vector<std::uint8_t> bytes{0, 51, 102, 255, 255, 0, 0, 51};
  const GLuint external =
      host().external_texture(host().texture(GL_RGBA8, 2, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes.data()));
  if (!external) GTEST_SKIP() << "this driver makes no external texture of a 2D texture";
  const Tensor tensor = gles::from_texture(
      gpu(), {.texture = external, .width = 2, .height = 1, .channels = "BA", .target = GlesHost::texture_external});
  EXPECT_THAT(tensor.read(), Pointwise(FloatNear(1e-6f), {0.4f, 1.0f, 0.0f, 0.2f}));
  EXPECT_TESSERA_ERROR(
      gles::to_texture(tensor, {.texture = external, .width = 2, .height = 1, .target = GlesHost::texture_external}),
      invalid_argument, "external");
}

TESSERA_ON_GLES_DEVICES(GlesIn);

}  // namespace
}  // namespace tessera::test::gles_in_test

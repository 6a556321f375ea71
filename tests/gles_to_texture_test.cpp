// gles::to_texture: images into textures and framebuffers of the host's.
#include <gmock/gmock.h>

#include "support/gles_host.h"
#include "support/histories.h"

namespace tessera::test::gles_to_texture_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatNear;
using ::testing::Pointwise;

using Bytes = std::vector<std::uint8_t>;

class GlesToTexture : public OnGlesHost {
 protected:
  Bytes written(const Tensor& image, int width, int height, GLenum format = GL_RGBA8, bool flip_y = false) {
    const GLuint texture = host().texture(format, width, height, 0, 0, nullptr);
    gles::to_texture(image, {.texture = texture, .width = width, .height = height}, {.flip_y = flip_y});
    return host().pixels<std::uint8_t>(host().framebuffer(texture), width, height, GL_RGBA, GL_UNSIGNED_BYTE);
  }
};

TEST_P(GlesToTexture, WritesOneToFourChannels) {
  const Tensor grey = gpu().tensor({1, 2}, {0.2f, 1.0f});
  const Bytes expected{51, 51, 51, 255, 255, 255, 255, 255};
  EXPECT_EQ(written(grey, 2, 1), expected);
  EXPECT_EQ(written(grey.reshape({1, 2, 1}), 2, 1), expected);
  EXPECT_EQ(written(grey.reshape({1, 1, 2, 1}), 2, 1), expected);
  EXPECT_THAT(written(gpu().tensor({1, 2, 2}, {0.2f, 0.4f, 0.6f, 0.8f}), 2, 1),
              ElementsAre(51, 102, 0, 255, 153, 204, 0, 255));
  EXPECT_THAT(written(gpu().tensor({2, 1, 3}, {0.2f, 0.4f, 0.6f, 0.8f, 1.0f, 0.0f}), 1, 2),
              ElementsAre(51, 102, 153, 255, 204, 255, 0, 255));
  // Clamped.
  EXPECT_THAT(written(gpu().tensor({1, 1, 4}, {-1.0f, 0.4f, 7.0f, 0.2f}), 1, 1), ElementsAre(0, 102, 255, 51));
}

TEST_P(GlesToTexture, TakesBytesAndHalves) {
  const Bytes bytes{0, 1, 2, 127, 128, 200, 254, 255};
  EXPECT_EQ(written(gpu().tensor({1, 2, 4}, bytes), 2, 1), bytes);
  EXPECT_THAT(written(gpu().tensor({1, 1, 4}, {0.2f, 0.4f, 0.6f, 0.8f}).cast(DType::f16), 1, 1),
              ElementsAre(51, 102, 153, 204));
  EXPECT_TESSERA_ERROR(written(gpu().zeros({1, 1, 4}, DType::i32), 1, 1), dtype_mismatch, "i32");
}

TEST_P(GlesToTexture, FlipsOnRequest) {
  const Tensor rows = gpu().tensor({3, 1}, {0.2f, 0.4f, 0.6f});
  const auto up = written(rows, 1, 3, GL_RGBA8, true), down = written(rows, 1, 3);
  EXPECT_EQ((Bytes{up[0], up[4], up[8]}), (Bytes{153, 102, 51}));
  EXPECT_EQ((Bytes{down[0], down[4], down[8]}), (Bytes{51, 102, 153}));
}

TEST_P(GlesToTexture, WritesEveryFormat) {
  const Tensor image = gpu().tensor({1, 1, 4}, {0.2f, 0.5029f, 1.0f, 0.8f});
  EXPECT_THAT(written(image, 1, 1, GL_R8), ElementsAre(51, 0, 0, 255));
  EXPECT_THAT(written(image, 1, 1, GL_RG8), ElementsAre(51, 128, 0, 255));
  EXPECT_NEAR(written(image, 1, 1, GL_RGB565)[0], 51, 4);
  EXPECT_NEAR(written(image, 1, 1, GL_SRGB8_ALPHA8)[1], 188, 1);  // encoded
  for (const GLenum format : {GL_RGBA16F, GL_RGBA32F}) {
    const GLuint texture = host().texture(format, 1, 1, 0, 0, nullptr);
    gles::to_texture(image * 10.0f, {.texture = texture, .width = 1, .height = 1});
    EXPECT_THAT(host().pixels<float>(host().framebuffer(texture), 1, 1, GL_RGBA, GL_FLOAT),
                Pointwise(FloatNear(0.01f), {2.0f, 5.029f, 10.0f, 8.0f}));
  }
  // Integer formats get the numbers.
  const GLuint counts = host().texture(GL_RGBA8UI, 1, 1, 0, 0, nullptr);
  gles::to_texture(gpu().tensor({1, 1, 3}, Bytes{7, 200, 255}), {.texture = counts, .width = 1, .height = 1});
  EXPECT_THAT(host().pixels<GLuint>(host().framebuffer(counts), 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_INT),
              ElementsAre(7, 200, 255, 1));
  const GLuint signs = host().texture(GL_RGBA32I, 1, 1, 0, 0, nullptr);
  gles::to_texture(image * -1000.0f, {.texture = signs, .width = 1, .height = 1});
  EXPECT_THAT(host().pixels<GLint>(host().framebuffer(signs), 1, 1, GL_RGBA_INTEGER, GL_INT),
              ElementsAre(-200, -503, -1000, -800));
}

TEST_P(GlesToTexture, WritesPartsOfTensors) {
  const Tensor whole = gpu().tensor({4, 1, 3}, {0, 0, 0, 0.2f, 0.4f, 0.6f, 0.8f, 1, 0, 1, 1, 1}) * 1.0f;
  whole.compute();
  EXPECT_THAT(written(slice(whole, {1, 0, 0}, {2, 1, 3}), 1, 2), ElementsAre(51, 102, 153, 255, 204, 255, 0, 255));
  // The same before it is computed.
  const Tensor lazy = gpu().tensor({4, 1, 3}, {0, 0, 0, 0.2f, 0.4f, 0.6f, 0.8f, 1, 0, 1, 1, 1}) * 1.0f;
  EXPECT_THAT(written(slice(lazy, {1, 0, 0}, {2, 1, 3}), 1, 2), ElementsAre(51, 102, 153, 255, 204, 255, 0, 255));
}

TEST_P(GlesToTexture, IsPartOfTheComputation) {
  const GLuint texture = host().texture(GL_RGBA8, 2, 2, 0, 0, nullptr);
  const Tensor image = gpu().tensor({2, 2, 4}, std::vector<float>(16, 0.5f)).compute();
  gpu().reset_stats();
  const Tensor result = image * 2.0f;
  gles::to_texture(result, {.texture = texture, .width = 2, .height = 2});
  EXPECT_EQ(gpu().stats().submits, 1u);
  EXPECT_EQ(gpu().stats().dispatches, 1u);  // which draws to the texture itself
  EXPECT_EQ(gpu().stats().bytes_downloaded, 0u);
  EXPECT_FALSE(result.is_computed());
  EXPECT_THAT(result.read(), ::testing::Each(1.0f));
}

// A part of a framebuffer, with draw buffers of the host's own choice, which stay so.
TEST_P(GlesToTexture, WritesIntoFramebuffers) {
  const GLuint framebuffer = host().framebuffer(host().texture(GL_RGBA8, 4, 4, 0, 0, nullptr));
  gl().BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl().ClearColor(0, 0, 0, 0);
  gl().Clear(GL_COLOR_BUFFER_BIT);
  const GLenum none = GL_NONE;
  gl().DrawBuffers(1, &none);
  const auto before = state_of(gl());
  gles::to_texture(gpu().full({1, 2}, 1.0f) * 1.0f, gles::HostFramebuffer{framebuffer, 2, 1, 1, 2});
  EXPECT_EQ(difference(before, state_of(gl())), "");
  const auto pixels = host().pixels<std::uint8_t>(framebuffer, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE);
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 4; ++x)
      EXPECT_EQ(pixels[4 * (4 * y + x)], y == 2 && (x == 1 || x == 2) ? 255 : 0) << x << " " << y;
}

TEST_P(GlesToTexture, TellsWhatIsWrongAndWorksOn) {
  GLuint texture = host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr);
  const auto out = [&](const Tensor& image, GLuint name, int width, int height) {
    gles::to_texture(image, {.texture = name, .width = width, .height = height});
  };
  const Tensor image = gpu().zeros({2, 3, 4});
  EXPECT_TESSERA_ERROR(out(image, texture, 2, 3), shape_mismatch, "[2,3,4]", "3 x 2", "2 x 3");
  EXPECT_TESSERA_ERROR(out(gpu().zeros({3, 3, 4}), texture, 3, 3), invalid_argument, "has 3 x 2", "not 3 x 3");
  EXPECT_TESSERA_ERROR(out(gpu().zeros({2, 3, 5}), texture, 3, 2), shape_mismatch, "[2,3,5]");
  EXPECT_TESSERA_ERROR(out(gpu().zeros({2, 2, 3, 4}), texture, 3, 2), shape_mismatch, "[2,2,3,4]");
  EXPECT_TESSERA_ERROR(out(gpu().zeros({6}), texture, 3, 2), shape_mismatch, "[6]");
  EXPECT_TESSERA_ERROR(out(gpu().zeros({0, 3, 4}), texture, 3, 0), invalid_argument, "no elements");
  EXPECT_TESSERA_ERROR(out(image, 999, 3, 2), invalid_argument, "999");
  EXPECT_TESSERA_ERROR(gles::to_texture(image, gles::HostFramebuffer{999, 3, 2}), invalid_argument, "999");
  EXPECT_TESSERA_ERROR(gles::to_texture(image, gles::HostFramebuffer{0, 3, 2}), invalid_argument, "framebuffer 0");
  EXPECT_TESSERA_ERROR(gles::to_texture(image, {.texture = texture, .width = 3, .height = 2, .channels = "R"}),
                       invalid_argument, "\"R\"");
  const GLuint not_drawable = host().texture(GL_RGB9_E5, 3, 2, 0, 0, nullptr);
  EXPECT_TESSERA_ERROR(out(image, not_drawable, 3, 2), invalid_argument, "cannot draw");
  const GLuint floats = host().texture(GL_RGBA32F, 3, 2, 0, 0, nullptr);
  EXPECT_NO_THROW(out(gles::from_texture(gpu(), {.texture = floats, .width = 3, .height = 2}), floats, 3, 2));
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  EXPECT_TESSERA_ERROR(out(cpu.zeros({2, 3, 4}), texture, 3, 2), wrong_backend, "cpu");
  gl().DeleteTextures(1, &texture);
  EXPECT_TESSERA_ERROR(out(image, texture, 3, 2), invalid_argument, "no longer");
  host().expect_no_error("failed exports");
  EXPECT_THAT(written(gpu().full({2, 3, 4}, 1), 3, 2), Each(255));
}

// In place: the texture that a tensor comes from is written with what was computed from it.
TEST_P(GlesToTexture, MayOverwriteWhatItComesFrom) {
  const std::vector<float> values{1, 2, 3, 4};
  const GLuint texture = host().texture(GL_RGBA32F, 1, 1, GL_RGBA, GL_FLOAT, values.data());
  for (int i = 0; i < 3; ++i)
    gles::to_texture(gles::from_texture(gpu(), {.texture = texture, .width = 1, .height = 1}) * 2.0f,
                     {.texture = texture, .width = 1, .height = 1});
  EXPECT_THAT(host().pixels<float>(host().framebuffer(texture), 1, 1, GL_RGBA, GL_FLOAT), ElementsAre(8, 16, 24, 32));
}

TEST_P(GlesToTexture, WhatLaterFramesNeedIsComputedInTheSameSubmission) {
  const GLuint texture = host().texture(GL_RGBA8, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  const Tensor kept = gpu().full({1, 1, 4}, 0.1f) * 2.0f;
  gpu().reset_stats();
  gles::to_texture(kept + 0.2f, {.texture = texture, .width = 1, .height = 1}, {.also_compute = {kept}});
  EXPECT_EQ(gpu().stats().submits, 1u);
  EXPECT_TRUE(kept.is_computed());
  EXPECT_EQ(host().pixels<std::uint8_t>(host().framebuffer(texture), 1, 1, GL_RGBA, GL_UNSIGNED_BYTE),
            std::vector<std::uint8_t>(4, 102));
  Context cpu = Context::create({.prefer = {BackendKind::cpu}});
  EXPECT_TESSERA_ERROR(
      gles::to_texture(kept, {.texture = texture, .width = 1, .height = 1}, {.also_compute = {cpu.zeros({1})}}),
      invalid_argument, "another context");
}

TEST_P(GlesToTexture, ThreeChannelsForLaterFramesTakeNoPassOfTheirOwn) {
  const GLuint frame = host().texture(GL_RGBA8, 4, 2, GL_RGBA, GL_UNSIGNED_BYTE, Bytes(32, 255).data());
  const GLuint target = host().texture(GL_RGBA8, 4, 2, 0, 0, nullptr);
  const HistoryHost histories{
      gpu(), [&] { return gles::from_texture(gpu(), {.texture = frame, .width = 4, .height = 2, .channels = "RGB"}); },
      [&](const Tensor& image, const std::vector<Tensor>& also) {
        gles::to_texture(image, {.texture = target, .width = 4, .height = 2}, {.also_compute = also});
      }};
  for (const DType dtype : {DType::f32, DType::f16}) expect_history_of_three_channels(histories, dtype);
}

TESSERA_ON_GLES_DEVICES(GlesToTexture);

}  // namespace
}  // namespace tessera::test::gles_to_texture_test

// Programs in an OpenGL ES host's frames: its textures as inputs and for the results.
#include <gmock/gmock.h>

#include "support/gles_host.h"

namespace tessera::test::gles_program_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class GlesPrograms : public OnGlesHost {
 protected:
  Program doubling(const Shape& shape) {
    return Program::record(gpu(), {{.shape = shape}},
                           [](std::span<const Tensor> inputs) { return std::vector{inputs[0] * 2.0f}; });
  }
};

TEST_P(GlesPrograms, ADenseTextureIsReadInPlaceByEachRun) {
  const std::vector<float> first{1, 2, 3, 4}, next{5, 6, 7, 8};
  const GLuint texture = host().texture(GL_RGBA32F, 1, 1, GL_RGBA, GL_FLOAT, first.data());
  const Program program = doubling({1, 1, 4});
  const Tensor lent = gles::from_texture(gpu(), {.texture = texture, .width = 1, .height = 1});
  EXPECT_THAT(program.run({lent})[0].read(), ElementsAre(2, 4, 6, 8));
  gl().BindTexture(GL_TEXTURE_2D, texture);
  gl().TexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, 1, 1, GL_RGBA, GL_FLOAT, next.data());
  gl().BindTexture(GL_TEXTURE_2D, 0);
  EXPECT_THAT(program.run({lent})[0].read(), ElementsAre(10, 12, 14, 16));
  expect_steady(gpu(), 1, [&] { program.run({lent}); });
}

TEST_P(GlesPrograms, ATextureInAndATextureOutInOneSubmission) {
  const std::vector<std::uint8_t> pixels(4 * 4 * 4, 51);
  const GLuint camera = host().texture(GL_RGBA8, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  const GLuint screen = host().texture(GL_RGBA8, 4, 4, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  const Program program = doubling({4, 4, 4});
  expect_steady(gpu(), 1, [&] {
    const Tensor frame = gles::from_texture(gpu(), {.texture = camera, .width = 4, .height = 4});
    gles::to_texture(program({frame})[0], {.texture = screen, .width = 4, .height = 4});
  });
  EXPECT_THAT(host().pixels<std::uint8_t>(host().framebuffer(screen), 4, 4, GL_RGBA, GL_UNSIGNED_BYTE), Each(102));
}

TEST_P(GlesPrograms, AResultIsHandedOutAsATexture) {
  const Program program = doubling({4});
  expect_steady(gpu(), 1, [&] {
    const gles::GpuData data = gles::data_to_gpu(program({gpu().full({4}, 3)})[0]);
    EXPECT_TRUE(gl().IsTexture(data.texture));
    EXPECT_EQ(data.tex_shape, (gles::TexShape{1, 1}));
  });
}

TEST_P(GlesPrograms, AResultThatIsAPartOfATensorIsShownRight) {
  const Program lower_half = Program::record(gpu(), {{.shape = {4, 2}}}, [](std::span<const Tensor> inputs) {
    return std::vector{slice(inputs[0] * (1 / 255.0f), {2, 0}, {2, 2})};
  });
  const GLuint screen = host().texture(GL_R8, 2, 2, GL_RED, GL_UNSIGNED_BYTE, nullptr);
  gles::to_texture(lower_half({gpu().tensor({4, 2}, {1, 2, 3, 4, 50, 60, 70, 80})})[0],
                   {.texture = screen, .width = 2, .height = 2});
  const auto pixels = host().pixels<std::uint8_t>(host().framebuffer(screen), 2, 2, GL_RGBA, GL_UNSIGNED_BYTE);
  EXPECT_THAT((std::vector<int>{pixels[0], pixels[4], pixels[8], pixels[12]}), ElementsAre(50, 60, 70, 80));
}

TESSERA_ON_GLES_DEVICES(GlesPrograms);

}  // namespace
}  // namespace tessera::test::gles_program_test

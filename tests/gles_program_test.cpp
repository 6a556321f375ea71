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

TEST_P(GlesPrograms, AWholeTextureAndThenAPartOfOne) {
  // The device mixes pixels of a whole texture; at the edges of a part it would mix in those around it.
  constexpr int side = 4;
  std::vector<std::uint8_t> whole, larger;
  for (int y = 0; y < 2 * side; ++y)
    for (int x = 0; x < 2 * side * 4; ++x) {
      const bool is_inside = x < side * 4 && y < side;
      larger.push_back(static_cast<std::uint8_t>(is_inside ? 10 * y + 5 * (x / 4) : 255));
      if (is_inside) whole.push_back(larger.back());
    }
  const GLuint camera = host().texture(GL_RGBA8, side, side, GL_RGBA, GL_UNSIGNED_BYTE, whole.data());
  const GLuint atlas = host().texture(GL_RGBA8, 2 * side, 2 * side, GL_RGBA, GL_UNSIGNED_BYTE, larger.data());
  const GLuint screen = host().texture(GL_RGBA8, 2 * side, 2 * side, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  const Program program = Program::record(
      gpu(), {{.shape = {side, side, 4}}},
      [](std::span<const Tensor> inputs) { return std::vector{resize_bilinear(inputs[0], 2 * side, 2 * side)}; },
      {.between = Precision::half});
  const auto shown = [&](const gles::HostTexture& source) {
    gles::to_texture(program({gles::from_texture(gpu(), source)})[0],
                     {.texture = screen, .width = 2 * side, .height = 2 * side});
    return host().pixels<std::uint8_t>(host().framebuffer(screen), 2 * side, 2 * side, GL_RGBA, GL_UNSIGNED_BYTE);
  };
  const auto of_whole = shown({.texture = camera, .width = side, .height = side});
  const auto of_part =
      shown({.texture = atlas, .width = 2 * side, .height = 2 * side, .part = {.width = side, .height = side}});
  for (std::size_t i = 0; i < of_whole.size(); ++i) ASSERT_NEAR(of_whole[i], of_part[i], 1) << i;
}

// What a kernel for textures of one kind is, those of another are not read by.
TEST_P(GlesPrograms, TexturesOfSeveralKindsInTurn) {
  const std::vector<std::uint8_t> pixels{10, 20, 30, 40};
  const GLuint camera = host().texture(GL_RGBA8, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  const GLuint integers = host().texture(GL_RGBA8UI, 1, 1, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE, pixels.data());
  const GLuint screen = host().texture(GL_RGBA8, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  const Program program = doubling({1, 1, 4});
  const auto shown = [&](GLuint texture, const std::string& channels, GLenum format, bool flip_y) {
    gles::to_texture(
        program({gles::from_texture(
            gpu(), {.texture = texture, .width = 1, .height = 1, .channels = channels, .internal_format = format})})[0],
        {.texture = screen, .width = 1, .height = 1}, {.flip_y = flip_y});
    return host().pixels<std::uint8_t>(host().framebuffer(screen), 1, 1, GL_RGBA, GL_UNSIGNED_BYTE);
  };
  for (int frame = 0; frame < 2; ++frame) {
    EXPECT_THAT(shown(camera, "RGBA", GL_RGBA8, false), ElementsAre(20, 40, 60, 80));
    EXPECT_THAT(shown(camera, "BGRA", GL_RGBA8, true), ElementsAre(60, 40, 20, 80));
    EXPECT_THAT(shown(camera, "ABGR", GL_RGBA8, false), ElementsAre(80, 60, 40, 20));
    EXPECT_THAT(shown(integers, "RGBA", GL_RGBA8UI, false), ElementsAre(255, 255, 255, 255));
  }
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

// Pixel kernels on OpenGL ES that sample a host's textures and write into them.
#include <gmock/gmock.h>

#include "internal/gles_pixel_kernels.h"

namespace tessera::test::gles_pixel_host_test {
namespace {

using ::testing::ElementsAreArray;

constexpr GLenum external_binding = 0x8D67;

class GlesPixelHost : public GlesPixelKernels {};

TEST_P(GlesPixelHost, FramebuffersAreWrittenAtACorner) {
  const GLuint texture = host().texture(GL_RGBA8, 5, 4, 0, 0, nullptr);
  const GLuint framebuffer = host().framebuffer(texture);
  const GLenum none = GL_NONE;
  const Size size{2, 3};
  const auto input = uploaded(counted(6, 10, 10), DType::u8);
  for (const bool flip_y : {false, true}) {
    gl().BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
    const GLenum first = GL_COLOR_ATTACHMENT0;
    gl().DrawBuffers(1, &first);
    gl().ClearColor(0, 0, 0, 0);
    gl().Clear(GL_COLOR_BUFFER_BIT);
    gl().DrawBuffers(1, &none);
    const auto before = state_of(gl());
    const auto target = exported(gles::HostFramebuffer{framebuffer, 2, 3, 2, 1}, flip_y);
    EXPECT_FALSE(target.takes_more_outputs());
    run(size, let("v", DType::u8, pixel_in_elements(0, 1)), {elements(input, DType::u8)},
        {at_host(target, "v", 1, DType::u8)});
    EXPECT_EQ(difference(before, state_of(gl())), "");
    const auto values = host().pixels<std::uint8_t>(framebuffer, 5, 4, GL_RGBA, GL_UNSIGNED_BYTE);
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 5; ++x) {
        const bool is_inside = x >= 2 && x < 4 && y >= 1;
        const int row = flip_y ? 3 - y : y - 1;
        EXPECT_EQ(values[static_cast<std::size_t>(4 * (5 * y + x))], is_inside ? 10 * (2 * row + x - 2) + 10 : 0)
            << x << " " << y;
      }
  }
}

TEST_P(GlesPixelHost, TargetsKnowWhatTheyAreReadFrom) {
  const std::vector<float> values = counted(4);
  const GLuint texture = host().texture(GL_RGBA32F, 1, 1, GL_RGBA, GL_FLOAT, values.data());
  const GLuint other = host().texture(GL_RGBA32F, 1, 1, GL_RGBA, GL_FLOAT, values.data());
  const gles::HostTexture host_texture{.texture = texture, .width = 1, .height = 1};
  const auto source = imported(host_texture), another = imported({.texture = other, .width = 1, .height = 1});
  const GLuint framebuffer = host().framebuffer(other);
  gl().BindFramebuffer(GL_FRAMEBUFFER, framebuffer);
  gl().FramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1, GL_TEXTURE_2D, texture, 0);
  const auto as_texture = exported(host_texture);
  const auto as_attachment = exported(gles::HostFramebuffer{framebuffer, 1, 1});
  EXPECT_TRUE(as_texture.reads(source));
  EXPECT_FALSE(as_texture.reads(another));
  EXPECT_TRUE(as_attachment.reads(source));
  EXPECT_TRUE(as_attachment.reads(another));
  const auto own = pixels({1, 1}, 4);
  EXPECT_FALSE(as_texture.reads(*own));
  const std::string body = let("v", DType::f32, pixel_in_texels(0));
  EXPECT_TESSERA_ERROR(run({1, 1}, body, {host_source(source, 4)}, {at_host(as_texture, "v", 4)}), invalid_argument,
                       "its own target");
  const Tensor borrowed = gles::from_texture(gpu(), host_texture);
  const LockedContext locked(gpu());
  EXPECT_TRUE(as_texture.reads(TensorAccess::node(*locked, borrowed)->value.buffer->storage()));
}

TEST_P(GlesPixelHost, ExternalTexturesAreSampled) {
  const std::vector<std::uint8_t> bytes{0, 51, 102, 255, 255, 0, 0, 51};
  const auto make_external = [&] {
    return host().external_texture(host().texture(GL_RGBA8, 2, 1, GL_RGBA, GL_UNSIGNED_BYTE, bytes.data()));
  };
  const GLuint external = make_external(), other_external = make_external();
  if (!external) GTEST_SKIP() << "this driver makes no external texture of a 2D texture";
  gl().ActiveTexture(GL_TEXTURE1);
  gl().BindTexture(GlesHost::texture_external, other_external);
  gl().ActiveTexture(GL_TEXTURE0);

  const auto source =
      imported({.texture = external, .width = 2, .height = 1, .channels = "BA", .target = GlesHost::texture_external});
  const auto other = uploaded({10, 20, 30, 40});
  const auto output = dirty(DType::f32, 4);
  run({2, 1},
      let("v0", DType::f32, pixel_in_elements(0, 2)) + let("v1", DType::f32, pixel_in_texels(1)) +
          let("v", DType::f32, "v0 + v1"),
      {elements(other), host_source(source, 2)}, {in_elements(output, "v", 2)});
  const auto values = read(*output);
  const float expected[] = {10.4f, 21.0f, 30.0f, 40.2f};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(values[i], expected[i], 1e-5) << i;
  gl().ActiveTexture(GL_TEXTURE1);
  GLint bound = 0;
  gl().GetIntegerv(external_binding, &bound);
  EXPECT_EQ(static_cast<GLuint>(bound), other_external);
  gl().BindTexture(GlesHost::texture_external, 0);
  gl().ActiveTexture(GL_TEXTURE0);
}

TEST_P(GlesPixelHost, TellsWhatIsWrongAndWorksOn) {
  const Size size{3, 2};
  const std::string body = let("v", DType::f32, pixel_in_texels(0));
  GLuint gone = host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr);
  const gles::HostTexture host_texture{.texture = gone, .width = 3, .height = 2};
  const auto source = imported(host_texture);
  const auto target = exported(host_texture);
  const GLuint framebuffer = host().framebuffer(host().texture(GL_RGBA8, 3, 2, 0, 0, nullptr));
  const auto framebuffer_target = exported(gles::HostFramebuffer{framebuffer, 3, 2});
  const auto stored = pixels(size, 4), more = pixels(size, 4);
  gl().DeleteTextures(1, &gone);
  gl().DeleteFramebuffers(1, &framebuffer);
  EXPECT_TESSERA_ERROR(run(size, body, {host_source(source, 4)}, {in_texels(stored, "v", 4)}), invalid_argument,
                       "gles::from_texture", "no longer");
  EXPECT_TESSERA_ERROR(run(size, body, {texels(stored, 4)}, {at_host(target, "v", 4)}), invalid_argument,
                       "gles::to_texture", "no longer");
  EXPECT_TESSERA_ERROR(run(size, body, {texels(stored, 4)}, {at_host(framebuffer_target, "v", 4)}), invalid_argument,
                       "gles::to_texture", "no longer");
  const GLuint not_drawable = host().texture(GL_RGB9_E5, 3, 2, 0, 0, nullptr);
  const auto no_target = exported(gles::HostTexture{.texture = not_drawable, .width = 3, .height = 2});
  EXPECT_TESSERA_ERROR(run(size, body, {texels(stored, 4)}, {at_host(no_target, "v", 4)}), invalid_argument,
                       "cannot draw");
  EXPECT_TESSERA_ERROR(run(size, let("v", DType::f32, "no_such_function(x)"), {}, {in_texels(stored, "v", 4)}),
                       compile_failed, "test kernel");
  host().expect_no_error("failed kernels");
  run(size, let("v", DType::f32, "vec4f(f32(x), f32(y), 2.0, 3.0)"), {},
      {in_texels(stored, "v", 4), in_texels(more, "v", 4)});
  EXPECT_THAT(read_pixels(size, stored, 4), ElementsAreArray(read_pixels(size, more, 4)));
  EXPECT_EQ(read_pixels(size, stored, 4)[4], 1);
}

TESSERA_ON_GLES_DEVICES(GlesPixelHost);

}  // namespace
}  // namespace tessera::test::gles_pixel_host_test

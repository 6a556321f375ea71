// gles::from_texture and gles::to_texture with parts of textures, framebuffers, depth and stencil, and as f16 and u8.
#include <gmock/gmock.h>

#include "support/gles_host.h"

namespace tessera::test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
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
    auto values = host().pixels<std::uint8_t>(name, width >> level, height_of(target) >> level, GL_RGBA,
                                              GL_UNSIGNED_BYTE);
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
  void clear(const Sampled& target, int x, int y, int w, int h, float grey, float depth) {
    gl().BindFramebuffer(GL_FRAMEBUFFER, target.framebuffer);
    gl().Enable(GL_SCISSOR_TEST);
    gl().Scissor(x, y, w, h);
    gl().ClearColor(grey, grey, grey, 1);
    gl().ClearDepthf(depth);
    gl().Clear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
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
        // A kernel that samples neighbours; it stays within the part.
        const Tensor moved = max_pool2d(gles::from_texture(gpu(), host_texture).reshape({1, h, w, 3}),
                                        {.kernel = {1, 1}});
        EXPECT_EQ((nearest(moved * 255.0f)).read(), expected);
      }
  }
}

TESSERA_ON_GLES_DEVICES(GlesParts);

}  // namespace
}  // namespace tessera::test

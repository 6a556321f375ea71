#include "backend_gles/host_texture.h"

#include <algorithm>
#include <string>

#include "backend_gles/handle.h"

namespace tessera::gles {
namespace {

// The names of OpenGL ES 3.1, which glad does not have here.
constexpr GLenum level_width = 0x1000, level_height = 0x1001, level_internal_format = 0x1003;

PixelKind kind_of_format(GLenum format) {
  constexpr GLenum signed_formats[] = {GL_R8I,   GL_R16I,   GL_R32I,   GL_RG8I,   GL_RG16I,   GL_RG32I,
                                       GL_RGB8I, GL_RGB16I, GL_RGB32I, GL_RGBA8I, GL_RGBA16I, GL_RGBA32I};
  constexpr GLenum unsigned_formats[] = {GL_R8UI,     GL_R16UI,    GL_R32UI,     GL_RG8UI,   GL_RG16UI,
                                         GL_RG32UI,   GL_RGB8UI,   GL_RGB16UI,   GL_RGB32UI, GL_RGBA8UI,
                                         GL_RGBA16UI, GL_RGBA32UI, GL_RGB10_A2UI};
  if (std::ranges::find(signed_formats, format) != std::end(signed_formats)) return PixelKind::signed_integer;
  if (std::ranges::find(unsigned_formats, format) != std::end(unsigned_formats)) return PixelKind::unsigned_integer;
  return PixelKind::real;
}

GLint attachment_parameter(const Device& device, GLenum attachment, GLenum name) {
  GLint value = 0;
  device.gl().GetFramebufferAttachmentParameteriv(GL_DRAW_FRAMEBUFFER, attachment, name, &value);
  return value;
}

// What OpenGL ES 3.0 tells of a texture, it tells of attachments.
TextureTraits traits_by_attaching(const Device& device, GLuint texture) {
  const GladGLES2Context& gl = device.gl();
  GLuint framebuffer = 0;
  gl.GenFramebuffers(1, &framebuffer);
  gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  gl.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  TextureTraits traits;
  traits.kind = kind_of_attachment(device, GL_COLOR_ATTACHMENT0);
  const auto parameter = [&](GLenum name) { return attachment_parameter(device, GL_COLOR_ATTACHMENT0, name); };
  traits.is_dense_float = parameter(GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) == GL_FLOAT &&
                          parameter(GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE) == 32 &&
                          parameter(GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE) == 32;
  gl.DeleteFramebuffers(1, &framebuffer);
  device.take_error();  // what cannot be attached is sampled as floats
  return traits;
}

bool is_read_as_it_is(const GladGLES2Context& gl) {
  const auto parameter = [&](GLenum name) {
    GLint value = 0;
    gl.GetTexParameteriv(GL_TEXTURE_2D, name, &value);
    return static_cast<GLenum>(value);
  };
  return parameter(GL_TEXTURE_SWIZZLE_R) == GL_RED && parameter(GL_TEXTURE_SWIZZLE_G) == GL_GREEN &&
         parameter(GL_TEXTURE_SWIZZLE_B) == GL_BLUE && parameter(GL_TEXTURE_SWIZZLE_A) == GL_ALPHA &&
         parameter(GL_TEXTURE_BASE_LEVEL) == 0;
}

}  // namespace

PixelKind kind_of_attachment(const Device& device, GLenum attachment) {
  switch (attachment_parameter(device, attachment, GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE)) {
    case GL_INT: return PixelKind::signed_integer;
    case GL_UNSIGNED_INT: return PixelKind::unsigned_integer;
    default: return PixelKind::real;
  }
}

bool is_readable_texture(const Device& device, GLuint texture, std::uint64_t age) {
  const OwnNames& own = device.own_textures();
  return texture != 0 && device.gl().IsTexture(texture) && own.age_of(texture) == age && !own.is_ours_alone(texture);
}

void require_texture(const Device& device, GLuint texture, std::string_view op, std::uint64_t age) {
  if (is_readable_texture(device, texture, age)) return;
  throw Error(ErrorCode::invalid_argument, std::string(op) + ": " + std::to_string(texture) +
                                               " is not, or no longer, the name of a texture of the host's on " +
                                               device.info().name + ".");
}

void require_writable_texture(const Device& device, GLuint texture) {
  if (device.own_textures().age_of(texture) == 0) return require_texture(device, texture, "to_texture", 0);
  throw Error(ErrorCode::invalid_argument, "to_texture: texture " + std::to_string(texture) +
                                               " holds a tensor, or is tessera's to hold one; a texture of the host's "
                                               "is needed.");
}

void require_framebuffer(const Device& device, GLuint framebuffer) {
  if (framebuffer == 0) return;
  const bool is_own = device.own_framebuffers().age_of(framebuffer) != 0;
  if (device.context().is_borrowed() && !is_own && device.gl().IsFramebuffer(framebuffer)) return;
  throw Error(ErrorCode::invalid_argument,
              "to_texture: " + std::to_string(framebuffer) +
                  (device.context().is_borrowed()
                       ? " is not, or no longer, the name of a framebuffer of the host's."
                       : " cannot be a framebuffer of the host's: tessera works in a context of its own, and contexts "
                         "share textures, but no framebuffers."));
}

TextureTraits traits_of(const Device& device, const HostTexture& host, std::string_view op) {
  const GladGLES2Context& gl = device.gl();
  require_texture(device, host.texture, op, device.own_textures().age_of(host.texture));
  if (host.is_external) return {};
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(GL_TEXTURE_2D, host.texture);
  if (device.take_error() != GL_NO_ERROR)
    throw Error(ErrorCode::invalid_argument,
                std::string(op) + ": texture " + std::to_string(host.texture) + " is not a GL_TEXTURE_2D.");
  TextureTraits traits;
  GLint width = host.width, height = host.height, format = static_cast<GLint>(host.internal_format);
  if (const auto get = device.functions().GetTexLevelParameteriv) {
    get(GL_TEXTURE_2D, 0, level_width, &width);
    get(GL_TEXTURE_2D, 0, level_height, &height);
    if (format == 0) get(GL_TEXTURE_2D, 0, level_internal_format, &format);
  }
  if (format != 0) traits = {kind_of_format(static_cast<GLenum>(format)), format == GL_RGBA32F};
  else traits = traits_by_attaching(device, host.texture);
  traits.is_dense_float = traits.is_dense_float && is_read_as_it_is(gl);
  gl.BindTexture(GL_TEXTURE_2D, 0);
  if (width != host.width || height != host.height)
    throw Error(ErrorCode::invalid_argument, std::string(op) + ": texture " + std::to_string(host.texture) + " has " +
                                                 std::to_string(width) + " x " + std::to_string(height) +
                                                 " texels, not " + std::to_string(host.width) + " x " +
                                                 std::to_string(host.height) + ".");
  return traits;
}

}  // namespace tessera::gles

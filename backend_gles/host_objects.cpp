#include "backend_gles/host_objects.h"

#include <string>

#include "backend_gles/handle.h"
#include "backend_gles/texture_format.h"
#include "core/base/fail.h"

namespace tessera::gles {
namespace {

// The names of OpenGL ES 3.1, which glad does not have here.
constexpr GLenum level_width = 0x1000, level_height = 0x1001, level_internal_format = 0x1003;

GLint attachment_parameter(const Device& device, GLenum attachment, GLenum name) {
  GLint value = 0;
  device.gl().GetFramebufferAttachmentParameteriv(GL_DRAW_FRAMEBUFFER, attachment, name, &value);
  return value;
}

// OpenGL ES 3.0 tells the format of attachments, and of no texture else.
TextureTraits traits_by_attaching(const Device& device, GLuint texture) {
  const GladGLES2Context& gl = device.gl();
  GLuint framebuffer = 0;
  gl.GenFramebuffers(1, &framebuffer);
  gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  gl.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture, 0);
  TextureTraits traits;
  traits.texels = texels_of_attachment(device, GL_COLOR_ATTACHMENT0);
  const auto parameter = [&](GLenum name) { return attachment_parameter(device, GL_COLOR_ATTACHMENT0, name); };
  traits.is_dense_float = parameter(GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE) == GL_FLOAT &&
                          parameter(GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE) == 32 &&
                          parameter(GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE) == 32;
  const GLint red = parameter(GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE);
  traits.is_filterable = traits.texels == Texels::floats && red > 0 && red <= 16;
  gl.DeleteFramebuffers(1, &framebuffer);
  device.take_error();  // a texture that cannot be attached is sampled as floats
  return traits;
}

bool is_read_unchanged(const GladGLES2Context& gl) {
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

Texels texels_of_attachment(const Device& device, GLenum attachment) {
  switch (attachment_parameter(device, attachment, GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE)) {
    case GL_INT: return Texels::signed_integers;
    case GL_UNSIGNED_INT: return Texels::unsigned_integers;
    default: return Texels::floats;
  }
}

std::vector<GLuint> textures_of_framebuffer(const Device& device) {
  std::vector<GLuint> textures;
  const auto add = [&](GLenum attachment) {
    if (attachment_parameter(device, attachment, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) == GL_TEXTURE)
      textures.push_back(
          static_cast<GLuint>(attachment_parameter(device, attachment, GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME)));
  };
  const GLint colors = integer(device.gl(), GL_MAX_COLOR_ATTACHMENTS);
  for (GLint i = 0; i < colors; ++i) add(GL_COLOR_ATTACHMENT0 + static_cast<GLenum>(i));
  add(GL_DEPTH_ATTACHMENT);
  add(GL_STENCIL_ATTACHMENT);
  return textures;
}

bool is_readable_texture(const Device& device, GLuint texture, std::uint64_t age) {
  const OwnNames& own = device.own_textures();
  return texture != 0 && device.gl().IsTexture(texture) && own.age_of(texture) == age && !own.is_private(texture);
}

void require_texture(const Device& device, GLuint texture, std::string_view op, std::uint64_t age) {
  if (!is_readable_texture(device, texture, age))
    fail(ErrorCode::invalid_argument, op,
         std::to_string(texture) + " is not, or no longer, the name of a texture of the host's on " +
             device.info().name + ".");
}

void require_writable_texture(const Device& device, GLuint texture, std::string_view op) {
  if (device.own_textures().age_of(texture) != 0)
    fail(ErrorCode::invalid_argument, op,
         "texture " + std::to_string(texture) +
             " holds a tensor, or is tessera's to hold one; a texture of the host's is needed.");
  require_texture(device, texture, op, 0);
}

void require_framebuffer(const Device& device, GLuint framebuffer, std::string_view op) {
  if (framebuffer == 0) return;
  const bool is_own = device.own_framebuffers().age_of(framebuffer) != 0;
  if (device.context().is_borrowed() && !is_own && device.gl().IsFramebuffer(framebuffer)) return;
  fail(ErrorCode::invalid_argument, op,
       std::to_string(framebuffer) +
           (device.context().is_borrowed()
                ? " is not, or no longer, the name of a framebuffer of the host's."
                : " cannot be a framebuffer of the host's: tessera works in a context of its own, and contexts share "
                  "textures, but no framebuffers."));
}

TextureTraits traits_of(const Device& device, const HostTexture& host, std::string_view op) {
  const GladGLES2Context& gl = device.gl();
  require_texture(device, host.texture, op, device.own_textures().age_of(host.texture));
  if (host.is_external) return {};
  gl.ActiveTexture(GL_TEXTURE0);
  gl.BindTexture(GL_TEXTURE_2D, host.texture);
  if (device.take_error() != GL_NO_ERROR)
    fail(ErrorCode::invalid_argument, op, "texture " + std::to_string(host.texture) + " is not a GL_TEXTURE_2D.");
  TextureTraits traits;
  GLint width = host.width, height = host.height, format = static_cast<GLint>(host.internal_format);
  if (const auto get = device.functions().GetTexLevelParameteriv) {
    get(GL_TEXTURE_2D, 0, level_width, &width);
    get(GL_TEXTURE_2D, 0, level_height, &height);
    if (format == 0) get(GL_TEXTURE_2D, 0, level_internal_format, &format);
  }
  const bool has_wide_floats = format == GL_R32F || format == GL_RG32F || format == GL_RGB32F || format == GL_RGBA32F;
  if (format != 0) {
    traits = {texels_of(static_cast<GLenum>(format)), format == GL_RGBA32F};
    traits.is_filterable = traits.texels == Texels::floats && !has_wide_floats;
  } else traits = traits_by_attaching(device, host.texture);
  traits.is_dense_float = traits.is_dense_float && is_read_unchanged(gl);
  gl.BindTexture(GL_TEXTURE_2D, 0);
  if (width != host.width || height != host.height)
    fail(ErrorCode::invalid_argument, op,
         "texture " + std::to_string(host.texture) + " has " + std::to_string(width) + " x " + std::to_string(height) +
             " texels, not " + std::to_string(host.width) + " x " + std::to_string(host.height) + ".");
  return traits;
}

}  // namespace tessera::gles

#include "backend_gles/host_objects.h"

#include <algorithm>
#include <string>

#include "backend_gles/egl.h"
#include "backend_gles/handle.h"
#include "backend_gles/known_objects.h"
#include "backend_gles/state.h"
#include "backend_gles/texture_format.h"
#include "core/base/fail.h"

namespace tessera::gles {
namespace {

// The names of OpenGL ES 3.1, which glad does not have here.
constexpr GLenum level_width = 0x1000, level_height = 0x1001, level_internal_format = 0x1003, level_depth = 0x8071;

// OpenGL ES 3.0 tells the format of attachments, and of no texture else.
TextureTraits traits_by_attaching(const Device& device, const AttachedTexture& texture) {
  const Entered entered(device, state::draw_framebuffer);
  const GladGLES2Context& gl = device.gl();
  GLuint framebuffer = 0;
  gl.GenFramebuffers(1, &framebuffer);
  gl.BindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  attach(gl, GL_COLOR_ATTACHMENT0, texture);
  TextureTraits traits;
  traits.texels = texels_of_attachment(device, GL_COLOR_ATTACHMENT0);
  traits.bytes = bytes_of_attachment(device, GL_COLOR_ATTACHMENT0);
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

GLint texture_parameter(const GladGLES2Context& gl, GLenum target, GLenum name) {
  GLint value = 0;
  gl.GetTexParameteriv(target, name, &value);
  return value;
}

bool is_read_unchanged(const GladGLES2Context& gl) {
  const auto parameter = [&](GLenum name) { return static_cast<GLenum>(texture_parameter(gl, GL_TEXTURE_2D, name)); };
  return parameter(GL_TEXTURE_SWIZZLE_R) == GL_RED && parameter(GL_TEXTURE_SWIZZLE_G) == GL_GREEN &&
         parameter(GL_TEXTURE_SWIZZLE_B) == GL_BLUE && parameter(GL_TEXTURE_SWIZZLE_A) == GL_ALPHA;
}

std::string name_of_target(GLenum target) {
  switch (target) {
    case GL_TEXTURE_2D: return "GL_TEXTURE_2D";
    case GL_TEXTURE_2D_ARRAY: return "GL_TEXTURE_2D_ARRAY";
    case GL_TEXTURE_CUBE_MAP: return "GL_TEXTURE_CUBE_MAP";
    case GL_TEXTURE_3D: return "GL_TEXTURE_3D";
    default: return hex(target);
  }
}

// A texture that is bound to its target, in whichever unit is active; the one before is bound again afterwards. Drivers
// that cannot tell are trusted: levels and layers are as many as there could be.
class BoundTexture {
 public:
  BoundTexture(const Device& device, const HostTexture& host, std::string_view op)
      : device_(device), host_(host), before_(integer(device.gl(), binding_of_textures(host.target))) {
    if (device.context().is_borrowed()) device.pass_on_errors_of_host();
    device.gl().BindTexture(host.target, host.texture);
    if (device.take_error() != GL_NO_ERROR)
      fail(ErrorCode::invalid_argument, op,
           "texture " + std::to_string(host.texture) + " is not a " + name_of_target(host.target) + ".");
  }
  ~BoundTexture() { device_.gl().BindTexture(host_.target, static_cast<GLuint>(before_)); }
  BoundTexture(const BoundTexture&) = delete;
  BoundTexture& operator=(const BoundTexture&) = delete;

  GLint parameter(GLenum name) const { return texture_parameter(device_.gl(), host_.target, name); }

  GLint of_level(int level, GLenum name, GLint otherwise) const {
    const auto get = device_.functions().GetTexLevelParameteriv;
    if (!get) return otherwise;
    GLint value = otherwise;
    get(host_.target == GL_TEXTURE_CUBE_MAP ? GL_TEXTURE_CUBE_MAP_POSITIVE_X : host_.target, level, name, &value);
    return value;
  }

  TextureExtent extent() const {
    TextureExtent extent{.width = host_.width, .height = host_.height, .levels = 1};
    if (host_.part.level > 0)
      for (GLint side = std::max(host_.width, host_.height) / 2; side > 0; side /= 2, ++extent.levels)
        if (of_level(static_cast<int>(extent.levels), level_width, side) == 0) break;
    const int level = std::clamp(host_.part.level, 0, 31);
    if (host_.target == GL_TEXTURE_2D_ARRAY) {
      extent.layers = of_level(0, level_depth, integer(device_.gl(), GL_MAX_ARRAY_TEXTURE_LAYERS));
    } else if (host_.target == GL_TEXTURE_CUBE_MAP) {
      extent.layers = 6;
      extent.layer_name = "face";
    } else if (host_.target == GL_TEXTURE_3D) {
      extent.layers = std::max(of_level(0, level_depth, integer(device_.gl(), GL_MAX_3D_TEXTURE_SIZE)) >> level, 1);
      extent.layer_name = "depth slice";
    }
    return extent;
  }

 private:
  const Device& device_;
  const HostTexture& host_;
  GLint before_;
};

// Whether `is_one` says so, which is asked about each name once by a device that asks later.
bool is_known_name(std::set<GLuint> KnownObjects::*names, const Device& device, GLuint name,
                   GLboolean(GLAD_API_PTR* is_one)(GLuint)) {
  KnownObjects* const known = device.known_objects();
  if (!known) return is_one(name);
  return (known->*names).contains(name) || (is_one(name) && (known->*names).insert(name).second);
}

}  // namespace

GLint attachment_parameter(const Device& device, GLenum attachment, GLenum name) {
  GLint value = 0;
  device.gl().GetFramebufferAttachmentParameteriv(GL_DRAW_FRAMEBUFFER, attachment, name, &value);
  return value;
}

void attach(const GladGLES2Context& gl, GLenum attachment, const AttachedTexture& texture) {
  if (texture.target == GL_TEXTURE_2D_ARRAY || texture.target == GL_TEXTURE_3D)
    return gl.FramebufferTextureLayer(GL_DRAW_FRAMEBUFFER, attachment, texture.texture, texture.level, texture.layer);
  const GLenum face = GL_TEXTURE_CUBE_MAP_POSITIVE_X + static_cast<GLenum>(texture.layer);
  gl.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, attachment,
                          texture.target == GL_TEXTURE_CUBE_MAP ? face : texture.target, texture.texture,
                          texture.level);
}

void detach(const GladGLES2Context& gl, GLenum attachment) {
  gl.FramebufferTexture2D(GL_DRAW_FRAMEBUFFER, attachment, GL_TEXTURE_2D, 0, 0);
}

Texels texels_of_attachment(const Device& device, GLenum attachment) {
  switch (attachment_parameter(device, attachment, GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE)) {
    case GL_INT: return Texels::signed_integers;
    case GL_UNSIGNED_INT: return Texels::unsigned_integers;
    default: return Texels::floats;
  }
}

Bytes bytes_of_attachment(const Device& device, GLenum attachment) {
  const auto parameter = [&](GLenum name) { return attachment_parameter(device, attachment, name); };
  if (parameter(GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE) != 8) return Bytes::none;
  const GLint type = parameter(GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE);
  if (type == GL_UNSIGNED_INT) return Bytes::integers;
  if (type != GL_UNSIGNED_NORMALIZED) return Bytes::none;
  return parameter(GL_FRAMEBUFFER_ATTACHMENT_COLOR_ENCODING) == GL_SRGB ? Bytes::srgb : Bytes::normalised;
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

std::string TextureTraits::format_name() const { return name_of_format(format); }

bool is_readable_texture(const Device& device, GLuint texture, std::uint64_t age) {
  return texture != 0 && is_known_name(&KnownObjects::textures, device, texture, device.gl().IsTexture) &&
         device.own_textures().is_readable(texture, age);
}

void require_texture(const Device& device, GLuint texture, std::string_view op, std::uint64_t age) {
  if (!is_readable_texture(device, texture, age))
    fail(ErrorCode::invalid_argument, op,
         std::to_string(texture) + " is not, or no longer, the name of a texture of the host's on " +
             device.info().name + ".");
}

void require_texture_of_host(const Device& device, GLuint texture, std::string_view op) {
  if (device.own_textures().age_of(texture) != 0)
    fail(ErrorCode::invalid_argument, op,
         "texture " + std::to_string(texture) +
             " holds a tensor, or is tessera's to hold one; a texture of the host's is needed.");
}

void require_framebuffer(const Device& device, GLuint framebuffer, std::string_view op) {
  if (framebuffer == 0) return;
  const bool is_own = device.own_framebuffers().age_of(framebuffer) != 0;
  if (device.context().is_borrowed() && !is_own &&
      is_known_name(&KnownObjects::framebuffers, device, framebuffer, device.gl().IsFramebuffer))
    return;
  fail(ErrorCode::invalid_argument, op,
       std::to_string(framebuffer) +
           (device.context().is_borrowed()
                ? " is not, or no longer, the name of a framebuffer of the host's."
                : " cannot be a framebuffer of the host's: tessera works in a context of its own, and contexts share "
                  "textures, but no framebuffers."));
}

namespace {

TextureTraits traits_asked(const Device& device, const HostTexture& host, std::string_view op, std::uint64_t age) {
  require_texture(device, host.texture, op, age);
  if (state_of_textures(host.target) == 0)
    fail(ErrorCode::invalid_argument, op,
         "target " + hex(host.target) +
             " is none of GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_3D and "
             "GL_TEXTURE_EXTERNAL_OES.");
  TextureTraits traits;
  if (host.target == texture_external) {
    const TextureExtent extent{.width = host.width, .height = host.height, .levels = 1};
    traits.bytes = Bytes::normalised;
    traits.part = checked_part(op, host.part, extent);
    return traits;
  }
  const BoundTexture bound(device, host, op);
  const GLint width = bound.of_level(0, level_width, host.width), height = bound.of_level(0, level_height, host.height);
  if (width != host.width || height != host.height)
    fail(ErrorCode::invalid_argument, op,
         "texture " + std::to_string(host.texture) + " has " + std::to_string(width) + " x " + std::to_string(height) +
             " texels, not " + std::to_string(host.width) + " x " + std::to_string(host.height) + ".");
  const TextureExtent extent = bound.extent();
  const TexturePart part = checked_part(op, host.part, extent);
  GLenum format = host.internal_format;
  if (format == 0) format = static_cast<GLenum>(bound.of_level(part.level, level_internal_format, 0));
  if (format != 0) {
    traits.texels = texels_of(format);
    traits.bytes = bytes_of(format);
    traits.format = format;
    traits.has_depth = has_depth(format);
    traits.has_stencil = has_stencil(format);
    const bool has_wide_floats = format == GL_R32F || format == GL_RG32F || format == GL_RGB32F || format == GL_RGBA32F;
    traits.is_filterable = traits.texels == Texels::floats && !has_wide_floats;
    traits.is_dense_float = format == GL_RGBA32F;
  } else {
    traits = traits_by_attaching(device, {host.texture, host.target, part.level, part.layer});
  }
  traits.part = part;
  traits.is_whole = is_whole(part, extent);
  traits.base_level = bound.parameter(GL_TEXTURE_BASE_LEVEL);
  traits.is_dense_float = traits.is_dense_float && traits.is_whole && host.target == GL_TEXTURE_2D &&
                          traits.base_level == 0 && is_read_unchanged(device.gl());
  return traits;
}

}  // namespace

TextureTraits traits_of(const Device& device, const HostTexture& host, std::string_view op) {
  const std::uint64_t age = device.own_textures().age_of(host.texture);
  const auto with_age = [&](TextureTraits traits) {
    traits.age = age;
    return traits;
  };
  KnownObjects* const known = device.known_objects();
  if (!known) return with_age(traits_asked(device, host, op, age));
  const KnownObjects::TextureKey key = KnownObjects::key_of(host);
  auto place = known->traits.find(key);
  if (place == known->traits.end()) place = known->traits.emplace(key, traits_asked(device, host, op, age)).first;
  return with_age(place->second);
}

}  // namespace tessera::gles

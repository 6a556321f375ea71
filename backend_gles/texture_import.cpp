#include "backend_gles/texture_import.h"

#include <algorithm>

#include "backend_gles/pixel_shader.h"
#include "backend_gles/state.h"
#include "core/base/fail.h"

namespace tessera::gles {
namespace {

std::string sampler_of(Texels texels, GLenum target) {
  if (target == texture_external) return std::string(external_sampler);
  const std::string kind = texels == Texels::signed_integers ? "i" : texels == Texels::unsigned_integers ? "u" : "";
  switch (target) {
    case GL_TEXTURE_2D_ARRAY: return kind + "sampler2DArray";
    case GL_TEXTURE_CUBE_MAP: return kind + "samplerCube";
    case GL_TEXTURE_3D: return kind + "sampler3D";
    default: return kind + "sampler2D";
  }
}

}  // namespace

bool has_stencil_textures(const Device& device) { return device.api().has(31, 43, {"GL_ARB_stencil_texturing"}); }

void require_stencil_textures(const Device& device) {
  if (has_stencil_textures(device)) return;
  const int version = device.api().version;
  fail(ErrorCode::unsupported, from_texture_op,
       "reading stencil needs OpenGL ES 3.1 or OpenGL 4.3; " + device.info().name + " has " +
           std::to_string(version / 10) + "." + std::to_string(version % 10) + ".");
}

std::string HostImport::type() const {
  const Type parts = parts_of_type();
  return SourceType{.sampler = sampler_of(parts.texels, parts.target),
                    .swizzle = components_text(parts.components),
                    .value = parts.value,
                    .is_alone = parts.is_alone,
                    .is_from_corner = parts.is_from_corner}
      .text();
}

std::uint64_t HostImport::type_number() const {
  const Type parts = parts_of_type();
  std::uint64_t number = parts.target;
  number = number << 8 | parts.components;
  number = number << 4 | static_cast<std::uint64_t>(parts.texels);
  number = number << 4 | static_cast<std::uint64_t>(parts.value);
  return number << 2 | std::uint64_t{parts.is_alone} << 1 | std::uint64_t{parts.is_from_corner};
}

HostImport::Type TextureImport::parts_of_type() const {
  const TexturePart& part = traits_.part;
  const bool is_flat = host_.target == GL_TEXTURE_2D || host_.target == texture_external;
  return {.texels = is_stencil(host_.channels) ? Texels::unsigned_integers : traits_.texels,
          .target = host_.target,
          .components = components_number(host_.channels),
          .value = value_,
          .is_alone = is_sampled_alone(),
          .is_from_corner = is_flat && part.x == 0 && part.y == 0 && part.level == traits_.base_level};
}

bool TextureImport::is_among(const std::vector<GLuint>& textures) const {
  return std::ranges::count(textures, host_.texture) != 0;
}

std::uint32_t TextureImport::touches() const { return state_of_textures(host_.target); }

HostImport::Part TextureImport::part() const {
  const TexturePart& part = traits_.part;
  return {part.x, part.y, part.layer, part.level - traits_.base_level};
}

bool TextureImport::is_filterable() const {
  return traits_.is_filterable && traits_.is_whole && host_.target == GL_TEXTURE_2D &&
         traits_.part.level == traits_.base_level && value_ == HostValue::floats && !is_depth(host_.channels) &&
         !is_stencil(host_.channels);
}

void TextureImport::bind(const PassTools& tools, GLuint unit, bool is_filtered) const {
  const GladGLES2Context& gl = tools.device.gl();
  using Reading = PassTools::Reading;
  const bool is_base_level = traits_.part.level == traits_.base_level;
  tools.bind_texture(host_.target, host_.texture, unit,
                     is_filtered     ? Reading::filtered
                     : is_base_level ? Reading::base_level
                                     : Reading::level);
  if (!is_stencil(host_.channels)) return;
  gl.GetTexParameteriv(host_.target, depth_stencil_texture_mode, &mode_before_);
  gl.TexParameteri(host_.target, depth_stencil_texture_mode, stencil_index);
}

void TextureImport::release(const PassTools& tools, GLuint unit) const {
  if (!is_stencil(host_.channels)) return;
  tools.device.gl().ActiveTexture(GL_TEXTURE0 + unit);
  tools.device.gl().TexParameteri(host_.target, depth_stencil_texture_mode, mode_before_);
}

}  // namespace tessera::gles

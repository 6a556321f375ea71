// Checks of a host's objects that only the driver can make.
#pragma once
#include <string_view>
#include <vector>

#include "backend_gles/device.h"
#include "core/kernel/host_image.h"

namespace tessera::gles {

constexpr GLenum texture_external = 0x8D65;  // GL_TEXTURE_EXTERNAL_OES

struct TextureTraits {
  Texels texels = Texels::floats;
  bool is_dense_float = false;  // GL_RGBA32F, read without a swizzle: laid out as a tensor is
  bool is_filterable = false;
};

// Throws invalid_argument, with `op`, where the name is no texture's or the texture has another size. The context is
// entered with touch::texture and state::draw_framebuffer.
TextureTraits traits_of(const Device&, const HostTexture&, std::string_view op);

// Whether the name is that of a host's texture, or of a tensor that is lent, and was so when OwnNames told the age.
bool is_readable_texture(const Device&, GLuint texture, std::uint64_t age);
// These throw invalid_argument where a name is not, or no longer, that of such an object.
void require_texture(const Device&, GLuint texture, std::string_view op, std::uint64_t age);
void require_writable_texture(const Device&, GLuint texture, std::string_view op);
void require_framebuffer(const Device&, GLuint framebuffer, std::string_view op);  // 0, the window's, is always one

// Of a color attachment of the framebuffer that is bound for drawing.
Texels texels_of_attachment(const Device&, GLenum attachment);
// Those that are attached to it, in any place.
std::vector<GLuint> textures_of_framebuffer(const Device&);

}  // namespace tessera::gles

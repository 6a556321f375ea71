// What a texture of the host's is: only the driver knows.
#pragma once
#include <string_view>

#include "backend_gles/device.h"

namespace tessera::gles {

constexpr GLenum texture_external = 0x8D65;  // GL_TEXTURE_EXTERNAL_OES

enum class PixelKind { real, signed_integer, unsigned_integer };  // how a shader sees its texels

struct TextureTraits {
  PixelKind kind = PixelKind::real;
  bool is_dense_float = false;  // GL_RGBA32F, read without a swizzle: laid out as a tensor is
};

// Throws invalid_argument, with `op`, where it is no texture or not as large as the host says. The context is entered
// with touch::texture and state::draw_framebuffer.
TextureTraits traits_of(const Device&, const HostTexture&, std::string_view op);

// Whether it is a texture of the host's, or a tensor that is lent; of the age that OwnNames told first.
bool is_readable_texture(const Device&, GLuint texture, std::uint64_t age);
// Throw invalid_argument where a name is not, or no longer, what the host says.
void require_texture(const Device&, GLuint texture, std::string_view op, std::uint64_t age);
void require_writable_texture(const Device&, GLuint texture);
void require_framebuffer(const Device&, GLuint framebuffer);  // 0, the window's, is always one

// The kind of a color attachment of the framebuffer that is bound for drawing.
PixelKind kind_of_attachment(const Device&, GLenum attachment);

}  // namespace tessera::gles

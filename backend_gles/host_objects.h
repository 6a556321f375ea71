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
  Bytes bytes = Bytes::none;
  GLenum format = 0;                          // 0: unknown
  bool has_depth = true, has_stencil = true;  // as far as is known
  bool is_filterable = false;
  bool is_dense_float = false;  // GL_RGBA32F, read without a swizzle: laid out as a tensor is
  TexturePart part{};           // the host's, see checked_part()
  bool is_whole = true;         // the part
  int base_level = 0;
  std::uint64_t age = 0;  // of a texture of tessera's own, which a host was lent: see OwnNames

  std::string format_name() const;  // for people
};

// Throws invalid_argument, with `op`, where the name is no texture's, or the texture has another size or no such part.
// The context is entered, and its state is as before afterwards.
TextureTraits traits_of(const Device&, const HostTexture&, std::string_view op);

// A level of a host's texture, with one layer, face or slice.
struct AttachedTexture {
  GLuint texture;
  GLenum target = GL_TEXTURE_2D;
  int level = 0, layer = 0;
};
void attach(const GladGLES2Context&, GLenum attachment, const AttachedTexture&);  // to the framebuffer for drawing
void detach(const GladGLES2Context&, GLenum attachment);

// Whether the name is that of a host's texture, or of a tensor that is lent, and was so when OwnNames told the age.
bool is_readable_texture(const Device&, GLuint texture, std::uint64_t age);
// These throw invalid_argument where a name is not, or no longer, that of such an object.
void require_texture(const Device&, GLuint texture, std::string_view op, std::uint64_t age);
void require_texture_of_host(const Device&, GLuint texture, std::string_view op);  // and not of a tensor
void require_framebuffer(const Device&, GLuint framebuffer, std::string_view op);  // 0, the window's, is always one

// Of an attachment of the framebuffer that is bound for drawing.
GLint attachment_parameter(const Device&, GLenum attachment, GLenum name);
Texels texels_of_attachment(const Device&, GLenum attachment);
Bytes bytes_of_attachment(const Device&, GLenum attachment);
// Those that are attached to it, in any place.
std::vector<GLuint> textures_of_framebuffer(const Device&);

}  // namespace tessera::gles

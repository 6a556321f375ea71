// The formats of textures: those of tensors, and how a shader sees those of a host's.
#pragma once
#include <glad/gles2.h>

#include "core/kernel/host_image.h"
#include <tessera/dtype.h>

namespace tessera::gles {

struct TextureFormat {
  GLenum internal;      // as glTexStorage2D names it
  GLenum format, type;  // of pixels on the host
};
const TextureFormat& format_of(DType);

// How a shader sees the texels of an internal format.
Texels texels_of(GLenum internal_format);
Bytes bytes_of(GLenum internal_format);
bool has_depth(GLenum internal_format);
bool has_stencil(GLenum internal_format);
// Pixels that OpenGL takes for a texture of the internal format, if they are none.
TextureFormat pixels_for(GLenum internal_format);
std::string name_of_format(GLenum internal_format);  // for people

}  // namespace tessera::gles

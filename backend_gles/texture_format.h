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

Texels texels_of(GLenum internal_format);

}  // namespace tessera::gles

#include "backend_gles/texture_format.h"

#include "backend_gles/egl.h"

namespace tessera::gles {

const TextureFormat& format_of(DType dtype) {
  static constexpr TextureFormat f32{GL_RGBA32F, GL_RGBA, GL_FLOAT};
  static constexpr TextureFormat f16{GL_RGBA16F, GL_RGBA, GL_HALF_FLOAT};
  static constexpr TextureFormat i32{GL_RGBA32I, GL_RGBA_INTEGER, GL_INT};
  static constexpr TextureFormat i8{GL_RGBA8I, GL_RGBA_INTEGER, GL_BYTE};
  static constexpr TextureFormat u8{GL_RGBA8UI, GL_RGBA_INTEGER, GL_UNSIGNED_BYTE};
  switch (dtype) {
    case DType::f32: return f32;
    case DType::f16: return f16;
    case DType::i32: return i32;
    case DType::i8: return i8;
    case DType::u8:
    case DType::boolean: break;
  }
  return u8;
}

Texels texels_of(GLenum internal_format) {
  switch (internal_format) {
    case GL_R8I:
    case GL_R16I:
    case GL_R32I:
    case GL_RG8I:
    case GL_RG16I:
    case GL_RG32I:
    case GL_RGB8I:
    case GL_RGB16I:
    case GL_RGB32I:
    case GL_RGBA8I:
    case GL_RGBA16I:
    case GL_RGBA32I: return Texels::signed_integers;
    case GL_R8UI:
    case GL_R16UI:
    case GL_R32UI:
    case GL_RG8UI:
    case GL_RG16UI:
    case GL_RG32UI:
    case GL_RGB8UI:
    case GL_RGB16UI:
    case GL_RGB32UI:
    case GL_RGBA8UI:
    case GL_RGBA16UI:
    case GL_RGBA32UI:
    case GL_RGB10_A2UI: return Texels::unsigned_integers;
    default: return Texels::floats;
  }
}

Bytes bytes_of(GLenum internal_format) {
  switch (internal_format) {
    case GL_R8:
    case GL_RG8:
    case GL_RGB8:
    case GL_RGBA8:
    case 0x93A1:  // GL_BGRA8_EXT
    case GL_RGB:  // without a size: of bytes
    case GL_RGBA: return Bytes::normalised;
    case GL_SRGB8:
    case GL_SRGB8_ALPHA8: return Bytes::srgb;
    case GL_R8UI:
    case GL_RG8UI:
    case GL_RGB8UI:
    case GL_RGBA8UI: return Bytes::integers;
    default: return Bytes::none;
  }
}

bool has_depth(GLenum internal_format) {
  return internal_format == GL_DEPTH_COMPONENT16 || internal_format == GL_DEPTH_COMPONENT24 ||
         internal_format == GL_DEPTH_COMPONENT32F || internal_format == GL_DEPTH24_STENCIL8 ||
         internal_format == GL_DEPTH32F_STENCIL8;
}

bool has_stencil(GLenum internal_format) {
  return internal_format == GL_DEPTH24_STENCIL8 || internal_format == GL_DEPTH32F_STENCIL8 ||
         internal_format == GL_STENCIL_INDEX8;
}

TextureFormat pixels_for(GLenum internal_format) {
  if (has_depth(internal_format) && has_stencil(internal_format))
    return {internal_format, GL_DEPTH_STENCIL,
            static_cast<GLenum>(internal_format == GL_DEPTH24_STENCIL8 ? GL_UNSIGNED_INT_24_8
                                                                       : GL_FLOAT_32_UNSIGNED_INT_24_8_REV)};
  if (has_depth(internal_format)) return {internal_format, GL_DEPTH_COMPONENT, GL_FLOAT};
  const bool is_float = texels_of(internal_format) == Texels::floats;
  return {internal_format, static_cast<GLenum>(is_float ? GL_RGBA : GL_RGBA_INTEGER),
          static_cast<GLenum>(is_float ? GL_FLOAT : GL_INT)};
}

std::string name_of_format(GLenum internal_format) {
  struct Named {
    GLenum format;
    const char* name;
  };
#define NAMED(format) \
  { format, #format }
  constexpr Named all[] = {NAMED(GL_R8),
                           NAMED(GL_RG8),
                           NAMED(GL_RGB8),
                           NAMED(GL_RGBA8),
                           NAMED(GL_SRGB8_ALPHA8),
                           NAMED(GL_RGBA8_SNORM),
                           NAMED(GL_RGB565),
                           NAMED(GL_RGB10_A2),
                           NAMED(GL_R16F),
                           NAMED(GL_RGBA16F),
                           NAMED(GL_R32F),
                           NAMED(GL_RGBA32F),
                           NAMED(GL_RGBA8I),
                           NAMED(GL_RGBA16UI),
                           NAMED(GL_RGBA32UI),
                           NAMED(GL_RGBA32I),
                           NAMED(GL_DEPTH_COMPONENT16),
                           NAMED(GL_DEPTH_COMPONENT24),
                           NAMED(GL_DEPTH_COMPONENT32F),
                           NAMED(GL_DEPTH24_STENCIL8),
                           NAMED(GL_DEPTH32F_STENCIL8)};
#undef NAMED
  for (const Named& each : all)
    if (each.format == internal_format) return each.name;
  return internal_format == 0 ? "unknown" : "internal format " + hex(internal_format);
}

}  // namespace tessera::gles

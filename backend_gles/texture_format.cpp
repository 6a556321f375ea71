#include "backend_gles/texture_format.h"

#include <algorithm>

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
  constexpr GLenum of_signed[] = {GL_R8I,   GL_R16I,   GL_R32I,   GL_RG8I,   GL_RG16I,   GL_RG32I,
                                  GL_RGB8I, GL_RGB16I, GL_RGB32I, GL_RGBA8I, GL_RGBA16I, GL_RGBA32I};
  constexpr GLenum of_unsigned[] = {GL_R8UI,     GL_R16UI,    GL_R32UI,     GL_RG8UI,   GL_RG16UI,
                                    GL_RG32UI,   GL_RGB8UI,   GL_RGB16UI,   GL_RGB32UI, GL_RGBA8UI,
                                    GL_RGBA16UI, GL_RGBA32UI, GL_RGB10_A2UI};
  if (std::ranges::find(of_signed, internal_format) != std::end(of_signed)) return Texels::signed_integers;
  if (std::ranges::find(of_unsigned, internal_format) != std::end(of_unsigned)) return Texels::unsigned_integers;
  return Texels::floats;
}

}  // namespace tessera::gles

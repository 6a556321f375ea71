// Tensors in textures: element i is component i % 4 of texel i / 4, texels row by row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "backend_gles/handle.h"
#include "core/backend.h"

namespace tessera::gles {

struct TextureFormat {
  GLenum internal;      // as glTexStorage2D names it
  GLenum format, type;  // of pixels on the host
};
const TextureFormat& format_of(DType);

struct Extent {
  std::int64_t width, height;
};
// The layout of a StorageSpec says how wide and how high a texture is to be; without one it is about as wide as high.
std::uint64_t layout_of(const Extent&);
Extent extent_of(const StorageSpec&);

StorageClass class_of(const StorageSpec&);

class TextureStorage final : public Storage {
 public:
  // Throws out_of_memory.
  TextureStorage(std::shared_ptr<const Device>, const StorageSpec&);

  void upload(DType, std::span<const std::byte> elements);  // what follows the elements becomes zero

  GLuint texture() const { return texture_.get(); }
  GLuint framebuffer() const;  // made when it is first asked for; the context is current
  GLsizei width() const { return static_cast<GLsizei>(extent_.width); }
  GLsizei height() const { return static_cast<GLsizei>(extent_.height); }

 private:
  std::shared_ptr<const Device> device_;
  Extent extent_;
  Texture texture_;
  mutable Framebuffer framebuffer_;
};

}  // namespace tessera::gles

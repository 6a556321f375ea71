// Tensors in textures: element i is component i % 4 of texel i / 4, texels row by row. A storage of pixels
// (StorageSpec::pixels) has a texel with as many components as channels for each pixel, and none is uploaded or read
// back.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "backend_gles/handle.h"
#include "backend_gles/texture_format.h"
#include "core/kernel/backend.h"

namespace tessera::gles {

struct Extent {
  std::int64_t width, height;
  int layers = 1;  // more: it is an array of textures, or the slices of a volume
  bool is_volume = false;
};
constexpr int max_slices = 255;  // of a volume: class_of() has eight bits for them
// The layout of a StorageSpec says how wide and how high a texture is to be; without one it is up to four times as high
// as wide.
std::uint64_t layout_of(const Extent&);
Extent extent_of(const StorageSpec&);

StorageClass class_of(const StorageSpec&);
std::optional<StorageSpec> shared_by(const StorageSpec&, const StorageSpec&);

class TextureStorage final : public Storage {
 public:
  // Throws out_of_memory.
  TextureStorage(std::shared_ptr<const Device>, const StorageSpec&);
  // Borrows a texture of the host's.
  TextureStorage(std::shared_ptr<const Device>, GLuint host_texture, const Extent&);

  void upload(DType, std::span<const std::byte> elements);  // the rest of the texture becomes zero

  GLuint texture() const { return name_; }
  int layers() const { return extent_.layers; }
  bool is_volume() const { return extent_.is_volume; }
  GLenum target() const {
    if (is_volume()) return GL_TEXTURE_3D;
    return layers() > 1 ? GL_TEXTURE_2D_ARRAY : GL_TEXTURE_2D;
  }
  void bind_framebuffer(GLenum target) const;  // of the one layer; makes one at the first call; the context is current
  // Throws invalid_argument where the host has deleted its texture; the context is current.
  void require_texture() const;
  GLsizei width() const { return narrow<GLsizei>(extent_.width); }
  GLsizei height() const { return narrow<GLsizei>(extent_.height); }
  GLsizei rows_of(std::int64_t elements) const;  // that so many elements take, from the first row on

 private:
  void define(const StorageSpec&) const;

  std::shared_ptr<const Device> device_;
  Extent extent_;
  Texture texture_;  // empty for the host's
  GLuint name_;
  std::uint64_t age_;  // see OwnNames
  mutable Framebuffer framebuffer_;
};

inline const TextureStorage& texture_of(const Storage& storage) { return static_cast<const TextureStorage&>(storage); }
std::uint64_t layout_of_storage(const Storage&);

}  // namespace tessera::gles

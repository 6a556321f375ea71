// Tensors in buffers: element i is element i of the buffer. A buffer has the whole texels of its tensor and no more, so
// that a host finds a buffer of the tensor's size; and since kernels write whole texels, nothing in there is stale.
// Only what no host ever sees may have a larger one (Backend::shared_by): kernels that read it see its own part.
#pragma once
#include <memory>
#include <optional>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"

namespace tessera::webgpu {

class BufferStorage final : public Storage {
 public:
  BufferStorage(std::shared_ptr<Device>, std::shared_ptr<BindGroups>, std::uint64_t bytes);
  // Borrows a part of a host's buffer.
  BufferStorage(std::shared_ptr<Device>, std::shared_ptr<BindGroups>, WGPUBuffer, std::uint64_t offset,
                std::uint64_t bytes);
  ~BufferStorage() override;

  const BoundBuffer& buffer() const { return buffer_; }
  bool is_borrowed() const { return is_borrowed_; }                            // a host's
  void keep(std::shared_ptr<const void> owner) { owner_ = std::move(owner); }  // of a borrowed buffer

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_;
  Handle<WGPUBuffer> handle_;
  BoundBuffer buffer_;
  bool is_borrowed_;
  std::shared_ptr<const void> owner_;
};

// An image of f16 that only pixel kernels see, in a texture, so that they can filter it.
class TextureStorage final : public Storage {
 public:
  TextureStorage(std::shared_ptr<Device>, std::shared_ptr<BindGroups>, const PixelLayout&);
  ~TextureStorage() override;

  const BoundView& view() const { return view_; }

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_;
  Handle<WGPUTexture> texture_;
  Handle<WGPUTextureView> handle_;
  BoundView view_;
};

constexpr bool is_texture(const StorageSpec& spec) { return spec.pixels.is_half; }

inline const BoundView& texels_of(const Storage& storage) { return static_cast<const TextureStorage&>(storage).view(); }

inline const BoundBuffer& buffer_of(const Storage& storage) {
  return static_cast<const BufferStorage&>(storage).buffer();
}
inline bool is_borrowed(const Storage& storage) { return static_cast<const BufferStorage&>(storage).is_borrowed(); }

constexpr std::uint64_t largest_texel = 16;  // four elements of 32 bits

StorageClass class_of(const StorageSpec&);
std::optional<StorageSpec> shared_by(const StorageSpec&, const StorageSpec&);

// The bytes of the whole texels, of which there is one at least.
inline std::uint64_t texel_bytes(std::int64_t elements, DType dtype) {
  return elements > 0 ? byte_count(4 * texel_count(elements), dtype) : byte_count(4, dtype);
}

// The part of a storage that has the elements of an input.
BoundBuffer elements_of(const BoundInput&, DType);
// The bytes of a binding in the key of a bind group: the last bit keeps them apart from ids.
constexpr std::uint64_t key_of_bytes(std::uint64_t bytes) { return std::uint64_t{1} << 63 | bytes; }

// Writes the elements, and zeros up to the end of the last texel, which is that of the buffer.
void write(const Device&, const BoundBuffer&, std::span<const std::byte> elements);

}  // namespace tessera::webgpu

#include "backend_webgpu/storage.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tessera::webgpu {
namespace {

// All uses that a host may have for a tensor's buffer, so that handing it out never takes a copy.
constexpr WGPUBufferUsage usages = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst |
                                   WGPUBufferUsage_Vertex | WGPUBufferUsage_Index | WGPUBufferUsage_Indirect |
                                   WGPUBufferUsage_Uniform;

}  // namespace

BufferStorage::BufferStorage(std::shared_ptr<Device> device, std::shared_ptr<BindGroups> bind_groups,
                             std::uint64_t bytes)
    : device_(std::move(device)),
      bind_groups_(std::move(bind_groups)),
      handle_(device_->make_buffer(bytes, usages, "tessera storage, " + std::to_string(bytes) + " bytes")),
      buffer_{.handle = handle_.get(), .bytes = bytes, .id = next_buffer_id()},
      is_borrowed_(false) {}

BufferStorage::BufferStorage(std::shared_ptr<Device> device, std::shared_ptr<BindGroups> bind_groups, WGPUBuffer hosts,
                             std::uint64_t offset, std::uint64_t bytes)
    : device_(std::move(device)),
      bind_groups_(std::move(bind_groups)),
      handle_(shared(hosts)),
      buffer_{.handle = hosts, .bytes = bytes, .offset = offset, .id = next_buffer_id()},
      is_borrowed_(true) {}

BufferStorage::~BufferStorage() { bind_groups_->forget(buffer_.id); }

TextureStorage::TextureStorage(std::shared_ptr<Device> device, std::shared_ptr<BindGroups> bind_groups,
                               const PixelLayout& layout)
    : device_(std::move(device)), bind_groups_(std::move(bind_groups)) {
  const auto width = narrow<std::uint32_t>(layout.width), height = narrow<std::uint32_t>(layout.height),
             slices = narrow<std::uint32_t>(layout.slices);
  texture_ = device_->make_texture(
      {width, height / slices, slices}, slices > 1 ? WGPUTextureDimension_3D : WGPUTextureDimension_2D,
      WGPUTextureFormat_RGBA16Float,
      WGPUTextureUsage_TextureBinding | WGPUTextureUsage_StorageBinding | WGPUTextureUsage_RenderAttachment,
      "tessera image, " + std::to_string(width) + "x" + std::to_string(height));
  handle_ = Handle<WGPUTextureView>(wgpuTextureCreateView(texture_.get(), nullptr));
  view_ = {handle_.get(), next_buffer_id()};
}

TextureStorage::~TextureStorage() { bind_groups_->forget(view_.id); }

StorageClass class_of(const StorageSpec& spec) {
  if (is_texture(spec)) {
    constexpr std::uint64_t texel_bytes = 8;
    const std::uint64_t of_textures = std::uint64_t{spec.pixels.slices > 1 ? 3u : 2u} << 62;
    const auto width = narrow<std::uint64_t>(spec.pixels.width), height = narrow<std::uint64_t>(spec.pixels.height);
    return {of_textures | width << 32 | height, width * height * texel_bytes};
  }
  const std::uint64_t bytes = texel_bytes(spec.elements, spec.dtype);
  return {bytes, bytes};
}

// Textures are filtered up to their edges, and so cannot be larger.
std::optional<StorageSpec> shared_by(const StorageSpec& a, const StorageSpec& b) {
  if (is_texture(a) || is_texture(b)) {
    if (class_of(a).key != class_of(b).key) return std::nullopt;
    return a;
  }
  return class_of(a).bytes < class_of(b).bytes ? b : a;
}

BoundBuffer elements_of(const BoundInput& input, DType dtype) {
  BoundBuffer buffer = buffer_of(*input.storage);
  buffer.bytes = std::min(buffer.bytes, texel_bytes(input.elements, dtype));
  return buffer;
}

void write(const Device& device, const BoundBuffer& buffer, std::span<const std::byte> elements) {
  const std::size_t whole = elements.size() / largest_texel * largest_texel;
  if (whole > 0) wgpuQueueWriteBuffer(device.queue(), buffer.handle, 0, elements.data(), whole);
  const std::span<const std::byte> rest = elements.subspan(whole);
  if (rest.empty()) return;
  std::array<std::byte, largest_texel> tail{};
  std::memcpy(tail.data(), rest.data(), rest.size());
  wgpuQueueWriteBuffer(device.queue(), buffer.handle, whole, tail.data(), buffer.bytes - whole);
}

}  // namespace tessera::webgpu

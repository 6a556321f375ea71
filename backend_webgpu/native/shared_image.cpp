#include "backend_webgpu/shared_image.h"

#include "backend_webgpu/shared_texture.h"
#include "backend_webgpu/storage.h"
#include "backend_webgpu/texture_format.h"
#include "core/platform/vulkan_abi.h"

namespace tessera::webgpu {
namespace {

SharedTexture texture_over_shared_image(const std::shared_ptr<Device>& device, const SharedImage& image) {
  WGPUSharedTextureMemoryOpaqueFDDescriptor memory = opaque_memory(image.memory());
  return SharedTexture(device, "shared image", memory.chain, {image.spec.width, image.spec.height, 1},
                       format_of(image.spec.dtype), WGPUTextureUsage_CopySrc | WGPUTextureUsage_CopyDst);
}

class ImageOnDevice final : public ImportedImage {
 public:
  ImageOnDevice(const std::shared_ptr<Device>& device, std::shared_ptr<SharedImage> image)
      : image_(std::move(image)), texture_(texture_over_shared_image(device, *image_)) {}

  void write(const Storage& from, std::int64_t elements) override {
    const BoundBuffer& buffer = buffer_of(from);
    access([&](WGPUCommandEncoder encoder) {
      for_parts(elements, [&](std::uint64_t offset, const WGPUOrigin3D& origin, const WGPUExtent3D& size) {
        const auto source = in_buffer(buffer.handle, offset);
        const auto target = in_texture(origin);
        wgpuCommandEncoderCopyBufferToTexture(encoder, &source, &target, &size);
      });
      // The rest of the last row.
      const std::uint32_t last = parts_of(elements).last;
      if (last == 0) return;
      if (!zeros_) zeros_ = texture_.device()->make_buffer(row_bytes(), WGPUBufferUsage_CopySrc, "tessera zeros");
      const auto source = in_buffer(zeros_.get(), 0);
      const auto target = in_texture({last, image_->spec.height - 1, 0});
      const WGPUExtent3D size{image_->spec.width - last, 1, 1};
      wgpuCommandEncoderCopyBufferToTexture(encoder, &source, &target, &size);
    });
  }

  void read(Storage& to, std::int64_t elements) override {
    const BoundBuffer& buffer = buffer_of(to);
    access([&](WGPUCommandEncoder encoder) {
      for_parts(elements, [&](std::uint64_t offset, const WGPUOrigin3D& origin, const WGPUExtent3D& size) {
        const auto source = in_texture(origin);
        const auto target = in_buffer(buffer.handle, offset);
        wgpuCommandEncoderCopyTextureToBuffer(encoder, &source, &target, &size);
      });
    });
  }

 private:
  std::uint64_t row_bytes() const { return image_->spec.texel_bytes() * image_->spec.width; }

  struct Parts {
    std::uint32_t rows;  // that are whole
    std::uint32_t last;  // texels of the row after them
  };
  Parts parts_of(std::int64_t elements) const {
    const std::int64_t texels = texel_count(elements), width = image_->spec.width;
    return {narrow<std::uint32_t>(texels / width), narrow<std::uint32_t>(texels % width)};
  }

  template <class Copy>
  void for_parts(std::int64_t elements, const Copy& copy) const {
    const std::uint32_t width = image_->spec.width;
    const auto [rows, last] = parts_of(elements);
    if (rows > 0) copy(0, WGPUOrigin3D{0, 0, 0}, WGPUExtent3D{width, rows, 1});
    if (last > 0) copy(rows * row_bytes(), WGPUOrigin3D{0, rows, 0}, WGPUExtent3D{last, 1, 1});
  }

  WGPUTexelCopyBufferInfo in_buffer(WGPUBuffer buffer, std::uint64_t offset) const {
    WGPUTexelCopyBufferInfo info{};
    info.buffer = buffer;
    info.layout.offset = offset;
    info.layout.bytesPerRow = narrow<std::uint32_t>(row_bytes());
    info.layout.rowsPerImage = image_->spec.height;
    return info;
  }
  WGPUTexelCopyTextureInfo in_texture(const WGPUOrigin3D& origin) const {
    WGPUTexelCopyTextureInfo info{};
    info.texture = texture_.get();
    info.origin = origin;
    info.aspect = WGPUTextureAspect_All;
    return info;
  }

  // Submits the recorded copies, after the last device that used the image and before the next one.
  template <class Record>
  void access(const Record& record) {
    Device& device = *texture_.device();
    device.throw_faults();
    ErrorScope refused(device, WGPUErrorFilter_Validation);
    begin();
    submit(device, "tessera shared image", record);
    Fd done = texture_.end().given.done;
    texture_.throw_refusal(refused);
    if (!done) throw Error(ErrorCode::unsupported, "WebGPU: Dawn gave no fence for a shared image");
    image_->last_use = std::move(done);
  }

  void begin() const {
    const bool is_used = static_cast<bool>(image_->last_use);
    Handle<WGPUSharedFence> last_use;
    if (is_used) last_use = import_semaphore(*texture_.device(), image_->last_use.get());
    texture_.begin({.old_layout = is_used ? vulkan::layout_general : vulkan::layout_undefined,
                    .has_pixels = is_used,
                    .waited = last_use.get()});
  }

  std::shared_ptr<SharedImage> image_;
  SharedTexture texture_;
  Handle<WGPUBuffer> zeros_;
};

}  // namespace

std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<Device>& device,
                                            const std::shared_ptr<SharedImage>& image) {
  return std::make_unique<ImageOnDevice>(device, image);
}

}  // namespace tessera::webgpu

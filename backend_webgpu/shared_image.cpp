#include "backend_webgpu/shared_image.h"

#include "backend_webgpu/storage.h"
#include "backend_webgpu/texture_format.h"
#include "core/platform/vulkan_abi.h"

namespace tessera::webgpu {
namespace {

class ImageOnDevice final : public ImportedImage {
 public:
  ImageOnDevice(std::shared_ptr<Device> device, std::shared_ptr<SharedImage> image)
      : device_(std::move(device)), image_(std::move(image)) {
    device_->throw_faults();  // Dawn never lets go of an image that a lost device imports
    ErrorScope refused(*device_, WGPUErrorFilter_Validation);
    const SharedImage::Memory memory = image_->memory();
    WGPUSharedTextureMemoryOpaqueFDDescriptor source{};
    source.chain.sType = WGPUSType_SharedTextureMemoryOpaqueFDDescriptor;
    source.vkImageCreateInfo = memory.image_parameters;
    source.memoryFD = memory.fd;  // Dawn makes a copy
    source.memoryTypeIndex = memory.type;
    source.allocationSize = memory.bytes;
    WGPUSharedTextureMemoryDescriptor descriptor{};
    descriptor.nextInChain = &source.chain;
    descriptor.label = view_of("tessera shared image");
    memory_ = Handle(wgpuDeviceImportSharedTextureMemory(device_->get(), &descriptor));
    WGPUTextureDescriptor texture{};
    texture.label = view_of("tessera shared image");
    texture.usage = WGPUTextureUsage_CopySrc | WGPUTextureUsage_CopyDst;
    texture.dimension = WGPUTextureDimension_2D;
    texture.size = {image_->spec.width, image_->spec.height, 1};
    texture.format = format_of(image_->spec.dtype);
    texture.mipLevelCount = 1;
    texture.sampleCount = 1;
    texture_ = Handle(wgpuSharedTextureMemoryCreateTexture(memory_.get(), &texture));
    throw_refusal(refused);
  }

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
      if (!zeros_) zeros_ = device_->make_buffer(row_bytes(), WGPUBufferUsage_CopySrc, "tessera zeros");
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
    device_->throw_faults();
    ErrorScope refused(*device_, WGPUErrorFilter_Validation);
    begin();
    submit(*device_, "tessera shared image", record);
    Fd done = end();
    throw_refusal(refused);
    if (!done) throw Error(ErrorCode::unsupported, "WebGPU: Dawn gave no fence for a shared image");
    image_->last_use = std::move(done);
  }

  void begin() {
    const bool is_used = static_cast<bool>(image_->last_use);
    WGPUSharedTextureMemoryVkImageLayoutBeginState layout{};
    layout.chain.sType = WGPUSType_SharedTextureMemoryVkImageLayoutBeginState;
    layout.oldLayout = is_used ? vulkan::layout_general : vulkan::layout_undefined;
    layout.newLayout = layout.oldLayout;
    WGPUSharedTextureMemoryBeginAccessDescriptor access{};
    access.nextInChain = &layout.chain;
    access.initialized = is_used;
    Handle<WGPUSharedFence> fence;
    WGPUSharedFence waited = nullptr;
    const std::uint64_t value = 1;
    if (is_used) {
      WGPUSharedFenceVkSemaphoreOpaqueFDDescriptor semaphore{};
      semaphore.chain.sType = WGPUSType_SharedFenceVkSemaphoreOpaqueFDDescriptor;
      semaphore.handle = image_->last_use.get();  // Dawn makes a copy
      WGPUSharedFenceDescriptor descriptor{};
      descriptor.nextInChain = &semaphore.chain;
      fence = Handle(wgpuDeviceImportSharedFence(device_->get(), &descriptor));
      waited = fence.get();
      access.fenceCount = 1;
      access.fences = &waited;
      access.signaledValues = &value;
    }
    wgpuSharedTextureMemoryBeginAccess(memory_.get(), texture_.get(), &access);
  }

  Fd end() {
    WGPUSharedTextureMemoryVkImageLayoutEndState layout{};
    layout.chain.sType = WGPUSType_SharedTextureMemoryVkImageLayoutEndState;
    WGPUSharedTextureMemoryEndAccessState state{};
    state.nextInChain = &layout.chain;
    if (wgpuSharedTextureMemoryEndAccess(memory_.get(), texture_.get(), &state) != WGPUStatus_Success) return {};
    Fd done;
    if (state.fenceCount == 1) {
      WGPUSharedFenceVkSemaphoreOpaqueFDExportInfo semaphore{};
      semaphore.chain.sType = WGPUSType_SharedFenceVkSemaphoreOpaqueFDExportInfo;
      WGPUSharedFenceExportInfo info{};
      info.nextInChain = &semaphore.chain;
      wgpuSharedFenceExportInfo(state.fences[0], &info);
      done = Fd::copy_of(semaphore.handle);
    }
    wgpuSharedTextureMemoryEndAccessStateFreeMembers(state);
    return done;
  }

  void throw_refusal(ErrorScope& refused) const {
    const std::string error = refused.close();
    device_->throw_faults();
    if (!error.empty()) throw Error(ErrorCode::unsupported, "WebGPU: Dawn refuses a shared image: " + error);
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<SharedImage> image_;
  Handle<WGPUSharedTextureMemory> memory_;
  Handle<WGPUTexture> texture_;
  Handle<WGPUBuffer> zeros_;
};

}  // namespace

std::unique_ptr<ImportedImage> import_image(const std::shared_ptr<Device>& device,
                                            const std::shared_ptr<SharedImage>& image) {
  return std::make_unique<ImageOnDevice>(device, image);
}

}  // namespace tessera::webgpu

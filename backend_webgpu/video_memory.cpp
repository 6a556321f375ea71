// webgpu::from_dma_buf
#include "backend_webgpu/video_memory.h"

#include "backend_webgpu/backend.h"
#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/shared_texture.h"
#include "backend_webgpu/texture_format.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include <tessera/pointwise.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view from_dma_buf_op = "webgpu::from_dma_buf";

// A frame that is the device's while kernels sample it.
class DmaBufOnDevice final : public HostAccess {
 public:
  explicit DmaBufOnDevice(SharedTexture texture) : texture_(std::move(texture)) {}

  WGPUTexture texture() const { return texture_.get(); }

  void begin() override {
    ErrorScope refused(*texture_.device(), WGPUErrorFilter_Validation);
    texture_.begin(next_);
    texture_.throw_refusal(refused);
  }
  void end() override {
    ErrorScope refused(*texture_.device(), WGPUErrorFilter_Validation);
    const VulkanHostImage::GivenBack given =
        texture_.end().given;  // of its fence nobody hears: hosts ask webgpu::when_done
    texture_.throw_refusal(refused);
    next_.old_layout = given.old_layout;
    next_.new_layout = given.new_layout;
  }

 private:
  SharedTexture texture_;
  SharedTexture::Begin next_;
};

void require_dma_bufs(const Device& device) {
  if (const std::string features = missing_for_dma_bufs(device); !features.empty())
    fail(ErrorCode::unsupported, from_dma_buf_op,
         device.info().name + " (" + device.info().driver + ") lacks " + features +
             ", without which Dawn takes no dma-buf" +
             (device.is_borrowed() ? "; where its adapter has the feature, the host requests it with the device."
                                   : "."));
}

std::shared_ptr<DmaBufOnDevice> imported_plane(const std::shared_ptr<Device>& device, const DmaBufImage& image,
                                               const DmaBufTexture& texture) {
  wait_for_writers(image.planes[0].fd);
  DmaBufMemory memory(image, texture.fourcc);
  try {
    return std::make_shared<DmaBufOnDevice>(SharedTexture(device, "dma-buf", memory.descriptor.chain,
                                                          memory.descriptor.size, texture.format,
                                                          WGPUTextureUsage_TextureBinding));
  } catch (const Error& error) {
    fail(error.code(), from_dma_buf_op,
         device->info().name + " takes no plane of " + std::to_string(image.width) + " x " +
             std::to_string(image.height) + " pixels of the format " + letters_of(image.fourcc) + " with a stride of " +
             std::to_string(image.planes[0].stride) + " bytes: " + error.what());
  }
}

}  // namespace

std::string missing_for_dma_bufs(const Device& device) {
  const auto has = [&](WGPUFeatureName feature) { return wgpuDeviceHasFeature(device.get(), feature); };
  if (!has(WGPUFeatureName_SharedTextureMemoryDmaBuf)) return "the feature SharedTextureMemoryDmaBuf";
  if (!has(WGPUFeatureName_SharedFenceVkSemaphoreOpaqueFD) && !has(WGPUFeatureName_SharedFenceSyncFD))
    return "both of the features SharedFenceVkSemaphoreOpaqueFD and SharedFenceSyncFD";
  return {};
}

DmaBufTexture texture_for(const DmaBufImage& image) {
  if (image.fourcc == fourcc("R8")) return {image.fourcc, WGPUTextureFormat_R8Unorm, image.channels};
  if (image.fourcc == fourcc("GR88")) return {image.fourcc, WGPUTextureFormat_RG8Unorm, image.channels};
  if (image.fourcc == fourcc("R16")) return {fourcc("GR88"), WGPUTextureFormat_RG8Unorm, "R", "G"};
  if (image.fourcc == fourcc("GR32")) return {fourcc("AB24"), WGPUTextureFormat_RGBA8Unorm, "RB", "GA"};
  const bool is_blue_first = image.fourcc == fourcc("AR24") || image.fourcc == fourcc("XR24");  // in memory
  return {image.fourcc, is_blue_first ? WGPUTextureFormat_BGRA8Unorm : WGPUTextureFormat_RGBA8Unorm, image.channels};
}

DmaBufMemory::DmaBufMemory(const DmaBufImage& image, std::uint32_t fourcc) {
  for (const DmaBufPlane& each : image.planes) {
    WGPUSharedTextureMemoryDmaBufPlane& plane = planes.emplace_back();
    plane.fd = each.fd;
    plane.offset = each.offset;
    plane.stride = each.stride;
  }
  descriptor.chain.sType = WGPUSType_SharedTextureMemoryDmaBufDescriptor;
  descriptor.size = {narrow<std::uint32_t>(image.width), narrow<std::uint32_t>(image.height), 1};
  descriptor.drmFormat = fourcc;
  descriptor.drmModifier = image.modifier.value_or(0);
  descriptor.planeCount = planes.size();
  descriptor.planes = planes.data();
}

Tensor tensor_of_plane(Context& context, const DmaBufImage& image, const DmaBufTexture& texture, WGPUTexture handle,
                       std::shared_ptr<HostAccess> access, DType dtype) {
  const auto sampled = [&](const std::string& channels, DType of_channels, Bytes bytes) {
    const LockedContext locked(context);
    present_backend<WebGpuBackend>(from_dma_buf_op, *locked);
    const HostValue value = host_value(from_dma_buf_op, of_channels, bytes, letters_of(image.fourcc));
    const TexturePart whole{.width = image.width, .height = image.height};
    auto source = std::make_shared<TextureSource>(handle, channels, whole, value);
    source->access = access;
    return imported_tensor(*locked, {image.height, image.width, std::ssize(channels)}, of_channels, std::move(source));
  };
  if (texture.upper_bytes_in.empty()) return sampled(texture.channels, dtype, Bytes::normalised);
  host_value(from_dma_buf_op, dtype, Bytes::none, letters_of(image.fourcc));  // refuses bytes
  const Tensor lower = sampled(texture.channels, DType::f32, Bytes::normalised),
               upper = sampled(texture.upper_bytes_in, DType::f32, Bytes::normalised);
  return (lower * (1 / 257.0f) + upper * (256 / 257.0f)).cast(dtype);
}

std::vector<Tensor> from_dma_buf(Context& context, const DmaBuf& frame, DType dtype) {
  std::vector<DmaBufImage> images;
  std::vector<std::shared_ptr<DmaBufOnDevice>> imported;
  {
    const LockedContext locked(context);
    const std::shared_ptr<Device>& device = backend_of<WebGpuBackend>(from_dma_buf_op, *locked).own_device();
    images = images_of(from_dma_buf_op, frame);
    require_dma_bufs(*device);
    for (const DmaBufImage& image : images) imported.push_back(imported_plane(device, image, texture_for(image)));
  }
  std::vector<Tensor> planes;
  for (std::size_t i = 0; i < images.size(); ++i)
    planes.push_back(
        tensor_of_plane(context, images[i], texture_for(images[i]), imported[i]->texture(), imported[i], dtype));
  return planes;
}

}  // namespace tessera::webgpu

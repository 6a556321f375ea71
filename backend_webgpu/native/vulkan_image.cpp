#include "backend_webgpu/vulkan_image.h"

#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/shared_texture.h"
#include "backend_webgpu/texture_format.h"
#include "backend_webgpu/video_memory.h"

namespace tessera::webgpu {
namespace {

WGPUTextureFormat format_of_vulkan(std::int32_t format) {
  switch (format) {
    case 9: return WGPUTextureFormat_R8Unorm;
    case 16: return WGPUTextureFormat_RG8Unorm;
    case 37: return WGPUTextureFormat_RGBA8Unorm;
    case 41: return WGPUTextureFormat_RGBA8Uint;
    case 43: return WGPUTextureFormat_RGBA8UnormSrgb;
    case 44: return WGPUTextureFormat_BGRA8Unorm;
    case 64: return WGPUTextureFormat_RGB10A2Unorm;
    case 76: return WGPUTextureFormat_R16Float;
    case 83: return WGPUTextureFormat_RG16Float;
    case 97: return WGPUTextureFormat_RGBA16Float;
    case 100: return WGPUTextureFormat_R32Float;
    case 103: return WGPUTextureFormat_RG32Float;
    case 109: return WGPUTextureFormat_RGBA32Float;
    default: return WGPUTextureFormat_Undefined;
  }
}

// Dawn wants to be able to see such images both ways.
bool has_srgb_twin(std::int32_t format) { return format == 37 || format == 43 || format == 44; }

constexpr std::uint32_t vk_mutable_format = 8;
constexpr std::uint32_t vk_transfer_dst = 2, vk_sampled = 4, vk_color_attachment = 0x10;

void require_shareable(const VulkanHostImage& image) {
  if (!(image.usage() & vk_transfer_dst))
    throw Error(ErrorCode::invalid_argument,
                "Vulkan: the image lacks the usage VK_IMAGE_USAGE_TRANSFER_DST_BIT, without which Dawn takes no image; "
                "it was made with " +
                    std::to_string(image.usage()) + ". Add it to VkImageCreateInfo::usage.");
  if (has_srgb_twin(image.format().code) && !(image.create_flags() & vk_mutable_format))
    throw Error(ErrorCode::invalid_argument,
                "Vulkan: the image was made without VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT, which Dawn needs for the "
                "format " +
                    std::string(image.format().name) + ". Add it to VkImageCreateInfo::flags.");
}

SharedTexture texture_over_host_image(std::shared_ptr<Device> device, const VulkanHostImage& image) {
  WGPUTextureUsage usage = WGPUTextureUsage_None;
  if (image.usage() & vk_sampled) usage |= WGPUTextureUsage_TextureBinding;
  if (image.usage() & vk_color_attachment) usage |= WGPUTextureUsage_RenderAttachment;
  const auto over = [&](WGPUChainedStruct& memory) {
    return SharedTexture(std::move(device), "Vulkan host's image", memory, {image.width(), image.height(), 1},
                         format_of_vulkan(image.format().code), usage);
  };
  try {
    if (const DmaBuf* dma_buf = image.dma_buf()) {
      DmaBufMemory memory(image_of(*dma_buf), dma_buf->fourcc);
      return over(memory.descriptor.chain);
    }
    require_shareable(image);
    WGPUSharedTextureMemoryOpaqueFDDescriptor memory = opaque_memory(image.memory(), image.is_dedicated());
    return over(memory.chain);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(error.what()) + " (It has the format " + std::string(image.format().name) +
                                  " and the usage " + std::to_string(image.usage()) + ".)");
  }
}

class HostImageOnDevice final : public ImportedVulkanImage {
 public:
  HostImageOnDevice(const std::shared_ptr<Device>& device, const VulkanHostImage& image)
      : texture_(texture_over_host_image(device, image)), order_(image.order()) {
    if (order_ != VulkanOrder::semaphores) return;  // sync files are of one use
    ErrorScope refused(*device, WGPUErrorFilter_Validation);
    handed_over_ = import_semaphore(*device, image.handed_over());
    texture_.throw_refusal(refused);
  }

  void begin(const VulkanHostImage& image, bool has_pixels) override {
    ErrorScope refused(*texture_.device(), WGPUErrorFilter_Validation);
    if (order_ == VulkanOrder::sync_files)
      handed_over_ = image.handed_over() < 0 ? Handle<WGPUSharedFence>()
                                             : import_sync_file(*texture_.device(), image.handed_over());
    texture_.begin({.has_pixels = has_pixels, .waited = handed_over_.get()});
    texture_.throw_refusal(refused);
  }

  VulkanHostImage::GivenBack end() override {
    ErrorScope refused(*texture_.device(), WGPUErrorFilter_Validation);
    SharedTexture::End end = texture_.end();
    texture_.throw_refusal(refused);
    if (order_ == VulkanOrder::waiting) {
      texture_.device()->wait_for_work();
      end.given.done = {};
    } else if (end.is_sync_file != (order_ == VulkanOrder::sync_files) || (!end.given.done && !end.is_sync_file)) {
      throw Error(ErrorCode::unsupported,
                  "WebGPU: Dawn gave no fence for a Vulkan host's image, or one of another kind "
                  "than it took.");
    }
    return std::move(end.given);
  }

  std::shared_ptr<HostSource> source(std::string_view op, const std::string& channels, DType dtype,
                                     const TexturePart& part) override {
    const TextureFormat format = format_of(texture_.get());
    const HostValue value = host_value(op, dtype, format.bytes(), format.name);
    return std::make_shared<TextureSource>(texture_.get(), channels, part, value);
  }

  std::unique_ptr<HostTarget> target(std::string_view, const TexturePart& part, bool flip_y) override {
    return std::make_unique<TextureTarget>(texture_.get(), part, flip_y);
  }

 private:
  SharedTexture texture_;
  VulkanOrder order_;
  Handle<WGPUSharedFence> handed_over_;
};

}  // namespace

std::unique_ptr<ImportedVulkanImage> import_image(const std::shared_ptr<Device>& device, const VulkanHostImage& image) {
  return std::make_unique<HostImageOnDevice>(device, image);
}

}  // namespace tessera::webgpu

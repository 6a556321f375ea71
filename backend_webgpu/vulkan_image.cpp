#include "backend_webgpu/vulkan_image.h"

#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/texture_format.h"

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

class HostImageOnDevice final : public ImportedVulkanImage {
 public:
  HostImageOnDevice(std::shared_ptr<Device> device, const VulkanHostImage& image) : device_(std::move(device)) {
    if (!(image.usage() & vk_transfer_dst))
      throw Error(
          ErrorCode::invalid_argument,
          "Vulkan: the image lacks the usage VK_IMAGE_USAGE_TRANSFER_DST_BIT, without which Dawn takes no image; "
          "it was made with " +
              std::to_string(image.usage()) + ". Add it to VkImageCreateInfo::usage.");
    if (has_srgb_twin(image.format().code) && !(image.create_flags() & vk_mutable_format))
      throw Error(ErrorCode::invalid_argument,
                  "Vulkan: the image was made without VK_IMAGE_CREATE_MUTABLE_FORMAT_BIT, which Dawn needs for the "
                  "format " +
                      std::string(image.format().name) + ". Add it to VkImageCreateInfo::flags.");
    device_->throw_faults();
    ErrorScope refused(*device_, WGPUErrorFilter_Validation);
    const SharedImage::Memory memory = image.memory();
    WGPUSharedTextureMemoryOpaqueFDDescriptor source{};
    source.chain.sType = WGPUSType_SharedTextureMemoryOpaqueFDDescriptor;
    source.vkImageCreateInfo = memory.image_parameters;
    source.memoryFD = memory.fd;  // Dawn makes a copy
    source.memoryTypeIndex = memory.type;
    source.allocationSize = memory.bytes;
    source.dedicatedAllocation = image.is_dedicated();
    WGPUSharedTextureMemoryDescriptor descriptor{};
    descriptor.nextInChain = &source.chain;
    descriptor.label = view_of("tessera host image");
    memory_ = Handle(wgpuDeviceImportSharedTextureMemory(device_->get(), &descriptor));
    WGPUTextureDescriptor texture{};
    texture.label = view_of("tessera host image");
    if (image.usage() & vk_sampled) texture.usage |= WGPUTextureUsage_TextureBinding;
    if (image.usage() & vk_color_attachment) texture.usage |= WGPUTextureUsage_RenderAttachment;
    texture.dimension = WGPUTextureDimension_2D;
    texture.size = {image.width(), image.height(), 1};
    texture.format = format_of_vulkan(image.format().code);
    texture.mipLevelCount = 1;
    texture.sampleCount = 1;
    texture_ = Handle(wgpuSharedTextureMemoryCreateTexture(memory_.get(), &texture));
    WGPUSharedFenceVkSemaphoreOpaqueFDDescriptor semaphore{};
    semaphore.chain.sType = WGPUSType_SharedFenceVkSemaphoreOpaqueFDDescriptor;
    semaphore.handle = image.handed_over();  // Dawn makes a copy
    WGPUSharedFenceDescriptor fence{};
    fence.nextInChain = &semaphore.chain;
    handed_over_ = Handle(wgpuDeviceImportSharedFence(device_->get(), &fence));
    throw_refusal(refused, image);
  }

  void begin(bool has_pixels) override {
    ErrorScope refused(*device_, WGPUErrorFilter_Validation);
    WGPUSharedTextureMemoryVkImageLayoutBeginState layout{};
    layout.chain.sType = WGPUSType_SharedTextureMemoryVkImageLayoutBeginState;
    layout.oldLayout = layout.newLayout = vulkan::layout_general;
    WGPUSharedTextureMemoryBeginAccessDescriptor access{};
    access.nextInChain = &layout.chain;
    access.initialized = has_pixels;
    const WGPUSharedFence waited = handed_over_.get();
    const std::uint64_t value = 1;
    access.fenceCount = 1;
    access.fences = &waited;
    access.signaledValues = &value;
    wgpuSharedTextureMemoryBeginAccess(memory_.get(), texture_.get(), &access);
    throw_refusal(refused);
  }

  VulkanHostImage::GivenBack end() override {
    WGPUSharedTextureMemoryVkImageLayoutEndState layout{};
    layout.chain.sType = WGPUSType_SharedTextureMemoryVkImageLayoutEndState;
    WGPUSharedTextureMemoryEndAccessState state{};
    state.nextInChain = &layout.chain;
    ErrorScope refused(*device_, WGPUErrorFilter_Validation);
    const bool is_ended = wgpuSharedTextureMemoryEndAccess(memory_.get(), texture_.get(), &state) == WGPUStatus_Success;
    VulkanHostImage::GivenBack given;
    if (is_ended && state.fenceCount == 1) {
      WGPUSharedFenceVkSemaphoreOpaqueFDExportInfo semaphore{};
      semaphore.chain.sType = WGPUSType_SharedFenceVkSemaphoreOpaqueFDExportInfo;
      WGPUSharedFenceExportInfo info{};
      info.nextInChain = &semaphore.chain;
      wgpuSharedFenceExportInfo(state.fences[0], &info);
      given.done = Fd::copy_of(semaphore.handle);
      given.old_layout = layout.oldLayout;
      given.new_layout = layout.newLayout;
    }
    if (is_ended) wgpuSharedTextureMemoryEndAccessStateFreeMembers(state);
    throw_refusal(refused);
    if (!given.done) throw Error(ErrorCode::unsupported, "WebGPU: Dawn gave no fence for a Vulkan host's image.");
    return given;
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
  void throw_refusal(ErrorScope& refused) const {
    const std::string error = refused.close();
    device_->throw_faults();
    if (!error.empty()) throw Error(ErrorCode::unsupported, "WebGPU: Dawn refuses a Vulkan host's image: " + error);
  }
  void throw_refusal(ErrorScope& refused, const VulkanHostImage& image) const {
    try {
      throw_refusal(refused);
    } catch (const Error& error) {
      throw Error(error.code(), std::string(error.what()) + " (It has the format " + std::string(image.format().name) +
                                    " and the usage " + std::to_string(image.usage()) + ".)");
    }
  }

  std::shared_ptr<Device> device_;
  Handle<WGPUSharedTextureMemory> memory_;
  Handle<WGPUTexture> texture_;
  Handle<WGPUSharedFence> handed_over_;
};

}  // namespace

std::unique_ptr<ImportedVulkanImage> import_image(const std::shared_ptr<Device>& device, const VulkanHostImage& image) {
  return std::make_unique<HostImageOnDevice>(device, image);
}

}  // namespace tessera::webgpu

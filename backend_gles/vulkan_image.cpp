#include "backend_gles/vulkan_image.h"

#include <algorithm>

#include "backend_gles/state.h"
#include "backend_gles/texture_export.h"
#include "backend_gles/texture_format.h"
#include "backend_gles/texture_import.h"
#include "backend_gles/video_memory.h"
#include "backend_gles/wait.h"
#include "core/base/fail.h"

namespace tessera::gles {
namespace {

constexpr GLenum fd_handle = 0x9586, general_layout = 0x958D, bgra8 = 0x93A1;

GLenum format_of_vulkan(std::int32_t format) {
  switch (format) {
    case 9: return GL_R8;
    case 16: return GL_RG8;
    case 37: return GL_RGBA8;
    case 41: return GL_RGBA8UI;
    case 43: return GL_SRGB8_ALPHA8;
    case 44: return bgra8;
    case 64: return GL_RGB10_A2;
    case 76: return GL_R16F;
    case 83: return GL_RG16F;
    case 97: return GL_RGBA16F;
    case 100: return GL_R32F;
    case 103: return GL_RG32F;
    case 109: return GL_RGBA32F;
    default: return 0;
  }
}

// Contexts like WebGL's have formats beyond WebGL 2 on request.
void request_bgra(const Device& device) {
  const GlContext& context = device.context();
  if (!context.has_extensions_on_request()) return;
  if (const auto request = context.find<void (*)(const char*)>("glRequestExtensionANGLE"))
    for (const char* extension : {"GL_EXT_texture_format_BGRA8888", "GL_EXT_texture_storage"}) request(extension);
  device.take_error();  // of an extension that is not there: the import tells
}

class HostImageOnDevice final : public ImportedVulkanImage {
 public:
  HostImageOnDevice(std::shared_ptr<const Device> device, std::shared_ptr<const SharingFunctions> functions,
                    const VulkanHostImage& image)
      : device_(std::move(device)),
        functions_(std::move(functions)),
        host_{.width = narrow<int>(image.width()),
              .height = narrow<int>(image.height()),
              .internal_format = format_of_vulkan(image.format().code)},
        order_(image.order()) {
    if (std::max(host_.width, host_.height) > device_->max_side())
      throw Error(ErrorCode::unsupported, "OpenGL ES: an image of " + std::to_string(host_.width) + " x " +
                                              std::to_string(host_.height) + " pixels; each side can be up to " +
                                              std::to_string(device_->max_side()) + " on " + device_->info().name +
                                              ".");
    try {
      if (const DmaBuf* dma_buf = image.dma_buf()) {
        texture_ = texture_of_dma_buf("Vulkan", device_, image_of(*dma_buf));
        host_.texture = texture_.get();
      } else {
        import_memory(image);
      }
      if (order_ == VulkanOrder::semaphores) import_semaphores(image);
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~HostImageOnDevice() override { destroy(); }
  HostImageOnDevice(const HostImageOnDevice&) = delete;
  HostImageOnDevice& operator=(const HostImageOnDevice&) = delete;

  void begin(const VulkanHostImage&, bool) override {
    if (order_ == VulkanOrder::waiting) return;  // the host's queue is done
    const Entered entered(*device_);
    functions_->WaitSemaphore(semaphores_[0], 0, nullptr, 1, &host_.texture, &general_layout);
    device_->check("Waiting for a Vulkan host's image");
  }

  VulkanHostImage::GivenBack end() override {
    const Entered entered(*device_);
    if (order_ == VulkanOrder::waiting) {
      Fence(device_).wait();
      device_->check("Waiting for work on a Vulkan host's image");
      return {};
    }
    functions_->SignalSemaphore(semaphores_[1], 0, nullptr, 1, &host_.texture, &general_layout);
    device_->gl().Flush();
    device_->check("Giving a Vulkan host's image back");
    return {};
  }

  std::shared_ptr<HostSource> source(std::string_view op, const std::string& channels, DType dtype,
                                     const TexturePart& part) override {
    HostTexture host = host_;
    host.channels = channels;
    host.dtype = dtype;
    host.part = part;
    const Entered entered(*device_);
    const TextureTraits traits = traits_of(*device_, host, op);
    const HostValue value = host_value(op, dtype, traits.bytes, traits.format_name());
    return std::make_shared<TextureImport>(host, traits, value);
  }

  std::unique_ptr<HostTarget> target(std::string_view, const TexturePart& part, bool flip_y) override {
    HostTexture host = host_;
    host.part = part;
    return std::make_unique<TextureExport>(Target(*device_, host), flip_y);
  }

 private:
  // A host's texture, as far as the rest of the backend is concerned.
  void import_memory(const VulkanHostImage& image) {
    const Entered entered(*device_, touch::texture);
    const GladGLES2Context& gl = device_->gl();
    if (host_.internal_format == bgra8) request_bgra(*device_);
    const SharedImage::Memory memory = image.memory();
    functions_->CreateMemoryObjects(1, &memory_);
    functions_->ImportMemoryFd(memory_, memory.bytes, fd_handle, Fd::copy_of(memory.fd).release());
    gl.GenTextures(1, &host_.texture);
    texture_ = {device_, host_.texture};
    gl.ActiveTexture(GL_TEXTURE0);
    gl.BindTexture(GL_TEXTURE_2D, host_.texture);
    functions_->TexStorageMemFlags2D(GL_TEXTURE_2D, 1, host_.internal_format, host_.width, host_.height, memory_, 0,
                                     image.create_flags(), memory.usage, image.view_formats());
    gl.BindTexture(GL_TEXTURE_2D, 0);
    device_->check("Importing a Vulkan host's image of the format " + std::string(image.format().name));
  }

  void import_semaphores(const VulkanHostImage& image) {
    const Entered entered(*device_);
    functions_->GenSemaphores(2, semaphores_);
    functions_->ImportSemaphoreFd(semaphores_[0], fd_handle, Fd::copy_of(image.handed_over()).release());
    functions_->ImportSemaphoreFd(semaphores_[1], fd_handle, Fd::copy_of(image.given_back()).release());
    device_->check("Importing the semaphores of a Vulkan host's image");
  }

  void destroy() noexcept {
    const CurrentContext current(device_->context());
    if (!current.is_current()) return;
    texture_ = {};
    if (semaphores_[0]) functions_->DeleteSemaphores(2, semaphores_);
    if (memory_) functions_->DeleteMemoryObjects(1, &memory_);
  }

  std::shared_ptr<const Device> device_;
  std::shared_ptr<const SharingFunctions> functions_;  // null where only dma-bufs come
  HostTexture host_;
  VulkanOrder order_;
  ImageTexture texture_;
  GLuint memory_ = 0, semaphores_[2]{};
};

}  // namespace

std::unique_ptr<ImportedVulkanImage> import_image(const std::shared_ptr<const Device>& device,
                                                  const std::shared_ptr<const SharingFunctions>& functions,
                                                  const VulkanHostImage& image) {
  return std::make_unique<HostImageOnDevice>(device, functions, image);
}

}  // namespace tessera::gles

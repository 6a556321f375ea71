#include "support/webgpu_surface.h"

#include <stdexcept>

// As in GLFW/glfw3native.h, which wants X11's headers for it.
extern "C" void* glfwGetX11Display();
extern "C" unsigned long glfwGetX11Window(GLFWwindow*);

namespace sample {

Surface::Surface(WGPUInstance instance, GLFWwindow* window) {
  WGPUSurfaceSourceXlibWindow source{};
  source.chain.sType = WGPUSType_SurfaceSourceXlibWindow;
  source.display = glfwGetX11Display();
  source.window = glfwGetX11Window(window);
  WGPUSurfaceDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  surface_.reset(wgpuInstanceCreateSurface(instance, &descriptor));
}

WGPUTextureFormat Surface::format_on(WGPUAdapter adapter) const {
  WGPUSurfaceCapabilities capabilities{};
  wgpuSurfaceGetCapabilities(get(), adapter, &capabilities);
  WGPUTextureFormat format = WGPUTextureFormat_Undefined;
  for (std::size_t i = 0; i < capabilities.formatCount; ++i)
    if (capabilities.formats[i] == WGPUTextureFormat_BGRA8Unorm ||
        capabilities.formats[i] == WGPUTextureFormat_RGBA8Unorm)
      format = capabilities.formats[i];
  wgpuSurfaceCapabilitiesFreeMembers(capabilities);
  if (format == WGPUTextureFormat_Undefined)
    throw std::runtime_error("the window takes no 8-bit frames of this device");
  return format;
}

void Surface::configure(WGPUDevice device, WGPUTextureFormat format, Size size) {
  WGPUSurfaceConfiguration configuration{};
  configuration.device = device;
  configuration.format = format;
  configuration.usage = WGPUTextureUsage_RenderAttachment;
  configuration.width = static_cast<std::uint32_t>(size.width);
  configuration.height = static_cast<std::uint32_t>(size.height);
  configuration.alphaMode = WGPUCompositeAlphaMode_Auto;
  configuration.presentMode = WGPUPresentMode_Fifo;
  wgpuSurfaceConfigure(get(), &configuration);
}

Owned<WGPUTexture> Surface::next() {
  WGPUSurfaceTexture current{};
  wgpuSurfaceGetCurrentTexture(get(), &current);
  Owned<WGPUTexture> texture(current.texture);
  if (current.status == WGPUSurfaceGetCurrentTextureStatus_SuccessOptimal ||
      current.status == WGPUSurfaceGetCurrentTextureStatus_SuccessSuboptimal)
    return texture;
  return nullptr;
}

void Surface::present() { wgpuSurfacePresent(get()); }

}  // namespace sample

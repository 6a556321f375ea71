// A host with windows that uses an installed tessera: shows a picture of tessera's in a window of OpenGL ES and in one
// of WebGPU, and finds the system's own graphics libraries under their names, whatever tessera has loaded.
#include <dlfcn.h>
#include <link.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>

#include <tessera/gles.h>
#include <tessera/tessera.h>
#include <tessera/webgpu.h>
#include <webgpu/webgpu.h>

#include "support/virtual_display.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <X11/Xutil.h>

// As in GLFW/glfw3native.h, which wants more of X11's headers than this needs.
extern "C" Display* glfwGetX11Display();
extern "C" Window glfwGetX11Window(GLFWwindow*);

namespace {

constexpr int width = 64, height = 48;

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

// Who asks for a graphics library by its name gets the system's, or none, and never one of those that tessera brings.
void require_the_systems_libraries(const std::string& prefix, const std::string& when) {
  for (const char* name : {"libvulkan.so.1", "libEGL.so", "libGLESv2.so", "libEGL.so.1", "libGLESv2.so.2"}) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) continue;
    link_map* map = nullptr;
    dlinfo(library, RTLD_DI_LINKMAP, &map);
    const std::string path = map ? map->l_name : "";
    dlclose(library);
    require(path.find(prefix) == std::string::npos, std::string(name) + " is " + path + " " + when);
  }
}

tessera::Tensor picture(tessera::Context& context) {
  return clip(context.full({height, width, 3}, 0.1f) * context.tensor({3}, {2, 4, 6}), 0, 1);
}

class Shown {
 public:
  Shown(const char* title, int api) {
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CLIENT_API, api);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, GLFW_EGL_CONTEXT_API);
    window_ = glfwCreateWindow(width, height, title, nullptr, nullptr);
    require(window_ != nullptr, std::string("no window: ") + title);
  }
  ~Shown() { glfwDestroyWindow(window_); }
  Shown(const Shown&) = delete;
  Shown& operator=(const Shown&) = delete;
  GLFWwindow* get() const { return window_; }

  // A frame is on the screen some time after it was presented.
  void require_picture() const {
    unsigned long shown = 0;
    for (int attempt = 0; attempt < 100; ++attempt) {
      glfwPollEvents();
      XImage* const image =
          XGetImage(glfwGetX11Display(), glfwGetX11Window(window_), width / 2, height / 2, 1, 1, AllPlanes, ZPixmap);
      shown = XGetPixel(image, 0, 0) & 0xffffff;
      XDestroyImage(image);
      if (shown == 0x336699) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    throw std::runtime_error("the window shows " + std::to_string(shown) + " instead of 0x336699");
  }

 private:
  GLFWwindow* window_;
};

void show_with_gles() {
  const Shown window("OpenGL ES", GLFW_OPENGL_ES_API);
  glfwMakeContextCurrent(window.get());
  {
    tessera::Context context = tessera::gles::adopt_current();
    tessera::gles::to_texture(picture(context), tessera::gles::HostFramebuffer{0, width, height});
  }
  glfwSwapBuffers(window.get());
  window.require_picture();
  glfwMakeContextCurrent(nullptr);
}

void show_with_webgpu() {
  const Shown window("WebGPU", GLFW_NO_API);
  tessera::Context context = tessera::Context::create({.prefer = {tessera::BackendKind::webgpu}, .driver = "llvmpipe"});
  const tessera::webgpu::HostDevice host = tessera::webgpu::host_device(context);

  WGPUSurfaceSourceXlibWindow source{};
  source.chain.sType = WGPUSType_SurfaceSourceXlibWindow;
  source.display = glfwGetX11Display();
  source.window = glfwGetX11Window(window.get());
  WGPUSurfaceDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  const WGPUSurface surface = wgpuInstanceCreateSurface(host.instance, &descriptor);

  WGPUSurfaceConfiguration configuration{};
  configuration.device = host.device;
  configuration.format = WGPUTextureFormat_BGRA8Unorm;
  configuration.usage = WGPUTextureUsage_RenderAttachment;
  configuration.width = width;
  configuration.height = height;
  configuration.alphaMode = WGPUCompositeAlphaMode_Auto;
  configuration.presentMode = WGPUPresentMode_Fifo;
  wgpuSurfaceConfigure(surface, &configuration);
  WGPUSurfaceTexture frame{};
  wgpuSurfaceGetCurrentTexture(surface, &frame);
  require(frame.texture != nullptr, "the surface gives no texture: status " + std::to_string(frame.status));
  tessera::webgpu::to_texture(picture(context), frame.texture);
  wgpuSurfacePresent(surface);
  wgpuTextureRelease(frame.texture);
  window.require_picture();
  wgpuSurfaceUnconfigure(surface);
  wgpuSurfaceRelease(surface);
}

// ANGLE comes first, so that its own Vulkan loader is in the process when Dawn looks for one.
void compute_with_angle() {
  tessera::Context context = tessera::Context::create({.prefer = {tessera::BackendKind::gles}, .driver = "ANGLE"});
  require(picture(context).read()[0] == 0.2f, "ANGLE computes something else");
}

}  // namespace

int main(int, char** arguments) {
  const std::string prefix = arguments[1];
  try {
    const tessera::test::VirtualDisplay display;
    require(display.is_there() && glfwInit(), "there is no X server, and Xvfb does not start");
    require_the_systems_libraries(prefix, "before tessera starts");
    compute_with_angle();
    require_the_systems_libraries(prefix, "after ANGLE has started");
    show_with_gles();
    show_with_webgpu();
    require_the_systems_libraries(prefix, "in the end");
    glfwTerminate();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}

// The window's own OpenGL ES 3 context, made here with the system's EGL, for the window has to stay free for WebGPU;
// and tessera in it.
#include <X11/Xlib.h>
#include <dlfcn.h>
#include <glad/egl.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "presenter.h"
#include <tessera/gles.h>

// As in GLFW/glfw3native.h
extern "C" Display* glfwGetX11Display();
extern "C" ::Window glfwGetX11Window(GLFWwindow*);

namespace video {
namespace {

void* get_proc_address(const char* name) {
  using GetProcAddress = void* (*)(const char*);
  static const auto get = [] {
    void* library = dlopen("libEGL.so.1", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<GetProcAddress>(dlsym(library, "eglGetProcAddress")) : nullptr;
  }();
  if (!get) throw std::runtime_error("there is no EGL library (libEGL.so.1)");
  return get(name);
}

template <class Function>
Function egl(const char* name) {
  return reinterpret_cast<Function>(get_proc_address(name));
}

class GlesPresenter : public Presenter {
 public:
  GlesPresenter(GLFWwindow* window, const tessera::ContextOptions& options)
      : options_(options),
        window_(glfwGetX11Window(window)),
        display_(egl<PFNEGLGETDISPLAYPROC>("eglGetDisplay")(glfwGetX11Display())) {
    if (!display_ || !egl<PFNEGLINITIALIZEPROC>("eglInitialize")(display_, nullptr, nullptr))
      throw std::runtime_error("EGL does not work with this X server");
    XWindowAttributes attributes{};
    XGetWindowAttributes(glfwGetX11Display(), window_, &attributes);
    config_ = config_for(XVisualIDFromVisual(attributes.visual));
    make_context();
  }

  ~GlesPresenter() override { drop_context(); }

  tessera::Context& context() override { return *gpu_; }

  void show(Size size) override {
    size_ = size;
    if (surface_) return;  // it follows the window
    surface_ = egl<PFNEGLCREATEWINDOWSURFACEPROC>("eglCreateWindowSurface")(display_, config_, window_, nullptr);
    if (!surface_) throw std::runtime_error("EGL cannot draw into this window");
    make_current(surface_);
  }

  void hide() override {
    make_current(EGL_NO_SURFACE);
    if (surface_) egl<PFNEGLDESTROYSURFACEPROC>("eglDestroySurface")(display_, surface_);
    surface_ = EGL_NO_SURFACE;
  }

  Presented present(const Filtered& filtered) override {
    const auto begin = std::chrono::steady_clock::now();
    tessera::gles::to_texture(filtered.image,
                              tessera::gles::HostFramebuffer{.width = size_.width, .height = size_.height},
                              {.flip_y = true, .also_compute = filtered.kept});
    const auto work = std::chrono::steady_clock::now() - begin;
    return {egl<PFNEGLSWAPBUFFERSPROC>("eglSwapBuffers")(display_, surface_) == EGL_TRUE, work};
  }

  void replace_device() override {
    drop_context();
    make_context();
    show(size_);
  }

 private:
  EGLConfig config_for(VisualID visual) const {
    egl<PFNEGLBINDAPIPROC>("eglBindAPI")(EGL_OPENGL_ES_API);
    const EGLint wishes[] = {EGL_RENDERABLE_TYPE,
                             EGL_OPENGL_ES3_BIT,
                             EGL_SURFACE_TYPE,
                             EGL_WINDOW_BIT,
                             EGL_RED_SIZE,
                             8,
                             EGL_GREEN_SIZE,
                             8,
                             EGL_BLUE_SIZE,
                             8,
                             EGL_NONE};
    std::vector<EGLConfig> configs(256);
    EGLint count = 0;
    egl<PFNEGLCHOOSECONFIGPROC>("eglChooseConfig")(display_, wishes, configs.data(), 256, &count);
    for (EGLint i = 0; i < count; ++i) {
      EGLint its_visual = 0;
      const EGLConfig config = configs[static_cast<std::size_t>(i)];
      egl<PFNEGLGETCONFIGATTRIBPROC>("eglGetConfigAttrib")(display_, config, EGL_NATIVE_VISUAL_ID, &its_visual);
      if (static_cast<VisualID>(its_visual) == visual) return config;
    }
    throw std::runtime_error("EGL has no OpenGL ES 3 for windows of this kind");
  }

  void make_context() {
    egl<PFNEGLBINDAPIPROC>("eglBindAPI")(EGL_OPENGL_ES_API);
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    context_ = egl<PFNEGLCREATECONTEXTPROC>("eglCreateContext")(display_, config_, EGL_NO_CONTEXT, version);
    if (!context_) throw std::runtime_error("EGL gives no OpenGL ES 3 context");
    make_current(EGL_NO_SURFACE);
    gpu_ = tessera::gles::adopt_current(get_proc_address, options_);
  }

  void drop_context() {
    hide();
    gpu_.reset();  // while the GL context is still there
    egl<PFNEGLMAKECURRENTPROC>("eglMakeCurrent")(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    egl<PFNEGLDESTROYCONTEXTPROC>("eglDestroyContext")(display_, context_);
  }

  void make_current(EGLSurface surface) {
    egl<PFNEGLMAKECURRENTPROC>("eglMakeCurrent")(display_, surface, surface, context_);
  }

  tessera::ContextOptions options_;
  ::Window window_;
  EGLDisplay display_;
  EGLConfig config_ = nullptr;
  EGLContext context_ = EGL_NO_CONTEXT;
  EGLSurface surface_ = EGL_NO_SURFACE;
  std::optional<tessera::Context> gpu_;
  Size size_{};
};

}  // namespace

std::unique_ptr<Presenter> make_gles_presenter(GLFWwindow* window, const tessera::ContextOptions& options) {
  return std::make_unique<GlesPresenter>(window, options);
}

}  // namespace video

#include "backend_gles/egl_context.h"

#include <vector>

#include <tessera/error.h>

namespace tessera::gles {
namespace {

// A context as a browser would give it: WebGL2, with extensions on request only. So kernels that run on ANGLE keep to
// the subset that a browser build has.
constexpr EGLint webgl2[] = {
    0x33AC, EGL_TRUE,   // EGL_CONTEXT_WEBGL_COMPATIBILITY_ANGLE
    0x345F, EGL_FALSE,  // EGL_EXTENSIONS_ENABLED_ANGLE
    0x3453, EGL_TRUE,   // EGL_ROBUST_RESOURCE_INITIALIZATION_ANGLE
    0x33AD, EGL_FALSE,  // EGL_CONTEXT_BIND_GENERATES_RESOURCE_CHROMIUM
    0x3452, EGL_FALSE,  // EGL_CONTEXT_CLIENT_ARRAYS_ENABLED_ANGLE
    0x3483, EGL_FALSE,  // EGL_CONTEXT_OPENGL_BACKWARDS_COMPATIBLE_ANGLE
};

// Contexts that share objects have these attributes in common: drivers refuse others, that differ in resets.
std::vector<EGLint> attributes_to_share(const Display& display) {
  const bool is_desktop = display.api == ClientApi::desktop;
  std::vector<EGLint> attributes{EGL_CONTEXT_MAJOR_VERSION, 3};
  if (is_desktop)
    attributes.insert(attributes.end(), {EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                         EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT});
  if (has_extension(display.extensions, "EGL_EXT_create_context_robustness"))
    attributes.insert(attributes.end(), {is_desktop ? EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY
                                                    : EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT,
                                         EGL_LOSE_CONTEXT_ON_RESET_EXT});
  return attributes;
}

std::vector<EGLint> own_attributes(const Display& display) {
  std::vector<EGLint> attributes = attributes_to_share(display);
  if (display.origin == Origin::angle) attributes.insert(attributes.end(), std::begin(webgl2), std::end(webgl2));
  return attributes;
}

EGLContext create(const Display& display, std::vector<EGLint> attributes, EGLContext shared = EGL_NO_CONTEXT) {
  const Egl& egl = *display.egl;
  if (!has_extension(display.extensions, "EGL_KHR_surfaceless_context"))
    throw Error(ErrorCode::unsupported, "it cannot make a context current without a surface");
  const bool is_desktop = display.api == ClientApi::desktop;
  const std::string api = is_desktop ? "OpenGL 3.3" : "OpenGL ES 3";
  const EGLint config_attributes[] = {EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_RENDERABLE_TYPE,
                                      is_desktop ? EGL_OPENGL_BIT : EGL_OPENGL_ES3_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint configs = 0;
  if (!egl.ChooseConfig(display.handle, config_attributes, &config, 1, &configs) || configs == 0)
    throw Error(ErrorCode::unsupported, "it has no configuration for " + api);

  const EGLenum api_before = egl.QueryAPI();
  if (!egl.BindAPI(is_desktop ? EGL_OPENGL_API : EGL_OPENGL_ES_API))
    throw Error(ErrorCode::unsupported, "it does not have " + api);
  attributes.push_back(EGL_NONE);
  const EGLContext context = egl.CreateContext(display.handle, config, shared, attributes.data());
  const EGLint error = context == EGL_NO_CONTEXT ? egl.GetError() : EGL_SUCCESS;
  egl.BindAPI(api_before);
  if (context == EGL_NO_CONTEXT)
    throw Error(ErrorCode::unsupported, "it gives no context of " + api + ", EGL error " + hex(error));
  return context;
}

}  // namespace

EglContext::EglContext(const Display& display)
    : display_(display), loader_(display.egl->GetProcAddress), handle_(create(display, own_attributes(display))) {}

EglContext::~EglContext() { display_.egl->DestroyContext(display_.handle, handle_); }

bool EglContext::enter(Before& before) const noexcept {
  const Egl& egl = *display_.egl;
  before.context = egl.GetCurrentContext();
  if (before.context == handle_) return true;
  if (before.context != EGL_NO_CONTEXT) {
    before.display = egl.GetCurrentDisplay();
    before.draw = egl.GetCurrentSurface(EGL_DRAW);
    before.read = egl.GetCurrentSurface(EGL_READ);
  }
  return egl.MakeCurrent(display_.handle, EGL_NO_SURFACE, EGL_NO_SURFACE, handle_);
}

void EglContext::leave(const Before& before) const noexcept {
  if (before.context == handle_) return;
  const Egl& egl = *display_.egl;
  if (before.context == EGL_NO_CONTEXT)
    egl.MakeCurrent(display_.handle, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  else egl.MakeCurrent(before.display, before.draw, before.read, before.context);
}

void EglContext::refuse(const std::string& device) const {
  const EGLint error = display_.egl->GetError();
  if (error == EGL_BAD_ACCESS)
    throw Error(ErrorCode::wrong_thread,
                "The context of " + device +
                    " cannot become current on this thread, where a context of GLX is current; or another thread has "
                    "made it current itself. Call from another thread, or release the other context before.");
  throw Error(ErrorCode::device_lost,
              "The context of " + device + " cannot become current, EGL error " + hex(error) + ".");
}

EGLContext EglContext::make_sharing() const { return create(display_, attributes_to_share(display_), handle_); }

std::string EglContext::egl_vendor() const {
  const char* vendor = display_.egl->QueryString(display_.handle, EGL_VENDOR);
  return vendor ? vendor : "";
}

}  // namespace tessera::gles

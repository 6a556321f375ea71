// EGL libraries. Several of them live in one process side by side (ANGLE's and the system's), so each has its functions
// in a struct of its own and nothing is linked.
#pragma once
#include <glad/egl.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/platform/driver_start.h"

namespace tessera::gles {

struct Egl {
  PFNEGLGETPROCADDRESSPROC GetProcAddress;
  PFNEGLGETERRORPROC GetError;
  PFNEGLQUERYSTRINGPROC QueryString;
  PFNEGLGETDISPLAYPROC GetDisplay;
  PFNEGLINITIALIZEPROC Initialize;
  PFNEGLCHOOSECONFIGPROC ChooseConfig;
  PFNEGLBINDAPIPROC BindAPI;
  PFNEGLQUERYAPIPROC QueryAPI;
  PFNEGLCREATECONTEXTPROC CreateContext;
  PFNEGLDESTROYCONTEXTPROC DestroyContext;
  PFNEGLMAKECURRENTPROC MakeCurrent;
  PFNEGLGETCURRENTCONTEXTPROC GetCurrentContext;
  PFNEGLGETCURRENTDISPLAYPROC GetCurrentDisplay;
  PFNEGLGETCURRENTSURFACEPROC GetCurrentSurface;
  PFNEGLGETPLATFORMDISPLAYEXTPROC GetPlatformDisplayEXT;  // null where the library does not have it
};

// The library stays loaded for the rest of the process. Throws not_found with the loader's reason.
std::shared_ptr<const Egl> load_egl(const std::filesystem::path&);

// An initialised display is one driver. It is never terminated: drivers do not start twice reliably, and the host may
// use the same display.
enum class Origin { angle, system };
enum class ClientApi { es, desktop };  // of the contexts
struct Display {
  std::shared_ptr<const Egl> egl;
  EGLDisplay handle;
  Origin origin;
  ClientApi api = ClientApi::es;
  std::string extensions;
  std::optional<VulkanDriver> driver{};  // that ANGLE runs on
};

bool has_extension(std::string_view extensions, std::string_view name);
std::string hex(unsigned code);  // an error as the specifications write it: "0x3009"

}  // namespace tessera::gles

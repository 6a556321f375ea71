#include "backend_gles/adapter.h"

#include <exception>
#include <thread>

#include "backend_gles/angle.h"
#include "backend_gles/backend.h"
#include "backend_gles/egl_context.h"
#include "core/platform/library.h"
#include "core/platform/vulkan_probe.h"

namespace tessera::gles {
namespace {

// From EGL_ANGLE_platform_angle and its companions, which glad does not know.
constexpr EGLenum platform_angle = 0x3202;
constexpr EGLint platform_type = 0x3203, vulkan = 0x3450;
constexpr EGLint device_type = 0x3209, hardware = 0x320A, swiftshader = 0x3487;

Display initialise(const std::shared_ptr<const Egl>& egl, EGLDisplay handle, Origin origin) {
  if (handle == EGL_NO_DISPLAY) throw Error(ErrorCode::unsupported, "EGL has no such display");
  if (!egl->Initialize(handle, nullptr, nullptr))
    throw Error(ErrorCode::unsupported, "the driver does not start, EGL error " + hex(egl->GetError()));
  const char* extensions = egl->QueryString(handle, EGL_EXTENSIONS);
  return {.egl = egl, .handle = handle, .origin = origin, .extensions = extensions ? extensions : ""};
}

Display start_angle(const VulkanDriver& driver) {
  const OnlyVulkanDriver only(driver);
  const std::filesystem::path folder = angle_folder();
  require_whole_angle(folder);
  keep_apart_from_the_hosts_vulkan(folder);
  if (const std::string reason = why_vulkan_has_no_device(driver, folder); !reason.empty())
    throw Error(ErrorCode::unsupported, reason);
  const AnotherAngle angle(folder);
  const std::shared_ptr<const Egl> egl = angle.egl();
  const EGLint attributes[] = {platform_type, vulkan, device_type, driver.is_swiftshader ? swiftshader : hardware,
                               EGL_NONE};
  if (!egl->GetPlatformDisplayEXT)
    throw Error(ErrorCode::unsupported, std::string(library_names.angle_egl) + " is not ANGLE's");
  Display display = initialise(egl, egl->GetPlatformDisplayEXT(platform_angle, nullptr, attributes), Origin::angle);
  display.driver = driver;
  return display;
}

Display start_system() {
  const std::shared_ptr<const Egl> egl = load_egl(library_names.system_egl);
  // Mesa's surfaceless platform needs neither a window system nor access to a display server.
  const char* extensions = egl->QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (extensions && has_extension(extensions, "EGL_MESA_platform_surfaceless") && egl->GetPlatformDisplayEXT) {
    const EGLDisplay handle = egl->GetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (handle != EGL_NO_DISPLAY && egl->Initialize(handle, nullptr, nullptr))
      return initialise(egl, handle, Origin::system);
  }
  return initialise(egl, egl->GetDisplay(EGL_DEFAULT_DISPLAY), Origin::system);
}

// Describes the device by making a context on it, on a thread of its own: the caller's may have a context of GLX,
// beside which EGL makes none current.
template <class Start>
std::unique_ptr<Adapter> start(const Start& start_display) {
  auto adapter = std::make_unique<EglAdapter>();
  std::exception_ptr failure;
  std::thread([&] {
    try {
      adapter->display = start_display();
      adapter->info = Device(std::make_unique<EglContext>(adapter->display)).info();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return adapter;
}

std::vector<AdapterPlace> places() {
  std::vector<AdapterPlace> all;
  for (const VulkanDriver& driver : vulkan_drivers())
    all.push_back(
        {"ANGLE on " + driver.manifest.string(), [driver] { return start([&] { return start_angle(driver); }); }});
  all.push_back({"the system's EGL", [] { return start(start_system); }});
  // For machines whose EGL has no OpenGL ES, and for those who ask for it by name.
  all.push_back({"the system's EGL with desktop OpenGL", [] {
                   auto adapter = start([] {
                     Display display = start_system();
                     display.api = ClientApi::desktop;
                     return display;
                   });
                   adapter->rank = 1;
                   return adapter;
                 }});
  return all;
}

constexpr std::string_view advice =
    "On Debian, the packages libegl1, libegl-mesa0 and libgles2 bring one; the environment variable TESSERA_ANGLE_DIR "
    "names a folder with ANGLE's libEGL.so and libGLESv2.so.";

}  // namespace

std::unique_ptr<Backend> EglAdapter::open(const ContextOptions& options, const MessageSink& messages) const {
  return std::make_unique<GlesBackend>(
      std::make_shared<const Device>(std::make_unique<EglContext>(display), messages, options));
}

BackendFactory factory() { return {places, advice}; }

}  // namespace tessera::gles

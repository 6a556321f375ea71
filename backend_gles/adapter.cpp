#include "backend_gles/adapter.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

#include "backend_gles/angle.h"
#include "backend_gles/device.h"
#include "backend_gles/egl_context.h"
#include "core/driver_start.h"
#include "core/vulkan_probe.h"

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
  return {egl, handle, origin, extensions ? extensions : "", std::nullopt};
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
  if (!egl->GetPlatformDisplayEXT) throw Error(ErrorCode::unsupported, "libEGL.so is not ANGLE's");
  Display display = initialise(egl, egl->GetPlatformDisplayEXT(platform_angle, nullptr, attributes), Origin::angle);
  display.driver = driver;
  return display;
}

Display start_system() {
  const std::shared_ptr<const Egl> egl = load_egl("libEGL.so.1");
  // Mesa's surfaceless platform needs neither a window system nor access to a display server.
  const char* extensions = egl->QueryString(EGL_NO_DISPLAY, EGL_EXTENSIONS);
  if (extensions && has_extension(extensions, "EGL_MESA_platform_surfaceless") && egl->GetPlatformDisplayEXT) {
    const EGLDisplay handle = egl->GetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr);
    if (handle != EGL_NO_DISPLAY && egl->Initialize(handle, nullptr, nullptr))
      return initialise(egl, handle, Origin::system);
  }
  return initialise(egl, egl->GetDisplay(EGL_DEFAULT_DISPLAY), Origin::system);
}

// Only a context knows what the device is and what it can do. On a thread of its own, since what is current on the
// caller's must not decide on what there is: EGL makes nothing current beside a context of GLX.
template <class Start>
Adapter probe(const std::string& what, const Start& start_display) {
  Adapter adapter{what, {}, {}, {}};
  std::thread([&] {
    try {
      adapter.display = start_display();
      adapter.info = Device(std::make_unique<EglContext>(adapter.display)).info();
    } catch (const std::exception& error) {  // also of the standard library: other adapters may work
      adapter.refusal = error.what();
    }
  }).join();
  return adapter;
}

// One for each driver of this machine: the system's Vulkan drivers, SwiftShader, the system's EGL.
std::vector<const Adapter*> all_adapters() {
  const std::lock_guard lock(driver_start_lock());
  static auto& started = *new std::map<std::string, Adapter>;
  std::vector<const Adapter*> adapters;
  const auto add = [&](const std::string& what, const auto& start_display) {
    auto found = started.find(what);
    if (found == started.end()) found = started.emplace(what, probe(what, start_display)).first;
    adapters.push_back(&found->second);
  };
  for (const VulkanDriver& driver : vulkan_drivers())
    add("ANGLE on " + driver.manifest.string(), [&] { return start_angle(driver); });
  add("the system's EGL", start_system);
  return adapters;
}

}  // namespace

std::vector<FoundDevice> find_devices() {
  std::vector<FoundDevice> found;
  for (const Adapter* adapter : all_adapters()) found.push_back({adapter->what, adapter->info, adapter->refusal});
  const auto rank = [](const FoundDevice& device) {
    return !device.refusal.empty() ? 2 : device.info.is_software ? 1 : 0;
  };
  std::ranges::stable_sort(found, {}, rank);
  return found;
}

const Adapter& adapter_of(const FoundDevice& device) {
  for (const Adapter* adapter : all_adapters())
    if (adapter->what == device.where) return *adapter;
  throw Error(ErrorCode::not_found, "OpenGL ES: " + device.where + " is not there any more.");
}

}  // namespace tessera::gles

#include "backend_webgpu/adapter.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "backend_webgpu/wait.h"
#include "core/driver_start.h"
#include "core/vulkan_probe.h"

namespace tessera::webgpu {
namespace {

// Element counts and byte offsets are 32-bit words in the kernels.
constexpr std::uint64_t max_addressable_bytes = (std::uint64_t{1} << 32) - 16;

Handle<WGPUInstance> make_instance() {
  WGPUInstanceDescriptor descriptor{};
#if TESSERA_DAWN_INSTANCE_FEATURES  // Dawn from July 2025 on
  const WGPUInstanceFeatureName waiting = WGPUInstanceFeatureName_TimedWaitAny;
  descriptor.requiredFeatureCount = 1;
  descriptor.requiredFeatures = &waiting;
#else
  descriptor.capabilities.timedWaitAnyEnable = 1;
  descriptor.capabilities.timedWaitAnyMaxCount = 1;
#endif
  return Handle(wgpuCreateInstance(&descriptor));
}

void request_adapter(Adapter& adapter) {
  WGPURequestAdapterOptions options{};
  options.backendType = WGPUBackendType_Vulkan;
  options.powerPreference = WGPUPowerPreference_HighPerformance;
  WGPURequestAdapterCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = &adapter;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter handle, WGPUStringView message, void* to, void*) {
    static_cast<Adapter*>(to)->handle = Handle(handle);
    static_cast<Adapter*>(to)->refusal = string_of(message);
  };
  wait_for(adapter.instance.get(), wgpuInstanceRequestAdapter(adapter.instance.get(), &options, callback));
}

int rank_of(WGPUAdapterType type, bool is_swiftshader) {
  if (type == WGPUAdapterType_DiscreteGPU) return 0;
  if (type != WGPUAdapterType_CPU) return 1;
  return is_swiftshader ? 3 : 2;
}

void describe_adapter(Adapter& adapter, bool is_swiftshader) {
  WGPUAdapterInfo info{};
  wgpuAdapterGetInfo(adapter.handle.get(), &info);
  wgpuAdapterGetLimits(adapter.handle.get(), &adapter.limits);
  adapter.info = describe(info, adapter.limits);
  adapter.rank = rank_of(info.adapterType, is_swiftshader);
  if (info.backendType == WGPUBackendType_Null) {  // it computes nothing and reports success
    adapter.handle = {};
    adapter.refusal = "Dawn offers its null device only.";
  }
  wgpuAdapterInfoFreeMembers(info);
}

Adapter start(const VulkanDriver& driver) {
  const OnlyVulkanDriver only(driver);
  Adapter adapter;
  adapter.driver = driver;
  if (const std::string reason = why_vulkan_has_no_device(driver); !reason.empty()) {
    adapter.refusal = reason + ".";
    return adapter;
  }
  adapter.instance = make_instance();
  if (!adapter.instance) {
    adapter.refusal = "Dawn could not start.";
    return adapter;
  }
  request_adapter(adapter);
  if (adapter.handle) describe_adapter(adapter, driver.is_swiftshader);
  return adapter;
}

// One for each driver of this machine, in the order of vulkan_drivers().
std::vector<std::pair<std::string, const Adapter*>> all_adapters() {
  const std::lock_guard lock(driver_start_lock());
  static auto& started = *new std::map<std::string, Adapter>;
  std::vector<std::pair<std::string, const Adapter*>> adapters;
  for (const VulkanDriver& driver : vulkan_drivers()) {
    const std::string manifest = driver.manifest.string();
    auto found = started.find(manifest);
    if (found == started.end()) found = started.emplace(manifest, start(driver)).first;
    adapters.emplace_back(manifest, &found->second);
  }
  return adapters;
}

std::string nothing_usable() {
  std::string text = "WebGPU: Dawn found no Vulkan driver that it can use.";
  for (const auto& [manifest, adapter] : all_adapters()) text += " " + manifest + ": " + adapter->refusal;
  return text + " On Debian, the packages libvulkan1 and mesa-vulkan-drivers (25 or newer) bring one.";
}

}  // namespace

DeviceInfo describe(const WGPUAdapterInfo& adapter, const WGPULimits& limits) {
  const std::uint64_t bytes =
      std::min({limits.maxStorageBufferBindingSize, limits.maxBufferSize, max_addressable_bytes});
  DeviceInfo info{};
  info.backend = BackendKind::webgpu;
  info.name = string_of(adapter.device);
  // Mesa's lavapipe calls itself by the name of its rasteriser.
  const bool is_lavapipe = contains_ignoring_case(info.name, "llvmpipe");
  info.driver = std::string("Dawn on ") + (is_lavapipe ? "lavapipe" : "Vulkan") + ": " + string_of(adapter.description);
  info.vendor = string_of(adapter.vendor);
  info.is_software = adapter.adapterType == WGPUAdapterType_CPU;
  info.max_tensor_bytes = bytes / 16 * 16;
  return info;
}

std::vector<const Adapter*> usable_adapters() {
  std::vector<const Adapter*> usable;
  for (const auto& [manifest, adapter] : all_adapters())
    if (adapter->handle) usable.push_back(adapter);
  std::stable_sort(usable.begin(), usable.end(), [](const Adapter* a, const Adapter* b) { return a->rank < b->rank; });
  return usable;
}

const Adapter& find_adapter(std::string_view driver) {
  const std::vector<const Adapter*> usable = usable_adapters();
  if (usable.empty()) throw Error(ErrorCode::not_found, nothing_usable());
  std::string there_is;
  for (const Adapter* adapter : usable) {
    const DeviceInfo& info = adapter->info;
    if (contains_ignoring_case(info.name, driver) || contains_ignoring_case(info.driver, driver)) return *adapter;
    there_is += (there_is.empty() ? "" : "; ") + info.name + " (" + info.driver + ")";
  }
  throw Error(ErrorCode::not_found, "WebGPU: no device has \"" + std::string(driver) +
                                        "\" in its name or driver; there is: " + there_is + ".");
}

}  // namespace tessera::webgpu

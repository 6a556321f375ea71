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
    if (!handle) static_cast<Adapter*>(to)->refusal = "Dawn does not take it: " + string_of(message);
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
  if (info.backendType == WGPUBackendType_Null) {  // it computes nothing and reports success
    adapter.handle = {};
    adapter.refusal = "Dawn offers its null device only";
  } else {
    adapter.info = describe(info, adapter.limits);
    adapter.rank = rank_of(info.adapterType, is_swiftshader);
  }
  wgpuAdapterInfoFreeMembers(info);
}

Adapter start(const VulkanDriver& driver) {
  const OnlyVulkanDriver only(driver);
  Adapter adapter;
  adapter.driver = driver;
  if (const std::string reason = why_vulkan_has_no_device(driver); !reason.empty()) {
    adapter.refusal = reason;
    return adapter;
  }
  adapter.instance = make_instance();
  if (!adapter.instance) {
    adapter.refusal = "Dawn could not start";
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

std::vector<FoundDevice> find_devices() {
  auto adapters = all_adapters();
  std::ranges::stable_sort(adapters, {}, [](const auto& adapter) { return adapter.second->rank; });
  std::vector<FoundDevice> found;
  for (const auto& [manifest, adapter] : adapters) found.push_back({manifest, adapter->info, adapter->refusal});
  return found;
}

const Adapter& adapter_of(const FoundDevice& device) {
  for (const auto& [manifest, adapter] : all_adapters())
    if (manifest == device.where) return *adapter;
  throw Error(ErrorCode::not_found, "WebGPU: " + device.where + " is not there any more.");
}

}  // namespace tessera::webgpu

#include "backend_webgpu/adapter.h"

#include <algorithm>

#include "backend_webgpu/backend.h"
#include "backend_webgpu/wait.h"
#include "core/platform/vulkan_probe.h"

namespace tessera::webgpu {
namespace {

// Kernels count elements and bytes in words of 32 bits.
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

void request_adapter(DawnAdapter& adapter) {
  struct Answer {
    Handle<WGPUAdapter> adapter;
    std::string message;
  } answer;
  WGPURequestAdapterOptions options{};
  options.backendType = WGPUBackendType_Vulkan;
  options.powerPreference = WGPUPowerPreference_HighPerformance;
  WGPURequestAdapterCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter handle, WGPUStringView message, void* to, void*) {
    static_cast<Answer*>(to)->adapter = Handle(handle);
    static_cast<Answer*>(to)->message = string_of(message);
  };
  wait_for(adapter.instance.get(), wgpuInstanceRequestAdapter(adapter.instance.get(), &options, callback));
  if (!answer.adapter) throw Error(ErrorCode::unsupported, "Dawn does not take it: " + answer.message);
  adapter.handle = std::move(answer.adapter);
}

void describe_adapter(DawnAdapter& adapter) {
  WGPUAdapterInfo info{};
  wgpuAdapterGetInfo(adapter.handle.get(), &info);
  wgpuAdapterGetLimits(adapter.handle.get(), &adapter.limits);
  const bool computes_nothing = info.backendType == WGPUBackendType_Null;  // and reports success
  adapter.info = describe(info, adapter.limits);
  const bool is_first =
      adapter.info.is_software ? !adapter.driver.is_swiftshader : info.adapterType == WGPUAdapterType_DiscreteGPU;
  adapter.rank = is_first ? 0 : 1;
  wgpuAdapterInfoFreeMembers(info);
  if (computes_nothing) throw Error(ErrorCode::unsupported, "Dawn offers its null device only");
}

std::unique_ptr<Adapter> start(const VulkanDriver& driver) {
  const OnlyVulkanDriver only(driver);
  if (const std::string reason = why_vulkan_has_no_device(driver); !reason.empty())
    throw Error(ErrorCode::unsupported, reason);
  auto adapter = std::make_unique<DawnAdapter>();
  adapter->driver = driver;
  adapter->instance = make_instance();
  if (!adapter->instance) throw Error(ErrorCode::unsupported, "Dawn could not start");
  request_adapter(*adapter);
  describe_adapter(*adapter);
  return adapter;
}

std::vector<AdapterPlace> places() {
  std::vector<AdapterPlace> all;
  for (const VulkanDriver& driver : vulkan_drivers())
    all.push_back({"Dawn on " + driver.manifest.string(), [driver] { return start(driver); }});
  return all;
}

constexpr std::string_view advice =
    "On Debian, the packages libvulkan1 and mesa-vulkan-drivers (25 or newer) bring one.";

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

std::unique_ptr<Backend> DawnAdapter::open(const ContextOptions& options, const MessageSink& messages) const {
  return std::make_unique<WebGpuBackend>(std::make_shared<Device>(*this, options, messages));
}

BackendFactory factory() { return {places, advice}; }

}  // namespace tessera::webgpu

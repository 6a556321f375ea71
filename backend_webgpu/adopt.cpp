// webgpu::adopt, and the device of a context.
#include "backend_webgpu/backend.h"
#include "core/base/fail.h"
#include "core/interop/backend_of.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

constexpr std::string_view adopt_op = "webgpu::adopt";

void check(const HostDevice& host) {
  if (!host.device) fail(ErrorCode::invalid_argument, adopt_op, "the device is null.");
  if (!host.instance)
    fail(ErrorCode::invalid_argument, adopt_op,
         "the instance is null; waiting for the device takes the one it comes from.");
  const Handle adapter(wgpuDeviceGetAdapter(host.device));
  if (const Handle instance(wgpuAdapterGetInstance(adapter.get())); instance.get() != host.instance)
    fail(ErrorCode::invalid_argument, adopt_op, "the device comes from another instance than the one given.");
  if (!wgpuDeviceHasFeature(host.device, WGPUFeatureName_CoreFeaturesAndLimits))
    fail(ErrorCode::unsupported, adopt_op,
         "the device lacks the feature CoreFeaturesAndLimits: it is one of WebGPU's "
         "compatibility mode.");
  WGPULimits limits{};
  wgpuDeviceGetLimits(host.device, &limits);
  if (const std::string missing = missing_limits(limits); !missing.empty())
    fail(ErrorCode::unsupported, adopt_op, "the device's limits are too low: " + missing + ".");
}

DeviceInfo describe_adopted(WGPUDevice device) {
  WGPULimits limits{};
  wgpuDeviceGetLimits(device, &limits);
  const Handle adapter(wgpuDeviceGetAdapter(device));
  WGPUAdapterInfo info{};
  wgpuAdapterGetInfo(adapter.get(), &info);
  const bool computes_nothing = info.backendType == WGPUBackendType_Null;
  DeviceInfo described = describe(info, limits);
  wgpuAdapterInfoFreeMembers(info);
  if (computes_nothing)
    fail(ErrorCode::unsupported, adopt_op, "the device is Dawn's null device, which computes nothing.");
  return described;
}

}  // namespace

Context adopt(const HostDevice& host, const ContextOptions& options) {
  check(host);
  const auto open = [host](const ContextOptions& wanted, const MessageSink& messages) -> std::unique_ptr<Backend> {
    auto device = std::make_shared<Device>(host.instance, host.device, describe_adopted(host.device), wanted, messages);
    device->throw_faults();
    return std::make_unique<WebGpuBackend>(std::move(device));
  };
  return ContextAccess::make(options, open, true);
}

HostDevice host_device(const Context& context) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  const Device& device = *backend_of<WebGpuBackend>("webgpu::host_device", impl).own_device();
  return {device.instance(), device.get()};
}

}  // namespace tessera::webgpu

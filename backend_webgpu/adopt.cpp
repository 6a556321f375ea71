#include "backend_webgpu/adopt.h"

#include "backend_webgpu/backend.h"
#include "core/interop.h"
#include <tessera/webgpu.h>

namespace tessera::webgpu {
namespace {

[[noreturn]] void refuse(ErrorCode code, const std::string& why) { throw Error(code, "webgpu::adopt: " + why); }

void check(const HostDevice& host) {
  if (!host.device) refuse(ErrorCode::invalid_argument, "the device is null.");
  if (!host.instance)
    refuse(ErrorCode::invalid_argument, "the instance is null; waiting for the device takes the one it comes from.");
  const Handle adapter(wgpuDeviceGetAdapter(host.device));
  if (const Handle instance(wgpuAdapterGetInstance(adapter.get())); instance.get() != host.instance)
    refuse(ErrorCode::invalid_argument, "the device comes from another instance than the one given.");
  if (!wgpuDeviceHasFeature(host.device, WGPUFeatureName_CoreFeaturesAndLimits))
    refuse(ErrorCode::unsupported,
           "the device lacks the feature CoreFeaturesAndLimits: it is one of WebGPU's "
           "compatibility mode.");
  WGPULimits limits{};
  wgpuDeviceGetLimits(host.device, &limits);
  if (const std::string missing = missing_limits(limits); !missing.empty())
    refuse(ErrorCode::unsupported, "the device's limits are too low: " + missing + ".");
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
  if (computes_nothing) refuse(ErrorCode::unsupported, "the device is Dawn's null device, which computes nothing.");
  return described;
}

}  // namespace

std::string missing_limits(const WGPULimits& limits) {
  std::string missing;
  const auto need = [&](const char* name, std::uint64_t has, std::uint64_t needs) {
    if (has >= needs) return;
    missing += (missing.empty() ? "" : ", ") + std::string(name) + " is " + std::to_string(has) + " and " +
               std::to_string(needs) + " is needed";
  };
  need("maxStorageBuffersPerShaderStage", limits.maxStorageBuffersPerShaderStage, 8);
  need("maxDynamicUniformBuffersPerPipelineLayout", limits.maxDynamicUniformBuffersPerPipelineLayout, 1);
  need("maxUniformBufferBindingSize", limits.maxUniformBufferBindingSize, 16384);
  need("maxComputeInvocationsPerWorkgroup", limits.maxComputeInvocationsPerWorkgroup, 64);
  need("maxComputeWorkgroupSizeX", limits.maxComputeWorkgroupSizeX, 64);
  need("maxComputeWorkgroupStorageSize", limits.maxComputeWorkgroupStorageSize, 16384);
  need("maxComputeWorkgroupsPerDimension", limits.maxComputeWorkgroupsPerDimension, 65535);
  return missing;
}

Context adopt(const HostDevice& host, const ContextOptions& options) {
  check(host);
  const auto open = [host](const ContextOptions&, const MessageSink& messages) -> std::unique_ptr<Backend> {
    auto device = std::make_shared<Device>(host.instance, host.device, describe_adopted(host.device), messages);
    device->throw_faults();
    return std::make_unique<WebGpuBackend>(std::move(device));
  };
  return ContextAccess::make(options, open, true);
}

HostDevice host_device(const Context& context) {
  const LockedContext locked(context);
  ContextState& impl = *locked;
  require_backend("webgpu::host_device", impl, BackendKind::webgpu);
  const Device& device = static_cast<WebGpuBackend&>(*impl.backend).own_device();
  return {device.instance(), device.get()};
}

}  // namespace tessera::webgpu

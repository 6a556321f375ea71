// The adapter that the browser gives a page.
#include "backend_webgpu/adapter.h"

#include <algorithm>

#include "backend_webgpu/backend.h"
#include "backend_webgpu/wait.h"

namespace tessera::webgpu {
namespace {

constexpr std::uint64_t max_addressable_bytes = (std::uint64_t{1} << 32) - 16;  // as native/adapter.cpp has it

void request_adapter(DawnAdapter& adapter) {
  struct Answer {
    Handle<WGPUAdapter> adapter;
    std::string message;
  } answer;
  WGPURequestAdapterCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter handle, WGPUStringView message, void* to, void*) {
    static_cast<Answer*>(to)->adapter = Handle(handle);
    static_cast<Answer*>(to)->message = string_of(message);
  };
  wait_for(adapter.instance.get(), wgpuInstanceRequestAdapter(adapter.instance.get(), nullptr, callback));
  if (!answer.adapter) throw Error(ErrorCode::unsupported, "the browser gives no adapter: " + answer.message);
  adapter.handle = std::move(answer.adapter);
}

std::unique_ptr<DawnAdapter> start() {
  auto adapter = std::make_unique<DawnAdapter>();
  adapter->instance = Handle(wgpuCreateInstance(nullptr));
  request_adapter(*adapter);
  WGPUAdapterInfo info{};
  wgpuAdapterGetInfo(adapter->handle.get(), &info);
  wgpuAdapterGetLimits(adapter->handle.get(), &adapter->limits);
  adapter->info = describe(info, adapter->limits);
  wgpuAdapterInfoFreeMembers(info);
  return adapter;
}

}  // namespace

// Browsers tell little of a device, and less of its driver.
DeviceInfo describe(const WGPUAdapterInfo& adapter, const WGPULimits& limits) {
  DeviceInfo info{};
  info.backend = BackendKind::webgpu;
  info.vendor = string_of(adapter.vendor);
  for (const WGPUStringView& text : {adapter.device, adapter.description, adapter.architecture, adapter.vendor})
    if (info.name.empty()) info.name = string_of(text);
  if (info.name.empty()) info.name = "a GPU without a name";
  info.driver = "the browser's WebGPU: " + string_of(adapter.architecture) + " " + string_of(adapter.description);
  info.is_software = adapter.adapterType == WGPUAdapterType_CPU || contains_ignoring_case(info.driver, "swiftshader");
  info.max_tensor_bytes =
      std::min({limits.maxStorageBufferBindingSize, limits.maxBufferSize, max_addressable_bytes}) / 16 * 16;
  return info;
}

// An adapter gives one device and no second one.
std::unique_ptr<Backend> DawnAdapter::open(const ContextOptions& options, const MessageSink& messages) const {
  return std::make_unique<WebGpuBackend>(std::make_shared<Device>(*start(), options, messages));
}

BackendFactory factory() {
  return {[] {
            return std::vector<AdapterPlace>{{"the browser's WebGPU", [] { return start(); }}};
          },
          "The page may have to be served by HTTPS or from localhost, and WebGPU may be switched off in the browser."};
}

}  // namespace tessera::webgpu

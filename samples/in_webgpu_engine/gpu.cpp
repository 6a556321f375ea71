#include "gpu.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

namespace {

std::string string_of(WGPUStringView s) {
  return s.data ? std::string(s.data, s.length == WGPU_STRLEN ? std::strlen(s.data) : s.length) : std::string();
}

Owned<WGPUInstance> make_instance() {
  WGPUInstanceDescriptor descriptor{};
#if TESSERA_DAWN_INSTANCE_FEATURES  // Dawn from July 2025 on
  const WGPUInstanceFeatureName waiting = WGPUInstanceFeatureName_TimedWaitAny;
  descriptor.requiredFeatureCount = 1;
  descriptor.requiredFeatures = &waiting;
#else
  descriptor.capabilities.timedWaitAnyEnable = 1;
  descriptor.capabilities.timedWaitAnyMaxCount = 1;
#endif
  return Owned<WGPUInstance>(wgpuCreateInstance(&descriptor));
}

}  // namespace

Gpu::Gpu(GLFWwindow* window) : instance_(make_instance()) {
  if (!instance_) throw std::runtime_error("Dawn does not start");
  if (window) surface_.emplace(instance(), window);

  WGPURequestAdapterOptions options{};
  options.backendType = WGPUBackendType_Vulkan;
  options.compatibleSurface = surface_ ? surface_->get() : nullptr;
  WGPURequestAdapterCallbackInfo on_adapter{};
  on_adapter.mode = WGPUCallbackMode_WaitAnyOnly;
  on_adapter.userdata1 = &adapter_;
  on_adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView, void* to, void*) {
    static_cast<Owned<WGPUAdapter>*>(to)->reset(adapter);
  };
  wait_for(wgpuInstanceRequestAdapter(instance(), &options, on_adapter));
  if (!adapter_) throw std::runtime_error("Dawn finds no Vulkan driver that it can use here");

  WGPUDeviceDescriptor descriptor{};
  descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType, WGPUStringView message, void*,
                                                       void*) {
    std::fprintf(stderr, "WebGPU: %s\n", string_of(message).c_str());
    std::exit(1);
  };
  WGPURequestDeviceCallbackInfo on_device{};
  on_device.mode = WGPUCallbackMode_WaitAnyOnly;
  on_device.userdata1 = &device_;
  on_device.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView, void* to, void*) {
    static_cast<Owned<WGPUDevice>*>(to)->reset(device);
  };
  wait_for(wgpuAdapterRequestDevice(adapter_.get(), &descriptor, on_device));
  if (!device_) throw std::runtime_error("the Vulkan driver gives no device");
  queue_.reset(wgpuDeviceGetQueue(device()));
  if (surface_) format_ = surface_->format_on(adapter_.get());
}

void Gpu::wait_for(WGPUFuture future) const {
  WGPUFutureWaitInfo info{};
  info.future = future;
  wgpuInstanceWaitAny(instance(), 1, &info, UINT64_MAX);
}

void Gpu::resize(sample::Size size) {
  size_ = size;
  if (!surface_) {
    off_screen_ = texture(size, format_, WGPUTextureUsage_RenderAttachment | WGPUTextureUsage_CopySrc);
    return;
  }
  surface_->configure(device(), format_, size);
}

Owned<WGPUTexture> Gpu::next_target() {
  if (!surface_) {
    wgpuTextureAddRef(off_screen_.get());
    return Owned<WGPUTexture>(off_screen_.get());
  }
  if (Owned<WGPUTexture> target = surface_->next()) return target;
  resize(size_);  // the window has changed under it: again in the next frame
  return nullptr;
}

void Gpu::present() {
  if (surface_) {
    surface_->present();
    return;
  }
  // A window takes frames as fast as it shows them; off screen nothing else keeps them from piling up.
  WGPUQueueWorkDoneCallbackInfo on_done{};
  on_done.mode = WGPUCallbackMode_WaitAnyOnly;
  on_done.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void*, void*) {};
  wait_for(wgpuQueueOnSubmittedWorkDone(queue(), on_done));
}

std::vector<std::uint8_t> Gpu::target_pixels() {
  const std::size_t row = static_cast<std::size_t>(size_.width) * 4, height = static_cast<std::size_t>(size_.height);
  const std::size_t padded_row = (row + 255) / 256 * 256;
  const Owned<WGPUBuffer> staging = buffer(padded_row * height, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
  WGPUTexelCopyTextureInfo from{};
  from.texture = off_screen_.get();
  WGPUTexelCopyBufferInfo to{};
  to.buffer = staging.get();
  to.layout.bytesPerRow = static_cast<std::uint32_t>(padded_row);
  to.layout.rowsPerImage = static_cast<std::uint32_t>(height);
  const WGPUExtent3D extent{static_cast<std::uint32_t>(size_.width), static_cast<std::uint32_t>(height), 1};
  const Owned<WGPUCommandEncoder> commands(wgpuDeviceCreateCommandEncoder(device(), nullptr));
  wgpuCommandEncoderCopyTextureToBuffer(commands.get(), &from, &to, &extent);
  const Owned<WGPUCommandBuffer> finished(wgpuCommandEncoderFinish(commands.get(), nullptr));
  const WGPUCommandBuffer submitted = finished.get();
  wgpuQueueSubmit(queue(), 1, &submitted);

  WGPUBufferMapCallbackInfo on_mapped{};
  on_mapped.mode = WGPUCallbackMode_WaitAnyOnly;
  on_mapped.callback = [](WGPUMapAsyncStatus, WGPUStringView, void*, void*) {};
  wait_for(wgpuBufferMapAsync(staging.get(), WGPUMapMode_Read, 0, padded_row * height, on_mapped));
  const auto* mapped =
      static_cast<const std::uint8_t*>(wgpuBufferGetConstMappedRange(staging.get(), 0, padded_row * height));
  if (!mapped) throw std::runtime_error("the frame cannot be read");
  std::vector<std::uint8_t> pixels;
  for (std::size_t y = 0; y < height; ++y)
    pixels.insert(pixels.end(), mapped + y * padded_row, mapped + y * padded_row + row);
  return pixels;
}

Owned<WGPUBuffer> Gpu::buffer(std::uint64_t bytes, WGPUBufferUsage usage, const void* contents) const {
  WGPUBufferDescriptor descriptor{};
  descriptor.size = (bytes + 3) / 4 * 4;
  descriptor.usage = usage;
  Owned<WGPUBuffer> made(wgpuDeviceCreateBuffer(device(), &descriptor));
  if (contents) wgpuQueueWriteBuffer(queue(), made.get(), 0, contents, bytes);
  return made;
}

Owned<WGPUTexture> Gpu::texture(sample::Size size, WGPUTextureFormat format, WGPUTextureUsage usage) const {
  WGPUTextureDescriptor descriptor{};
  descriptor.usage = usage;
  descriptor.dimension = WGPUTextureDimension_2D;
  descriptor.size = {static_cast<std::uint32_t>(size.width), static_cast<std::uint32_t>(size.height), 1};
  descriptor.format = format;
  descriptor.mipLevelCount = 1;
  descriptor.sampleCount = 1;
  return Owned<WGPUTexture>(wgpuDeviceCreateTexture(device(), &descriptor));
}

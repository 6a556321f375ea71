#include "raw_device.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace compare {
namespace {

WGPUInstance make_instance() {
  WGPUInstanceDescriptor descriptor{};
#if TESSERA_DAWN_INSTANCE_FEATURES  // Dawn from July 2025 on
  const WGPUInstanceFeatureName waiting = WGPUInstanceFeatureName_TimedWaitAny;
  descriptor.requiredFeatureCount = 1;
  descriptor.requiredFeatures = &waiting;
#else
  descriptor.capabilities.timedWaitAnyEnable = 1;
  descriptor.capabilities.timedWaitAnyMaxCount = 1;
#endif
  return wgpuCreateInstance(&descriptor);
}

std::string text_of(WGPUStringView view) { return view.data ? std::string(view.data, view.length) : std::string(); }
WGPUStringView view_of(const std::string& text) { return {text.data(), text.size()}; }

}  // namespace

RawDevice::RawDevice() : instance_(make_instance()) {
  if (!instance_) throw std::runtime_error("Dawn could not start");
  WGPURequestAdapterOptions options{};
  options.backendType = WGPUBackendType_Vulkan;
  WGPURequestAdapterCallbackInfo adapter{};
  adapter.mode = WGPUCallbackMode_WaitAnyOnly;
  adapter.userdata1 = &adapter_;
  adapter.callback = [](WGPURequestAdapterStatus, WGPUAdapter handle, WGPUStringView, void* to, void*) {
    *static_cast<WGPUAdapter*>(to) = handle;
  };
  wait(wgpuInstanceRequestAdapter(instance_, &options, adapter));
  if (!adapter_) throw std::runtime_error("Dawn has no Vulkan device");
  WGPUAdapterInfo info{};
  wgpuAdapterGetInfo(adapter_, &info);
  name_ = text_of(info.device) + ", " + text_of(info.description);
  wgpuAdapterInfoFreeMembers(info);
  wgpuAdapterGetLimits(adapter_, &limits_);
  WGPUDeviceDescriptor descriptor{};
  descriptor.requiredLimits = &limits_;
  descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType, WGPUStringView message, void*,
                                                       void*) {
    std::fprintf(stderr, "%s\n", text_of(message).c_str());
    std::abort();  // a kernel of this program is wrong
  };
  WGPURequestDeviceCallbackInfo device{};
  device.mode = WGPUCallbackMode_WaitAnyOnly;
  device.userdata1 = &device_;
  device.callback = [](WGPURequestDeviceStatus, WGPUDevice handle, WGPUStringView, void* to, void*) {
    *static_cast<WGPUDevice*>(to) = handle;
  };
  wait(wgpuAdapterRequestDevice(adapter_, &descriptor, device));
  if (!device_) throw std::runtime_error("Dawn gives no device");
  queue_ = wgpuDeviceGetQueue(device_);
}

void RawDevice::wait(WGPUFuture future) {  // sleeps: a wait that spins would take a core from the driver
  WGPUFutureWaitInfo info{};
  info.future = future;
  if (wgpuInstanceWaitAny(instance_, 1, &info, UINT64_MAX) != WGPUWaitStatus_Success)
    throw std::runtime_error("waiting for the device failed");
}

WGPUBuffer RawDevice::allocate(std::uint64_t bytes, WGPUBufferUsage usage) {
  WGPUBufferDescriptor descriptor{};
  descriptor.size = bytes;
  descriptor.usage = usage;
  return wgpuDeviceCreateBuffer(device_, &descriptor);
}

WGPUBuffer RawDevice::buffer(std::size_t floats) {
  const auto usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  return buffers_.emplace_back(allocate(floats * sizeof(float), usage));
}

WGPUBuffer RawDevice::buffer(const std::vector<float>& values) {
  WGPUBuffer made = buffer(values.size());
  write(made, values);
  return made;
}

void RawDevice::write(WGPUBuffer to, const std::vector<float>& values) {
  wgpuQueueWriteBuffer(queue_, to, 0, values.data(), values.size() * sizeof(float));
}

void RawDevice::free_buffers() {
  if (staging_) buffers_.push_back(std::exchange(staging_, nullptr));
  for (WGPUBuffer each : buffers_) {
    wgpuBufferDestroy(each);
    wgpuBufferRelease(each);
  }
  buffers_.clear();
}

Kernel RawDevice::kernel(const std::vector<std::string>& types, const std::string& text,
                         const std::vector<Part>& buffers, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  std::string code;
  for (std::size_t i = 0; i < types.size(); ++i)
    code += "@group(0) @binding(" + std::to_string(i) + ") var<storage," +
            (i + 1 == types.size() ? "read_write" : "read") + "> " + static_cast<char>('a' + i) + ": array<" +
            types[i] + ">;\n";
  code += text;
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view_of(code);
  WGPUShaderModuleDescriptor module{};
  module.nextInChain = &source.chain;
  WGPUComputePipelineDescriptor pipeline{};
  const std::string entry = "main";
  pipeline.compute.module = wgpuDeviceCreateShaderModule(device_, &module);
  pipeline.compute.entryPoint = view_of(entry);
  Kernel made{wgpuDeviceCreateComputePipeline(device_, &pipeline), nullptr, x, y, z};
  wgpuShaderModuleRelease(pipeline.compute.module);

  std::vector<WGPUBindGroupEntry> entries(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    entries[i].binding = static_cast<std::uint32_t>(i);
    entries[i].buffer = buffers[i].buffer;
    entries[i].offset = buffers[i].offset;
    entries[i].size = buffers[i].size ? buffers[i].size : wgpuBufferGetSize(buffers[i].buffer);
  }
  WGPUBindGroupDescriptor group{};
  group.layout = wgpuComputePipelineGetBindGroupLayout(made.pipeline, 0);
  group.entryCount = entries.size();
  group.entries = entries.data();
  made.buffers = wgpuDeviceCreateBindGroup(device_, &group);
  wgpuBindGroupLayoutRelease(group.layout);
  return made;
}

void RawDevice::submit(const std::vector<Kernel>& kernels, WGPUBuffer from, WGPUBuffer to) {
  WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(device_, nullptr);
  if (!kernels.empty()) {
    WGPUComputePassEncoder pass = wgpuCommandEncoderBeginComputePass(encoder, nullptr);
    for (const Kernel& kernel : kernels) {
      wgpuComputePassEncoderSetPipeline(pass, kernel.pipeline);
      wgpuComputePassEncoderSetBindGroup(pass, 0, kernel.buffers, 0, nullptr);
      wgpuComputePassEncoderDispatchWorkgroups(pass, kernel.x, kernel.y, kernel.z);
    }
    wgpuComputePassEncoderEnd(pass);
    wgpuComputePassEncoderRelease(pass);
  }
  if (to) wgpuCommandEncoderCopyBufferToBuffer(encoder, from, 0, to, 0, wgpuBufferGetSize(from));
  WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, nullptr);
  wgpuQueueSubmit(queue_, 1, &commands);
  wgpuCommandBufferRelease(commands);
  wgpuCommandEncoderRelease(encoder);
}

void RawDevice::run(const std::vector<Kernel>& kernels) {
  if (!kernels.empty()) submit(kernels);
  WGPUQueueWorkDoneCallbackInfo done{};
  done.mode = WGPUCallbackMode_WaitAnyOnly;
  done.callback = [](WGPUQueueWorkDoneStatus, auto...) {};
  wait(wgpuQueueOnSubmittedWorkDone(queue_, done));
}

std::vector<float> RawDevice::read(const std::vector<Kernel>& kernels, WGPUBuffer from) {
  const std::uint64_t bytes = wgpuBufferGetSize(from);
  if (staging_ && wgpuBufferGetSize(staging_) != bytes) buffers_.push_back(std::exchange(staging_, nullptr));
  if (!staging_) staging_ = allocate(bytes, WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
  submit(kernels, from, staging_);
  WGPUBufferMapCallbackInfo map{};
  map.mode = WGPUCallbackMode_WaitAnyOnly;
  map.callback = [](WGPUMapAsyncStatus, WGPUStringView, void*, void*) {};
  wait(wgpuBufferMapAsync(staging_, WGPUMapMode_Read, 0, bytes, map));
  const void* mapped = wgpuBufferGetConstMappedRange(staging_, 0, bytes);
  if (!mapped) throw std::runtime_error("the result could not be mapped");
  std::vector<float> values(bytes / sizeof(float));
  std::memcpy(values.data(), mapped, bytes);
  wgpuBufferUnmap(staging_);
  return values;
}

}  // namespace compare

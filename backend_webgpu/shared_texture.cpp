#include "backend_webgpu/shared_texture.h"

#include <string>

#include "core/platform/vulkan_abi.h"

namespace tessera::webgpu {

SharedTexture::SharedTexture(std::shared_ptr<Device> device, const char* name, WGPUChainedStruct& memory,
                             WGPUExtent3D size, WGPUTextureFormat format, WGPUTextureUsage usage)
    : device_(std::move(device)), name_(name) {
  device_->throw_faults();  // Dawn never lets go of memory that a lost device imports
  ErrorScope refused(*device_, WGPUErrorFilter_Validation);
  const std::string label = std::string("tessera ") + name;
  WGPUSharedTextureMemoryDescriptor descriptor{};
  descriptor.nextInChain = &memory;
  descriptor.label = view_of(label);
  memory_ = Handle(wgpuDeviceImportSharedTextureMemory(device_->get(), &descriptor));
  WGPUTextureDescriptor texture{};
  texture.label = view_of(label);
  texture.usage = usage;
  texture.dimension = WGPUTextureDimension_2D;
  texture.size = size;
  texture.format = format;
  texture.mipLevelCount = 1;
  texture.sampleCount = 1;
  texture_ = Handle(wgpuSharedTextureMemoryCreateTexture(memory_.get(), &texture));
  throw_refusal(refused);
}

void SharedTexture::begin(const Begin& begin) const {
  WGPUSharedTextureMemoryVkImageLayoutBeginState layout{};
  layout.chain.sType = WGPUSType_SharedTextureMemoryVkImageLayoutBeginState;
  layout.oldLayout = begin.old_layout;
  layout.newLayout = begin.new_layout;
  WGPUSharedTextureMemoryBeginAccessDescriptor access{};
  access.nextInChain = &layout.chain;
  access.initialized = begin.has_pixels;
  const std::uint64_t value = 1;
  if (begin.waited) {
    access.fenceCount = 1;
    access.fences = &begin.waited;
    access.signaledValues = &value;
  }
  wgpuSharedTextureMemoryBeginAccess(memory_.get(), texture_.get(), &access);
}

SharedTexture::End SharedTexture::end() const {
  WGPUSharedTextureMemoryVkImageLayoutEndState layout{};
  layout.chain.sType = WGPUSType_SharedTextureMemoryVkImageLayoutEndState;
  WGPUSharedTextureMemoryEndAccessState state{};
  state.nextInChain = &layout.chain;
  End end;
  if (wgpuSharedTextureMemoryEndAccess(memory_.get(), texture_.get(), &state) != WGPUStatus_Success) return end;
  end.given.old_layout = layout.oldLayout;
  end.given.new_layout = layout.newLayout;
  if (state.fenceCount == 1) {
    WGPUSharedFenceExportInfo info{};
    wgpuSharedFenceExportInfo(state.fences[0], &info);  // of which kind it is
    WGPUSharedFenceSyncFDExportInfo file{};
    file.chain.sType = WGPUSType_SharedFenceSyncFDExportInfo;
    file.handle = -1;
    WGPUSharedFenceVkSemaphoreOpaqueFDExportInfo semaphore{};
    semaphore.chain.sType = WGPUSType_SharedFenceVkSemaphoreOpaqueFDExportInfo;
    semaphore.handle = -1;
    end.is_sync_file = info.type == WGPUSharedFenceType_SyncFD;
    info.nextInChain = end.is_sync_file ? &file.chain : &semaphore.chain;
    wgpuSharedFenceExportInfo(state.fences[0], &info);
    if (const int fd = end.is_sync_file ? file.handle : semaphore.handle; fd >= 0) end.given.done = Fd::copy_of(fd);
  }
  wgpuSharedTextureMemoryEndAccessStateFreeMembers(state);
  return end;
}

void SharedTexture::throw_refusal(ErrorScope& refused) const {
  const std::string error = refused.close();
  device_->throw_faults();
  if (!error.empty())
    throw Error(ErrorCode::unsupported, "WebGPU: Dawn refuses a " + std::string(name_) + ": " + error);
}

WGPUSharedTextureMemoryOpaqueFDDescriptor opaque_memory(const SharedImage::Memory& memory, bool is_dedicated) {
  WGPUSharedTextureMemoryOpaqueFDDescriptor source{};
  source.chain.sType = WGPUSType_SharedTextureMemoryOpaqueFDDescriptor;
  source.vkImageCreateInfo = memory.image_parameters;
  source.memoryFD = memory.fd;
  source.memoryTypeIndex = memory.type;
  source.allocationSize = memory.bytes;
  source.dedicatedAllocation = is_dedicated;
  return source;
}

Handle<WGPUSharedFence> import_semaphore(const Device& device, int fd) {
  WGPUSharedFenceVkSemaphoreOpaqueFDDescriptor semaphore{};
  semaphore.chain.sType = WGPUSType_SharedFenceVkSemaphoreOpaqueFDDescriptor;
  semaphore.handle = fd;
  WGPUSharedFenceDescriptor descriptor{};
  descriptor.nextInChain = &semaphore.chain;
  return Handle(wgpuDeviceImportSharedFence(device.get(), &descriptor));
}

Handle<WGPUSharedFence> import_sync_file(const Device& device, int fd) {
  WGPUSharedFenceSyncFDDescriptor file{};
  file.chain.sType = WGPUSType_SharedFenceSyncFDDescriptor;
  file.handle = fd;
  WGPUSharedFenceDescriptor descriptor{};
  descriptor.nextInChain = &file.chain;
  return Handle(wgpuDeviceImportSharedFence(device.get(), &descriptor));
}

}  // namespace tessera::webgpu

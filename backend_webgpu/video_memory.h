// dma-bufs, as textures of Dawn's.
#pragma once
#include <webgpu/webgpu.h>

#include <memory>
#include <string>
#include <vector>

#include "backend_webgpu/device.h"
#include "core/interop/dma_buf.h"
#include "core/kernel/backend.h"

namespace tessera::webgpu {

// A plane as Dawn sees it. Dawn knows no formats of 16 bits: the two bytes of a number are two components there.
struct DmaBufTexture {
  std::uint32_t fourcc;
  WGPUTextureFormat format;
  std::string channels;             // of the numbers, or of their lower bytes
  std::string upper_bytes_in = "";  // channels; empty: numbers have one byte
};
DmaBufTexture texture_for(const DmaBufImage&);

// For WGPUSharedTextureMemoryDescriptor. Dawn has to be told a modifier: none counts as linear.
struct DmaBufMemory {
  DmaBufMemory(const DmaBufImage&, std::uint32_t fourcc);
  DmaBufMemory(const DmaBufMemory&) = delete;
  DmaBufMemory& operator=(const DmaBufMemory&) = delete;

  std::vector<WGPUSharedTextureMemoryDmaBufPlane> planes;
  WGPUSharedTextureMemoryDmaBufDescriptor descriptor{};
};

// The features that the device lacks for dma-bufs, for people; empty where it has them.
std::string missing_for_dma_bufs(const Device&);

// A tensor of the plane, which is in the texture, while `access` lasts.
Tensor tensor_of_plane(Context&, const DmaBufImage&, const DmaBufTexture&, WGPUTexture, std::shared_ptr<HostAccess>,
                       DType);

}  // namespace tessera::webgpu

// Checks of a host's objects. Dawn makes most of them, when others are made of these objects and dropped.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "backend_webgpu/device.h"
#include "backend_webgpu/host_texture.h"
#include "backend_webgpu/host_views.h"

namespace tessera::webgpu {

// Each throws invalid_argument, with `op`, where the object belongs to another device, or is not valid.
class HostObjectChecks {
 public:
  HostObjectChecks(std::shared_ptr<Device> device, HostViews& views) : device_(std::move(device)), views_(views) {}

  void require_buffer(std::string_view op, WGPUBuffer, std::uint64_t offset, std::uint64_t bytes);
  void require_copy_target(std::string_view op, WGPUBuffer);
  void require_source(std::string_view op, const TextureSource&);
  void require_drawable(std::string_view op, const TextureTarget&);

 private:
  void make_group_of(const WGPUBindGroupLayoutEntry& binding, const WGPUBindGroupEntry&);

  std::shared_ptr<Device> device_;
  HostViews& views_;  // know the textures of the last runs
  // Layouts are kept, by the texture's type (none for a buffer): a layout goes with a pool of descriptors, which some
  // drivers are slow to make.
  using TextureType = std::tuple<WGPUTextureSampleType, WGPUTextureViewDimension, WGPUBool>;
  std::map<TextureType, Handle<WGPUBindGroupLayout>> layouts_;
};

}  // namespace tessera::webgpu

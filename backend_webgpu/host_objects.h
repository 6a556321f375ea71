// Checks of a host's objects. Dawn makes most of them, when others are made of these objects and dropped.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backend_webgpu/device.h"

namespace tessera::webgpu {

// Throws, with `op`, where the texture is null, or not a 2-D one of one layer and one sample a pixel.
void check_flat(std::string_view op, WGPUTexture);

// Each throws invalid_argument, with `op`, where the object belongs to another device, or is not valid.
class HostObjectChecks {
 public:
  explicit HostObjectChecks(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  void require_buffer(std::string_view op, WGPUBuffer, std::uint64_t offset, std::uint64_t bytes);
  void require_copy_target(std::string_view op, WGPUBuffer);
  void require_sampled_texture(std::string_view op, WGPUTexture, WGPUTextureSampleType);
  void require_writable_texture(std::string_view op, WGPUTexture);

 private:
  void make_group_of(const WGPUBindGroupLayoutEntry& binding, const WGPUBindGroupEntry&);

  std::shared_ptr<Device> device_;
  // Layouts are kept, by the texture's type (none for a buffer): a layout goes with a pool of descriptors, which some
  // drivers are slow to make.
  std::map<WGPUTextureSampleType, Handle<WGPUBindGroupLayout>> layouts_;
};

}  // namespace tessera::webgpu

// Checks of what a host lends that only Dawn can make: objects are made with it, and dropped.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backend_webgpu/device.h"

namespace tessera::webgpu {

// Throw invalid_argument for what belongs to another device, or is not valid there.
class LentChecks {
 public:
  explicit LentChecks(std::shared_ptr<Device> device) : device_(std::move(device)) {}

  void require_usable(std::string_view op, WGPUBuffer, std::uint64_t offset, std::uint64_t bytes);
  void require_usable_for_sampling(std::string_view op, WGPUTexture, WGPUTextureSampleType);
  void require_usable_as_target(std::string_view op, WGPUTexture);

 private:
  void make_group_of(const WGPUBindGroupLayoutEntry& binding, const WGPUBindGroupEntry&);

  std::shared_ptr<Device> device_;
  // Kept, by what is bound: a layout goes with a pool of descriptors, which some drivers are slow to make.
  std::map<WGPUTextureSampleType, Handle<WGPUBindGroupLayout>> layouts_;
};

[[noreturn]] void refuse(std::string_view op, ErrorCode, const std::string& why);

}  // namespace tessera::webgpu

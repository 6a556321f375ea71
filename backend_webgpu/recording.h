// Work goes into a host's commands while this lives, instead of being submitted.
#pragma once
#include <string_view>

#include "backend_webgpu/backend.h"
#include "core/context_impl.h"

namespace tessera::webgpu {

// The caller holds the lock, from before until after.
class Recording {
 public:
  Recording(std::string_view op, ContextState&, WebGpuBackend&, WGPUCommandEncoder);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  ContextState& context_;
  WebGpuBackend& backend_;
  const std::uint64_t submits_before_;
};

}  // namespace tessera::webgpu

// While a Recording lives, the backend records its work into a host's commands instead of submitting it.
#pragma once
#include <string_view>

#include "backend_webgpu/backend.h"
#include "core/run/context_impl.h"

namespace tessera::webgpu {

// The caller holds the lock for as long as this lives.
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

// A compute pipeline that the driver compiles beside its caller, where it can.
#pragma once
#include <memory>
#include <string>

#include "backend_webgpu/device.h"

namespace tessera::webgpu {

class PipelineBeside {
 public:
  // Begins; see make_compute_pipeline() for the rest. Throws compile_failed for a text that is wrong, and device_lost.
  PipelineBeside(std::shared_ptr<Device>, const std::string& text, std::string what, WGPUPipelineLayout);
  // Waits until it is done: whatever Dawn still has to do for it is done while the device is there.
  ~PipelineBeside();
  PipelineBeside(PipelineBeside&&) noexcept = default;

  bool is_done() const;                // never waits
  Handle<WGPUComputePipeline> take();  // once; waits until it is done. Throws as above

 private:
  struct Made;
  std::shared_ptr<Device> device_;
  std::string what_;
  std::shared_ptr<Made> made_;
};

}  // namespace tessera::webgpu

// A page has no thread to ask from: the pipeline is made at once.
#include "backend_webgpu/pipeline_beside.h"

#include <utility>

#include "backend_webgpu/program.h"

namespace tessera::webgpu {

struct PipelineBeside::Made {
  Handle<WGPUComputePipeline> pipeline;
};

PipelineBeside::PipelineBeside(std::shared_ptr<Device> device, const std::string& text, std::string what,
                               WGPUPipelineLayout layout)
    : device_(std::move(device)),
      what_(std::move(what)),
      made_(std::make_shared<Made>(Made{make_compute_pipeline(*device_, text, what_, layout)})) {}

PipelineBeside::~PipelineBeside() = default;

bool PipelineBeside::is_done() const { return true; }

Handle<WGPUComputePipeline> PipelineBeside::take() { return std::move(made_->pipeline); }

}  // namespace tessera::webgpu

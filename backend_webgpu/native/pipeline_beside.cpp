#include "backend_webgpu/pipeline_beside.h"

#include <utility>

#include "backend_webgpu/program.h"

namespace tessera::webgpu {

// Dawn calls back on the thread that asks, and leaves nothing to do for its own thread that needs the device's lock.
struct PipelineBeside::Made {
  Handle<WGPUComputePipeline> pipeline{};
  std::string error{};
  bool is_there = false;  // the pipeline, or the error
  WGPUFuture future{};

  static void called(WGPUCreatePipelineAsyncStatus status, WGPUComputePipeline pipeline, WGPUStringView message,
                     void* to, void*) {
    const std::unique_ptr<std::shared_ptr<Made>> made(static_cast<std::shared_ptr<Made>*>(to));
    Made& result = **made;
    result.pipeline = Handle(pipeline);
    if (status != WGPUCreatePipelineAsyncStatus_Success) result.error = string_of(message);
    result.is_there = true;
  }
};

PipelineBeside::PipelineBeside(std::shared_ptr<Device> device, const std::string& text, std::string what,
                               WGPUPipelineLayout layout)
    : device_(std::move(device)), what_(std::move(what)), made_(std::make_shared<Made>()) {
  device_->note_new_work();
  ErrorScope rejected(*device_, WGPUErrorFilter_Validation);
  const Handle<WGPUShaderModule> module = make_shader_module(*device_, text, what_);
  if (const std::string error = rejected.close(); !error.empty()) throw_compile_failure(*device_, what_, error);
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view_of(what_);
  descriptor.layout = layout;
  descriptor.compute.module = module.get();
  descriptor.compute.entryPoint = view_of("main");
  WGPUCreateComputePipelineAsyncCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = new std::shared_ptr(made_);  // Dawn calls once, if only when the instance goes
  callback.callback = Made::called;
  made_->future = wgpuDeviceCreateComputePipelineAsync(device_->get(), &descriptor, callback);
}

PipelineBeside::~PipelineBeside() {
  if (made_ && !is_done()) device_->wait_for(made_->future);
}

bool PipelineBeside::is_done() const {
  return made_->is_there || (device_->wait_for(made_->future, 0) && made_->is_there);
}

Handle<WGPUComputePipeline> PipelineBeside::take() {
  if (!is_done()) device_->wait_for(made_->future);
  device_->throw_faults();
  if (!made_->pipeline || !made_->error.empty()) throw_compile_failure(*device_, what_, made_->error);
  return std::move(made_->pipeline);
}

}  // namespace tessera::webgpu

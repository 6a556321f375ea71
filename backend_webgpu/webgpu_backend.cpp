#include "backend_webgpu/webgpu_backend.h"

#include <algorithm>

#include "backend_webgpu/bind_groups.h"
#include "backend_webgpu/device.h"
#include "backend_webgpu/download.h"
#include "backend_webgpu/kernel_cache.h"
#include "backend_webgpu/parameters.h"
#include "backend_webgpu/storage.h"

namespace tessera::webgpu {
namespace {

std::uint64_t bytes_of(DType dtype, std::int64_t elements) {
  return static_cast<std::uint64_t>(elements) * size_of(dtype);
}

class WebGpuBackend final : public Backend {
 public:
  WebGpuBackend(const Adapter& adapter, const MessageSink& messages)
      : device_(std::make_shared<Device>(adapter, messages)) {}

  const DeviceInfo& device() const override { return device_->info(); }
  Limits limits() const override;

  StorageClass storage_class(const StorageSpec& spec) const override {
    return class_for(bytes_of(spec.dtype, spec.elements), device_->info().max_tensor_bytes);
  }

  std::unique_ptr<Storage> allocate(const StorageSpec& spec) override {
    return std::make_unique<BufferStorage>(device_, bind_groups_, storage_class(spec).bytes);
  }

  void upload(Storage& storage, DType, std::span<const std::byte> elements) override {
    device_->throw_faults();
    write(*device_, buffer_of(storage), elements);
  }

  void prepare(const Dispatch& dispatch) override {
    device_->throw_faults();
    kernels_.get(*dispatch.kernel);
  }
  void run(std::span<const Dispatch>) override;

  std::unique_ptr<Download> download(const Storage& storage, DType dtype, std::int64_t first,
                                     std::int64_t count) override {
    device_->throw_faults();
    return start_download(staging_, buffer_of(storage), bytes_of(dtype, first), bytes_of(dtype, count));
  }

  void wait() override;

  std::uint64_t kernels_compiled() const override { return kernels_.compiled(); }
  bool is_lost() const override { return device_->is_lost(); }
  void lose() override { device_->lose(); }

 private:
  struct Step {
    const Dispatch* dispatch;
    WGPUComputePipeline pipeline;
    std::uint32_t parameter_offset;
  };
  void encode(WGPUComputePassEncoder, const Step&, const BoundBuffer& parameters);

  std::shared_ptr<Device> device_;
  std::shared_ptr<BindGroups> bind_groups_ = std::make_shared<BindGroups>(device_);
  std::shared_ptr<StagingPool> staging_ = std::make_shared<StagingPool>(device_);
  KernelCache kernels_{device_, bind_groups_};
  Parameters parameters_{device_, bind_groups_};
};

Limits WebGpuBackend::limits() const {
  const WGPULimits& limits = device_->limits();
  constexpr std::uint64_t enough_words = 4096;
  return {std::min(static_cast<int>(limits.maxStorageBuffersPerShaderStage) - 1, BindGroups::max_inputs),
          static_cast<int>(std::min(limits.maxUniformBufferBindingSize / 4, enough_words)), true};
}

void WebGpuBackend::run(std::span<const Dispatch> dispatches) {
  device_->throw_faults();
  // First what can fail, so that a run is submitted whole or not at all.
  std::vector<Step> steps;
  parameters_.clear();
  for (const Dispatch& dispatch : dispatches)
    if (dispatch.output_elements > 0)
      steps.push_back({&dispatch, kernels_.get(*dispatch.kernel), parameters_.add(dispatch.words)});
  if (steps.empty()) return;
  const BoundBuffer& parameters = parameters_.upload();

  WGPUCommandEncoderDescriptor encoder_descriptor{};
  encoder_descriptor.label = view_of("tessera run");
  const Handle encoder(wgpuDeviceCreateCommandEncoder(device_->get(), &encoder_descriptor));
  WGPUComputePassDescriptor pass_descriptor{};
  pass_descriptor.label = view_of("tessera run");
  const Handle pass(wgpuCommandEncoderBeginComputePass(encoder.get(), &pass_descriptor));
  for (const Step& step : steps) encode(pass.get(), step, parameters);
  wgpuComputePassEncoderEnd(pass.get());
  const Handle commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  const WGPUCommandBuffer to_submit = commands.get();
  wgpuQueueSubmit(device_->queue(), 1, &to_submit);
}

void WebGpuBackend::encode(WGPUComputePassEncoder pass, const Step& step, const BoundBuffer& parameters) {
  const Dispatch& dispatch = *step.dispatch;
  std::vector<BoundBuffer> buffers;
  for (const BoundInput& input : dispatch.inputs) buffers.push_back(buffer_of(*input.storage));
  buffers.push_back(buffer_of(*dispatch.output));

  // One invocation per texel, unless a core says how many workgroups it takes. What does not fit into a row of
  // workgroups goes into rows of equal length.
  const std::uint64_t per_group = std::uint64_t{4} * kernels_.workgroup_size();
  const std::uint64_t groups = dispatch.kernel->core.is_cooperative
                                   ? static_cast<std::uint64_t>(dispatch.workgroups)
                                   : (static_cast<std::uint64_t>(dispatch.output_elements) + per_group - 1) / per_group;
  const std::uint64_t longest_row = device_->limits().maxComputeWorkgroupsPerDimension;
  const std::uint64_t rows = (groups + longest_row - 1) / longest_row;
  const std::uint64_t row = (groups + rows - 1) / rows;

  const WGPUBindGroup group = bind_groups_->get(parameters, parameter_bytes(dispatch.words.size()), buffers);
  wgpuComputePassEncoderSetPipeline(pass, step.pipeline);
  wgpuComputePassEncoderSetBindGroup(pass, 0, group, 1, &step.parameter_offset);
  wgpuComputePassEncoderDispatchWorkgroups(pass, static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(rows), 1);
}

void WebGpuBackend::wait() {
  WGPUQueueWorkDoneCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void*, void*) {};  // a fault is noted by the device
  device_->wait_for(wgpuQueueOnSubmittedWorkDone(device_->queue(), callback));
  device_->throw_faults();
}

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> infos;
  for (const Adapter* adapter : usable_adapters()) infos.push_back(adapter->info);
  return infos;
}

std::unique_ptr<Backend> create(std::string_view driver, const MessageSink& messages) {
  return std::make_unique<WebGpuBackend>(find_adapter(driver), messages);
}

}  // namespace

BackendFactory factory() { return {devices, create}; }

}  // namespace tessera::webgpu

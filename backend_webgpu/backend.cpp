#include "backend_webgpu/backend.h"

#include <algorithm>

#include "backend_webgpu/copying_pass.h"
#include "backend_webgpu/shared_image.h"
#include "backend_webgpu/storage.h"

namespace tessera::webgpu {
namespace {

bool has_work(const Dispatch& dispatch) { return dispatch.pass || dispatch.custom || dispatch.output_elements > 0; }

// Whether something of a host's takes part, that it may have destroyed or not set up as it should.
bool uses_what_a_host_lent(const Dispatch& dispatch) {
  return dispatch.pass || std::any_of(dispatch.inputs.begin(), dispatch.inputs.end(),
                                      [](const BoundInput& input) { return is_lent(*input.storage); });
}

}  // namespace

// What is recorded for a dispatch: a kernel in a compute pass that kernels share, or a pass of its own.
struct WebGpuBackend::Step {
  std::size_t dispatch = 0;
  WGPUComputePipeline pipeline = nullptr;
  Handle<WGPUBindGroup> group{};
  std::uint32_t parameter_offset = 0, groups_x = 0, groups_y = 0;
  PreparedPass pass{};
};

Limits WebGpuBackend::limits() const {
  const WGPULimits& limits = device_->limits();
  constexpr std::uint64_t enough_words = 4096;
  return {std::min(static_cast<int>(limits.maxStorageBuffersPerShaderStage) - 1, BindGroups::max_inputs),
          static_cast<int>(std::min(limits.maxUniformBufferBindingSize / 4, enough_words)), true};
}

StorageClass WebGpuBackend::storage_class(const StorageSpec& spec) const { return class_of(spec); }

std::unique_ptr<Storage> WebGpuBackend::allocate(const StorageSpec& spec) {
  return std::make_unique<BufferStorage>(device_, bind_groups_, storage_class(spec).bytes);
}

std::unique_ptr<Storage> WebGpuBackend::borrow(WGPUBuffer buffer, std::uint64_t offset, std::uint64_t bytes) {
  return std::make_unique<BufferStorage>(device_, bind_groups_, buffer, offset, bytes);
}

void WebGpuBackend::upload(Storage& storage, DType, std::span<const std::byte> elements) {
  device_->throw_faults();
  write(*device_, buffer_of(storage), elements);
}

void WebGpuBackend::prepare(const Dispatch& dispatch) {
  device_->throw_faults();
  if (dispatch.custom) custom_kernels_.get(*dispatch.custom, dispatch.uses);
  else if (!dispatch.pass) kernels_.get(*dispatch.kernel, dispatch.uses);
}

std::unique_ptr<Download> WebGpuBackend::download(const Storage& storage, DType dtype, std::int64_t first,
                                                  std::int64_t count) {
  device_->throw_faults();
  const BoundBuffer& buffer = buffer_of(storage);
  if (count == 0 || !is_lent(storage) || (wgpuBufferGetUsage(buffer.handle) & WGPUBufferUsage_CopySrc))
    return start_download(staging_, buffer, byte_count(first, dtype), byte_count(count, dtype));
  // The host did not make its buffer for copies, but kernels can read it.
  const std::unique_ptr<Storage> copy = allocate({dtype, count});
  const std::unique_ptr<WebGpuPass> pass =
      copying_pass(buffer.handle, {buffer.offset, byte_count(first, dtype), byte_count(count, dtype)});
  submit(std::vector<Dispatch>{{.pass = pass.get(), .output = copy.get()}}, std::nullopt);
  return start_download(staging_, buffer_of(*copy), 0, byte_count(count, dtype));
}

void WebGpuBackend::run(std::span<const Dispatch> dispatches) {
  submit(dispatches, timer_.is_on() ? std::optional(timer_.next_run()) : std::nullopt);
  kernels_.cache().end_run();
  passes_.cache().end_run();
  custom_kernels_.cache().end_run();
}

void WebGpuBackend::trim() {
  kernels_.cache().trim();
  passes_.cache().trim();
  custom_kernels_.cache().trim();
  bind_groups_->forget_all();
  parameters_.trim();
  staging_->trim();
  // Dawn frees what it was given back when it notices that later submissions are done: these are, right away.
  for (int i = 0; i < 3; ++i) {
    wgpuQueueSubmit(device_->queue(), 0, nullptr);
    wait_for_work();
  }
}

void WebGpuBackend::submit(std::span<const Dispatch> dispatches, std::optional<std::uint64_t> timed_run) {
  device_->throw_faults();
  ErrorScope refused(*device_, WGPUErrorFilter_Validation);
  const auto throw_refusal = [&] {
    const std::string error = refused.close();
    device_->throw_faults();
    if (error.empty()) return;
    const bool is_hosts = std::any_of(dispatches.begin(), dispatches.end(), uses_what_a_host_lent);
    throw Error(is_hosts || host_encoder_ ? ErrorCode::invalid_argument : ErrorCode::unsupported,
                std::string("compute: Dawn refuses the work") +
                    (is_hosts ? ", which uses buffers or textures that the host lent: " : ": ") + error);
  };

  // First what can fail, so that a run is submitted, or recorded, whole or not at all.
  const std::vector<Step> steps = steps_for(dispatches);
  if (steps.empty()) return;
  if (host_encoder_) {
    record_all(host_encoder_, steps, nullptr);
    return throw_refusal();
  }
  WGPUCommandEncoderDescriptor descriptor{};
  descriptor.label = view_of("tessera run");
  const Handle encoder(wgpuDeviceCreateCommandEncoder(device_->get(), &descriptor));
  std::unique_ptr<TimedPasses> times;
  if (timed_run) times = std::make_unique<TimedPasses>(device_, *timed_run, steps.size());
  record_all(encoder.get(), steps, times.get());
  if (times) times->resolve(encoder.get());
  const Handle commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  const WGPUCommandBuffer to_submit = commands.get();
  wgpuQueueSubmit(device_->queue(), 1, &to_submit);
  throw_refusal();
  if (!times) return;
  times->read();
  timer_.add(std::move(times));
}

std::vector<WebGpuBackend::Step> WebGpuBackend::steps_for(std::span<const Dispatch> dispatches) {
  std::vector<std::size_t> with_work;
  std::vector<std::uint32_t> offsets;
  parameters_.clear();
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const Dispatch& dispatch = dispatches[i];
    if (!has_work(dispatch)) continue;
    with_work.push_back(i);
    prepare(dispatch);
    offsets.push_back(parameters_.add(dispatch.pass     ? static_cast<const WebGpuPass&>(*dispatch.pass).words()
                                      : dispatch.custom ? words_of(*dispatch.custom)
                                                        : dispatch.words));
  }
  const BoundBuffer parameters = parameters_.upload(host_encoder_ ? Parameters::Use::recorded : Parameters::Use::now);

  ErrorScope refused(*device_, WGPUErrorFilter_Validation);
  std::vector<Step> steps;
  for (std::size_t i = 0; i < with_work.size(); ++i) {
    const Dispatch& dispatch = dispatches[with_work[i]];
    if (dispatch.custom) {
      BoundBuffer words = parameters;
      words.offset = offsets[i];
      words.bytes = parameter_bytes(dispatch.custom->parameters.size());
      steps.push_back({.dispatch = with_work[i], .pass = custom_kernels_.prepare(dispatch, words)});
      continue;
    }
    if (!dispatch.pass) {
      steps.push_back(kernel_step(dispatch, parameters, offsets[i]));
      steps.back().dispatch = with_work[i];
      continue;
    }
    const auto& pass = static_cast<const WebGpuPass&>(*dispatch.pass);
    BoundBuffer words = parameters;
    words.offset = offsets[i];
    words.bytes = parameter_bytes(pass.words().size());
    steps.push_back({.dispatch = with_work[i],
                     .pass = pass.prepare({*device_, passes_,
                                           dispatch.inputs.empty() ? nullptr : &buffer_of(*dispatch.inputs[0].storage),
                                           dispatch.output ? &buffer_of(*dispatch.output) : nullptr, words})});
  }
  if (const std::string error = refused.close(); !error.empty())
    throw Error(ErrorCode::invalid_argument, "compute: Dawn refuses a buffer or texture that the host lent: " + error);
  return steps;
}

WebGpuBackend::Step WebGpuBackend::kernel_step(const Dispatch& dispatch, const BoundBuffer& parameters,
                                               std::uint32_t parameter_offset) {
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
  return {.pipeline = kernels_.get(*dispatch.kernel, dispatch.uses),
          .group = bind_groups_->get(parameters, parameter_bytes(dispatch.words.size()), buffers),
          .parameter_offset = parameter_offset,
          .groups_x = static_cast<std::uint32_t>((groups + rows - 1) / rows),
          .groups_y = static_cast<std::uint32_t>(rows)};
}

void WebGpuBackend::record_all(WGPUCommandEncoder encoder, std::span<const Step> steps, TimedPasses* times) {
  Handle<WGPUComputePassEncoder> kernels;  // as long as one kernel follows another and nobody wants to know its time
  const auto end_kernels = [&] {
    if (kernels) wgpuComputePassEncoderEnd(kernels.get());
    kernels = {};
  };
  for (const Step& step : steps) {
    const WGPUPassTimestampWrites* timestamps = times ? times->writes_for(step.dispatch) : nullptr;
    if (!step.pipeline) {
      end_kernels();
      record(encoder, step.pass, timestamps);
      continue;
    }
    if (timestamps) end_kernels();
    if (!kernels) {
      WGPUComputePassDescriptor descriptor{};
      descriptor.label = view_of("tessera run");
      descriptor.timestampWrites = timestamps;
      kernels = Handle(wgpuCommandEncoderBeginComputePass(encoder, &descriptor));
    }
    wgpuComputePassEncoderSetPipeline(kernels.get(), step.pipeline);
    wgpuComputePassEncoderSetBindGroup(kernels.get(), 0, step.group.get(), 1, &step.parameter_offset);
    wgpuComputePassEncoderDispatchWorkgroups(kernels.get(), step.groups_x, step.groups_y, 1);
    if (timestamps) end_kernels();
  }
  end_kernels();
}

std::unique_ptr<ImportedImage> WebGpuBackend::import_image(const std::shared_ptr<SharedImage>& image) {
  return webgpu::import_image(device_, image);
}

// A buffer has the texels of any image, one after the other; a host's may end within the last one.
bool WebGpuBackend::is_laid_out_as(const Storage& storage, const ImageSpec&) const { return !is_lent(storage); }

void WebGpuBackend::wait() {
  wait_for_work();
  device_->throw_faults();
}

void WebGpuBackend::wait_for_work() const {
  WGPUQueueWorkDoneCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void*, void*) {};  // a fault is noted by the device
  device_->wait_for(wgpuQueueOnSubmittedWorkDone(device_->queue(), callback));
}

}  // namespace tessera::webgpu

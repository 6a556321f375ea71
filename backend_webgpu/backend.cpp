#include "backend_webgpu/backend.h"

#include <algorithm>

#include "backend_webgpu/copying_pass.h"
#include "backend_webgpu/custom_kernel.h"
#include "backend_webgpu/shader.h"
#include "backend_webgpu/shared_image.h"
#include "backend_webgpu/video_memory.h"
#include "backend_webgpu/vulkan_image.h"
#include "core/kernel/dispatch_label.h"
#include "core/platform/host.h"

namespace tessera::webgpu {
namespace {

bool has_work(const Dispatch& dispatch) {
  if (dispatch.pixel_kernel) return dispatch.words[0] > 0 && dispatch.words[1] > 0;
  return dispatch.pass || dispatch.custom || dispatch.output_elements > 0;
}

const WebGpuPass& pass_of(const Dispatch& dispatch) { return dynamic_cast<const WebGpuPass&>(*dispatch.pass); }

void add_words(Parameters& parameters, const Dispatch& dispatch) {
  if (dispatch.pass) parameters.add(pass_of(dispatch).words(dispatch));
  else if (dispatch.custom) parameters.add(words_of(*dispatch.custom));
  else if (dispatch.pixel_kernel) add_pixel_words(parameters, dispatch);
  else parameters.add(dispatch.words);
}

// A host may have destroyed its objects, or not set them up as it should.
bool uses_objects_of_host(const Dispatch& dispatch) {
  return dispatch.pass || dispatch.target || (dispatch.output && is_borrowed(*dispatch.output)) ||
         std::any_of(dispatch.custom_outputs.begin(), dispatch.custom_outputs.end(),
                     [](const Storage* output) { return output && is_borrowed(*output); }) ||
         std::any_of(dispatch.inputs.begin(), dispatch.inputs.end(),
                     [](const BoundInput& input) { return input.source || is_borrowed(*input.storage); });
}

}  // namespace

// A dispatch as it is recorded: a kernel, in a compute pass that kernels share, or a pass of its own.
struct WebGpuBackend::Step {
  std::size_t dispatch = 0;
  std::string_view label{};  // for debuggers
  WGPUComputePipeline pipeline = nullptr;
  const PixelPipeline* pixels = nullptr;  // of a pixel kernel
  Handle<WGPUBindGroup> group{};
  std::uint64_t parameter_bytes = 0;
  std::uint32_t parameter_offset = 0, groups_x = 0, groups_y = 0;
  PreparedPass pass{};
};

Limits WebGpuBackend::limits() const {
  const WGPULimits& limits = device_->limits();
  constexpr std::uint64_t enough_words = 4096;
  return {.max_inputs = std::min(narrow<int>(limits.maxStorageBuffersPerShaderStage) - 1, BindGroups::max_inputs),
          .max_words = narrow<int>(std::min(limits.maxUniformBufferBindingSize / 4, enough_words)),
          .workgroups = true,
          .octets = device_->octets() != Octets::none,
          .cores = device_->info().is_software ? cores_of_host() : 0,
          .custom_language = ShaderLanguage::wgsl,
          .pixels = pixel_limits(limits),
          .compiles_beside = !device_->info().is_software};
}

std::unique_ptr<Storage> WebGpuBackend::allocate(const StorageSpec& spec) {
  if (is_texture(spec)) return std::make_unique<TextureStorage>(device_, bind_groups_, spec.pixels);
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
  if (dispatch.custom) prepare_custom(tools(), *dispatch.custom, dispatch.uses);
  else if (dispatch.pixel_kernel) pixel_kernels_.get(*dispatch.pixel_kernel, dispatch.uses);
  else if (!dispatch.pass) kernels_.get(*dispatch.kernel, dispatch.uses);
}

bool WebGpuBackend::prepare_beside(const Dispatch& dispatch) {
  device_->throw_faults();
  if (!dispatch.custom && !dispatch.pixel_kernel && !dispatch.pass)
    return kernels_.get_beside(*dispatch.kernel, dispatch.uses);
  prepare(dispatch);
  return true;
}

std::unique_ptr<Download> WebGpuBackend::download(const Storage& storage, DType dtype, std::int64_t first,
                                                  std::int64_t count) {
  device_->throw_faults();
  const BoundBuffer& buffer = buffer_of(storage);
  if (count == 0 || !is_borrowed(storage) || (wgpuBufferGetUsage(buffer.handle) & WGPUBufferUsage_CopySrc))
    return start_download(staging_, buffer, byte_count(first, dtype), byte_count(count, dtype));
  // The host did not make its buffer for copies, but kernels can read it.
  const std::unique_ptr<Storage> copy = allocate({dtype, count});
  const std::unique_ptr<HostPass> pass =
      copying_pass(buffer.handle, {buffer.offset, byte_count(first, dtype), byte_count(count, dtype)});
  submit(std::vector<Dispatch>{{.pass = pass.get(), .output = copy.get()}}, std::nullopt);
  return start_download(staging_, buffer_of(*copy), 0, byte_count(count, dtype));
}

std::unique_ptr<Download> WebGpuBackend::download_at_once(const Storage& storage, DType dtype, std::int64_t first,
                                                          std::int64_t count) {
  if (is_borrowed(storage)) return download(storage, dtype, first, count);
  device_->throw_faults();
  return start_download_in_parts(staging_, buffer_of(storage), byte_count(first, dtype), byte_count(count, dtype));
}

void WebGpuBackend::run(std::span<const Dispatch> dispatches, std::optional<std::uint64_t> timed_as) {
  submit(dispatches, timed_as);
  kernels_.end_run();
  pixel_kernels_.end_run();
  host_views_.end_run();
  pipelines_.end_run();
}

void WebGpuBackend::trim() {
  kernels_.trim();
  pixel_kernels_.trim();
  host_views_.clear();
  pipelines_.trim();
  bind_groups_->forget_all();
  parameters_.trim();
  staging_->trim();
  // Dawn frees released objects when it notices that later submissions are done: empty ones are, right away.
  for (int i = 0; i < 3; ++i) {
    wgpuQueueSubmit(device_->queue(), 0, nullptr);
    device_->wait_for_work();
  }
}

void WebGpuBackend::submit(std::span<const Dispatch> dispatches, std::optional<std::uint64_t> timed_as) {
  device_->faults()->throw_first();  // of work before; a host's device is asked below, once for each submission
  std::optional<ErrorScope> refused;
  if (host_encoder_ || !device_->asks_later_about(dispatches)) refused.emplace(*device_, WGPUErrorFilter_Validation);
  const auto throw_refusal = [&] {
    const std::string error = refused ? refused->close() : std::string();
    device_->throw_faults();
    if (error.empty()) return;
    bind_groups_->forget_all();  // one of them may be of no use
    host_views_.clear();
    const bool is_hosts = std::any_of(dispatches.begin(), dispatches.end(), uses_objects_of_host);
    throw Error(is_hosts || host_encoder_ ? ErrorCode::invalid_argument : ErrorCode::unsupported,
                std::string("compute: Dawn refuses the work") +
                    (is_hosts ? ", which uses buffers or textures that the host lent: " : ": ") + error);
  };

  // All that can fail comes first, so that a run is submitted, or recorded, whole or not at all.
  const std::vector<Step> steps = steps_for(dispatches);
  if (steps.empty()) return;
  if (host_encoder_) {
    record_all(host_encoder_, steps, nullptr);
    return throw_refusal();
  }
  std::unique_ptr<TimedPasses> times;
  if (timed_as) times = std::make_unique<TimedPasses>(device_, *timed_as, steps.size());
  webgpu::submit(*device_, "tessera run", [&](WGPUCommandEncoder encoder) {
    record_all(encoder, steps, times.get());
    if (times) times->resolve(encoder);
  });
  throw_refusal();
  if (!times) return;
  times->read();
  timed_.add(std::move(times));
}

std::vector<WebGpuBackend::Step> WebGpuBackend::steps_for(std::span<const Dispatch> dispatches) {
  std::vector<Step> steps;
  steps.reserve(dispatches.size());
  parameters_.clear();
  for (std::size_t i = 0; i < dispatches.size(); ++i) {
    const Dispatch& dispatch = dispatches[i];
    if (!has_work(dispatch)) continue;
    Step& step = steps.emplace_back();
    step.dispatch = i;
    step.label = label_of(dispatch);
    if (dispatch.custom) prepare_custom(tools(), *dispatch.custom, dispatch.uses);
    else if (dispatch.pixel_kernel) step.pixels = &pixel_kernels_.get(*dispatch.pixel_kernel, dispatch.uses);
    else if (!dispatch.pass) step.pipeline = kernels_.get(*dispatch.kernel, dispatch.uses);
    step.parameter_offset = parameters_.begin_dispatch();
    add_words(parameters_, dispatch);
    step.parameter_bytes = parameters_.bytes_since(step.parameter_offset);
  }
  const BoundBuffer parameters = parameters_.upload(host_encoder_ ? Parameters::Use::recorded : Parameters::Use::now);

  std::optional<ErrorScope> refused;  // before anything is in the host's commands; submit() notices errors of its own
  if (host_encoder_) refused.emplace(*device_, WGPUErrorFilter_Validation);
  for (Step& step : steps) {
    const Dispatch& dispatch = dispatches[step.dispatch];
    BoundBuffer words = parameters;
    words.offset = step.parameter_offset;
    words.bytes = step.parameter_bytes;
    if (dispatch.custom) step.pass = custom_pass(tools(words), dispatch);
    else if (dispatch.pass) step.pass = pass_of(dispatch).prepare(tools(words), dispatch);
    else if (dispatch.pixel_kernel) add_pixels(step, dispatch, words);
    else add_kernel(step, dispatch, words);
  }
  if (refused)
    if (const std::string error = refused->close(); !error.empty()) throw_refusal_of_hosts_objects(error);
  return steps;
}

void WebGpuBackend::throw_refusal_of_hosts_objects(const std::string& error) {
  bind_groups_->forget_all();  // one of them is of no use
  host_views_.clear();
  throw Error(ErrorCode::invalid_argument, "compute: Dawn refuses a buffer or texture that the host lent: " + error);
}

void WebGpuBackend::add_kernel(Step& step, const Dispatch& dispatch, const BoundBuffer& words) {
  BindGroups::Key& key = bind_groups_->new_key();
  key.push_back(words.offset << 32 | words.bytes);
  key.push_back(words.id);
  const auto input_part = [&](std::size_t i) {
    return elements_of(dispatch.inputs[i], dispatch.kernel->inputs[i].dtype);
  };
  for (std::size_t i = 0; i < dispatch.inputs.size(); ++i) {
    const BoundBuffer& whole = buffer_of(*dispatch.inputs[i].storage);
    const std::uint64_t bytes = texel_bytes(dispatch.inputs[i].elements, dispatch.kernel->inputs[i].dtype);
    key.push_back(whole.id);
    if (bytes < whole.bytes) key.push_back(key_of_bytes(bytes));
  }
  key.push_back(buffer_of(*dispatch.output).id);
  step.group = bind_groups_->get(key, [&] {
    std::vector<BoundBuffer> buffers;
    for (std::size_t i = 0; i < dispatch.inputs.size(); ++i) buffers.push_back(input_part(i));
    buffers.push_back(buffer_of(*dispatch.output));
    return bind_groups_->make(words, buffers);
  });

  // A cooperative core says how many workgroups it takes.
  const std::int64_t texels = kernels_.workgroup_size() * texels_of_an_invocation(*dispatch.kernel);
  const std::int64_t workgroups = dispatch.kernel->core.is_cooperative
                                      ? dispatch.workgroups
                                      : steps_to(texel_count(dispatch.output_elements), texels);
  const auto [length, rows] = rows_of_workgroups(narrow<std::uint64_t>(workgroups), *device_);
  step.groups_x = length;
  step.groups_y = rows;
}

// Compute shaders join the kernels around them.
void WebGpuBackend::add_pixels(Step& step, const Dispatch& dispatch, const BoundBuffer& words) {
  PreparedPass pass = pixel_kernels_.pass(dispatch, *step.pixels, host_views_, words);
  if (pass.target) {
    step.pass = std::move(pass);
    return;
  }
  step.pipeline = step.pixels->compute.get();
  step.group = std::move(pass.group);
  step.groups_x = pass.groups_x;
  step.groups_y = pass.groups_y;
}

void WebGpuBackend::record_all(WGPUCommandEncoder encoder, std::span<const Step> steps, TimedPasses* times) {
  Handle<WGPUComputePassEncoder> kernels;  // one pass for kernels that follow each other and are not timed
  const auto end_kernels = [&] {
    if (kernels) wgpuComputePassEncoderEnd(kernels.get());
    kernels = {};
  };
  for (const Step& step : steps) {
    const WGPUPassTimestampWrites* timestamps =
        times && !step.pass.copy ? times->writes_for(step.dispatch) : nullptr;  // a copy is no pass
    if (!step.pipeline) {
      end_kernels();
      record(encoder, step.pass, step.label, timestamps);
      continue;
    }
    if (timestamps) end_kernels();
    if (!kernels) {
      WGPUComputePassDescriptor descriptor{};
      descriptor.label = view_of("tessera run");
      descriptor.timestampWrites = timestamps;
      kernels = Handle(wgpuCommandEncoderBeginComputePass(encoder, &descriptor));
    }
    wgpuComputePassEncoderPushDebugGroup(kernels.get(), view_of(step.label));
    wgpuComputePassEncoderSetPipeline(kernels.get(), step.pipeline);
    wgpuComputePassEncoderSetBindGroup(kernels.get(), 0, step.group.get(), 0, nullptr);
    wgpuComputePassEncoderDispatchWorkgroups(kernels.get(), step.groups_x, step.groups_y, 1);
    wgpuComputePassEncoderPopDebugGroup(kernels.get());
    if (timestamps) end_kernels();
  }
  end_kernels();
}

std::unique_ptr<ImportedImage> WebGpuBackend::import_image(const std::shared_ptr<SharedImage>& image) {
  return webgpu::import_image(device_, image);
}

std::unique_ptr<ImportedVulkanImage> WebGpuBackend::import_image(const VulkanHostImage& image) {
  return webgpu::import_image(device_, image);
}

std::string WebGpuBackend::why_no_images() {
  if (device_->is_borrowed()) return "its device is a host's, whose Vulkan device tessera does not know";
  return "Dawn has neither SharedTextureMemoryOpaqueFD nor SharedFenceVkSemaphoreOpaqueFD on its driver, or only one "
         "of "
         "them";
}

Backend::DmaBufs WebGpuBackend::dma_bufs() {
  std::string missing = missing_for_dma_bufs(*device_);
  if (!missing.empty()) return {.why_not = "Dawn lacks " + std::move(missing)};
  return {.has_sync_files = wgpuDeviceHasFeature(device_->get(), WGPUFeatureName_SharedFenceSyncFD) != 0};
}

// A buffer has the texels of any image, one after the other; a host's buffer may end within the last texel.
bool WebGpuBackend::is_laid_out_as(const Storage& storage, const ImageSpec&) const { return !is_borrowed(storage); }

void WebGpuBackend::wait() {
  device_->wait_for_work();
  device_->throw_faults();
}

}  // namespace tessera::webgpu

#include "backend_webgpu/device.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/kernel/device_errors.h"
#include "core/kernel/dispatch_label.h"
#include "core/platform/driver_start.h"

namespace tessera::webgpu {
namespace {

// Memory alone is not enough: without a fence that the other side can wait for, lavapipe loses the device.
constexpr std::array sharing_features{WGPUFeatureName_SharedTextureMemoryOpaqueFD,
                                      WGPUFeatureName_SharedFenceVkSemaphoreOpaqueFD};

bool can_share_images(WGPUAdapter adapter) {
  return std::ranges::all_of(sharing_features, [&](WGPUFeatureName f) { return wgpuAdapterHasFeature(adapter, f); });
}

std::vector<WGPUFeatureName> useful_features(WGPUAdapter adapter) {
  std::vector<WGPUFeatureName> features;
  for (const WGPUFeatureName feature : {
           WGPUFeatureName_TimestampQuery, WGPUFeatureName_ShaderF16, WGPUFeatureName_Subgroups,
           WGPUFeatureName_ImplicitDeviceSynchronization,  // a thread may wait for a download while another submits
       })
    if (wgpuAdapterHasFeature(adapter, feature)) features.push_back(feature);
  const bool can_share = can_share_images(adapter);
  if (can_share) features.insert(features.end(), sharing_features.begin(), sharing_features.end());
  // For frames of video, which need fences too. Dawn takes one kind of these.
  const bool has_sync_files = wgpuAdapterHasFeature(adapter, WGPUFeatureName_SharedFenceSyncFD);
  if (wgpuAdapterHasFeature(adapter, WGPUFeatureName_SharedTextureMemoryDmaBuf) && (can_share || has_sync_files)) {
    features.push_back(WGPUFeatureName_SharedTextureMemoryDmaBuf);
    if (!can_share) features.push_back(WGPUFeatureName_SharedFenceSyncFD);
  }
  return features;
}

Octets octets_of(WGPUDevice device) {
  if (!wgpuDeviceHasFeature(device, WGPUFeatureName_Subgroups)) return Octets::none;
  const Handle adapter(wgpuDeviceGetAdapter(device));
  WGPUAdapterInfo info{};
  wgpuAdapterGetInfo(adapter.get(), &info);
  const std::uint32_t least = info.subgroupMinSize, most = info.subgroupMaxSize;  // powers of two
  wgpuAdapterInfoFreeMembers(info);
  if (least < 8) return Octets::none;
  return most == 8 ? Octets::are_subgroups : Octets::in_subgroups;
}

}  // namespace

Device::Device(WGPUInstance instance, WGPUDevice device, const DeviceInfo& info, const ContextOptions& options,
               const MessageSink& messages)
    : instance_(shared(instance)),
      info_(info),
      messages_(messages),
      is_borrowed_(true),
      faults_(std::make_shared<Faults>(info_.name, messages)),
      asks_later_(asks_later(options.device_errors)),
      device_(shared(device)) {
  wgpuDeviceGetLimits(device, &limits_);
  octets_ = octets_of(device);
  loss_ = wgpuDeviceGetLostFuture(device);
  queue_ = Handle(wgpuDeviceGetQueue(device));
}

Device::Device(const DawnAdapter& adapter, const ContextOptions& options, const MessageSink& messages)
    : instance_(shared(adapter.instance.get())),
      info_(adapter.info),
      messages_(messages),
      is_borrowed_(false),
      faults_(std::make_shared<Faults>(info_.name, messages)),
      asks_later_(asks_later(options.device_errors)) {
  const std::vector<WGPUFeatureName> features = useful_features(adapter.handle.get());
  WGPUDeviceDescriptor descriptor{};
  descriptor.label = view_of("tessera");
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredFeatures = features.data();
  descriptor.requiredLimits = &adapter.limits;
  descriptor.defaultQueue.label = view_of("tessera queue");
  // Monitors need times as they are; Dawn would round them to a tenth of a millisecond, as browsers must.
  const char* const rounding = "timestamp_quantization";
  WGPUDawnTogglesDescriptor toggles{};
  toggles.chain.sType = WGPUSType_DawnTogglesDescriptor;
  toggles.disabledToggleCount = 1;
  toggles.disabledToggles = &rounding;
  descriptor.nextInChain = &toggles.chain;
  WGPUDawnCacheDeviceDescriptor cache{};
  if (!options.cache_dir.empty()) {
    blobs_ = std::make_unique<BlobCache>(options.cache_dir, info_, messages);
    cache = blobs_->descriptor();
    toggles.chain.next = &cache.chain;
  }
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.userdata1 = this;
  descriptor.deviceLostCallbackInfo.callback = [](const WGPUDevice*, WGPUDeviceLostReason reason,
                                                  WGPUStringView message, void* device, void*) {
    if (reason != WGPUDeviceLostReason_FailedCreation)
      static_cast<Device*>(device)->faults_->note_loss(string_of(message));
  };
  descriptor.uncapturedErrorCallbackInfo.userdata1 = this;
  descriptor.uncapturedErrorCallbackInfo.callback = [](const WGPUDevice*, WGPUErrorType type, WGPUStringView message,
                                                       void* device, void*) {
    const bool no_memory = type == WGPUErrorType_OutOfMemory;
    static_cast<Device*>(device)->faults_->note_error(no_memory ? ErrorCode::out_of_memory : ErrorCode::unsupported,
                                                      string_of(message));
  };

  struct Answer {
    Handle<WGPUDevice> device;
    std::string message;
  } answer;
  WGPURequestDeviceCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice device, WGPUStringView message, void* to, void*) {
    static_cast<Answer*>(to)->device = Handle(device);
    static_cast<Answer*>(to)->message = string_of(message);
  };
  const std::lock_guard starting(driver_start_lock());
  wait_for(wgpuAdapterRequestDevice(adapter.handle.get(), &descriptor, callback));
  if (!answer.device)
    throw Error(ErrorCode::unsupported, "WebGPU: " + adapter.info.name + " gives no device: " + answer.message);
  device_ = std::move(answer.device);
  if (can_share_images(adapter.handle.get())) sharing_ = adapter.driver;
  wgpuDeviceGetLimits(device_.get(), &limits_);
  octets_ = octets_of(device_.get());
  queue_ = Handle(wgpuDeviceGetQueue(device_.get()));
}

Device::~Device() {
  faults_->close();
  if (is_borrowed_) return;
  // Destroyed now, and not with the last reference: a host may hold a buffer for longer, and the callbacks point here.
  wgpuDeviceDestroy(device_.get());
}

bool Device::wait_for(WGPUFuture future, std::uint64_t nanoseconds) const {
  if (can_sleep_) {
    const Wait result = webgpu::wait_for(instance_.get(), future, nanoseconds);
    if (result != Wait::cannot_sleep) return result == Wait::done;
    can_sleep_ = false;
    messages_(Message::Level::info,
              "WebGPU: the host's instance has no timed waits, so tessera asks its device now and then instead of "
              "sleeping until it is done.");
  }
  return poll_for(instance_.get(), future, nanoseconds) == Wait::done;
}

void Device::wait_for_work() const {
  WGPUQueueWorkDoneCallbackInfo callback{};
  callback.mode = WGPUCallbackMode_WaitAnyOnly;
  callback.callback = [](WGPUQueueWorkDoneStatus, WGPUStringView, void*, void*) {};  // a fault is noted by the device
  wait_for(wgpuQueueOnSubmittedWorkDone(queue(), callback));
}

void Device::lose() {
  wgpuDeviceForceLoss(device_.get(), WGPUDeviceLostReason_Unknown, view_of("as a test asked for"));
  // The news comes with the next event, but a test goes on at once.
  faults_->note_loss("as a test asked for");
}

void Device::throw_faults() {
  if (is_borrowed_ && !is_lost() && is_done(instance_.get(), loss_)) faults_->note_loss("its host has been told why.");
  faults_->throw_first();
}

bool Device::asks_later_about(std::span<const Dispatch> work) {
  // The callback for errors that nobody asks about is the host's; a scope that nobody waits for tells tessera, too.
  if (!asks_later_ || work.empty() || (is_borrowed_ && !can_wait())) return false;
  const auto is_custom = [](const Dispatch& dispatch) { return dispatch.custom != nullptr; };
  const bool is_new = std::exchange(has_new_work_, false) || std::any_of(work.begin(), work.end(), is_custom);
  if (is_new && can_wait()) return false;
  faults_->note_work(label_of(work.back()));
  return true;
}

Handle<WGPUTexture> Device::make_texture(WGPUExtent3D size, WGPUTextureDimension dimension, WGPUTextureFormat format,
                                         WGPUTextureUsage usage, std::string_view label) {
  throw_faults();
  note_new_work();
  WGPUTextureDescriptor descriptor{};
  descriptor.label = view_of(label);
  descriptor.usage = usage;
  descriptor.dimension = dimension;
  descriptor.size = size;
  descriptor.format = format;
  descriptor.mipLevelCount = 1;
  descriptor.sampleCount = 1;
  ErrorScope validation(*this, WGPUErrorFilter_Validation);
  ErrorScope memory(*this, WGPUErrorFilter_OutOfMemory);
  Handle texture(wgpuDeviceCreateTexture(device_.get(), &descriptor));
  std::string error = memory.close();
  error += validation.close();
  throw_faults();
  if (!texture || !error.empty())
    throw Error(ErrorCode::out_of_memory, "WebGPU: " + info().name + " has no room for a texture of " +
                                              std::to_string(size.width) + "x" + std::to_string(size.height) +
                                              " texels: " + error);
  return texture;
}

Handle<WGPUBuffer> Device::make_buffer(std::uint64_t bytes, WGPUBufferUsage usage, std::string_view label) {
  throw_faults();
  note_new_work();
  WGPUBufferDescriptor descriptor{};
  descriptor.label = view_of(label);
  descriptor.usage = usage;
  descriptor.size = bytes;
  ErrorScope validation(*this, WGPUErrorFilter_Validation);
  ErrorScope memory(*this, WGPUErrorFilter_OutOfMemory);
  Handle buffer(wgpuDeviceCreateBuffer(device_.get(), &descriptor));
  std::string error = memory.close();
  error += validation.close();
  throw_faults();
  if (!buffer || !error.empty())
    throw Error(ErrorCode::out_of_memory, "WebGPU: " + info().name + " has no room for a buffer of " +
                                              std::to_string(bytes) + " bytes (its limit for one buffer is " +
                                              std::to_string(limits().maxBufferSize) + "): " + error);
  return buffer;
}

std::string missing_limits(const WGPULimits& limits) {
  std::string missing;
  const auto need = [&](const char* name, std::uint64_t has, std::uint64_t needs) {
    if (has >= needs) return;
    missing += (missing.empty() ? "" : ", ") + std::string(name) + " is " + std::to_string(has) + " and " +
               std::to_string(needs) + " is needed";
  };
  need("maxStorageBuffersPerShaderStage", limits.maxStorageBuffersPerShaderStage, 8);
  need("maxUniformBufferBindingSize", limits.maxUniformBufferBindingSize, 16384);
  need("maxComputeInvocationsPerWorkgroup", limits.maxComputeInvocationsPerWorkgroup, 64);
  need("maxComputeWorkgroupSizeX", limits.maxComputeWorkgroupSizeX, 64);
  need("maxComputeWorkgroupStorageSize", limits.maxComputeWorkgroupStorageSize, 16384);
  need("maxComputeWorkgroupsPerDimension", limits.maxComputeWorkgroupsPerDimension, 65535);
  return missing;
}

}  // namespace tessera::webgpu

// A Dawn device, tessera's own or a host's, with its queue, limits and faults.
//
// A device of tessera's own tells of faults through its callbacks. Those of a host's device are the host's, so there
// every call that can fail is made within an ErrorScope, and throw_faults() asks for a loss.
//
// Every owner of an object of the device shares this, so that it goes last. Faults may be noted from any thread.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backend_webgpu/adapter.h"
#include "backend_webgpu/blob_cache.h"
#include "backend_webgpu/faults.h"
#include "backend_webgpu/wait.h"
#include "core/kernel/backend.h"
#include "core/platform/driver_start.h"

namespace tessera::webgpu {

// Whether subgroups of invocations consist of octets, or are one each.
enum class Octets { none, in_subgroups, are_subgroups };

class Device {
 public:
  Device(const DawnAdapter&, const ContextOptions&, const MessageSink&);                           // a new one
  Device(WGPUInstance, WGPUDevice, const DeviceInfo&, const ContextOptions&, const MessageSink&);  // a host's
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  WGPUDevice get() const { return device_.get(); }
  WGPUQueue queue() const { return queue_.get(); }
  WGPUInstance instance() const { return instance_.get(); }
  const DeviceInfo& info() const { return info_; }
  // SwiftShader: an infinity that a shader writes to a texture of halves comes out as NaN; 2^16 comes out as infinity.
  bool stores_half_infinity_as_nan() const { return contains_ignoring_case(info_.name, "swiftshader"); }
  const MessageSink& messages() const { return messages_; }
  const WGPULimits& limits() const { return limits_; }
  Octets octets() const { return octets_; }
  bool is_borrowed() const { return is_borrowed_; }
  const VulkanDriver* shares_images_of() const { return sharing_ ? &*sharing_ : nullptr; }

  BlobLookups blob_lookups() const { return blobs_ ? blobs_->lookups() : BlobLookups{}; }

  // Waits until the future's callback has run; false where `nanoseconds` have passed before.
  bool wait_for(WGPUFuture future, std::uint64_t nanoseconds = forever) const;

  void wait_for_work() const;  // that was submitted; a fault is noted

  bool is_lost() { return faults_->is_lost(); }
  void lose();  // for tests

  // Throws device_lost from a loss on, and any other fault that no call has thrown yet once.
  void throw_faults();
  const std::shared_ptr<Faults>& faults() const { return faults_; }

  // Whether this work is not asked about now, see DeviceErrors: the like was done before.
  bool asks_later_about(std::span<const Dispatch>);
  void note_new_work() { has_new_work_ = true; }  // new kernels or storages: the next work is asked about

  // Throws out_of_memory with both numbers, or device_lost.
  Handle<WGPUBuffer> make_buffer(std::uint64_t bytes, WGPUBufferUsage, std::string_view label);
  // Of one level. Throws out_of_memory, as above.
  Handle<WGPUTexture> make_texture(WGPUExtent3D size, WGPUTextureDimension, WGPUTextureFormat, WGPUTextureUsage,
                                   std::string_view label);

 private:
  const Handle<WGPUInstance> instance_;
  const DeviceInfo info_;
  const MessageSink messages_;
  const bool is_borrowed_;  // the host's
  mutable std::atomic<bool> can_sleep_{true};
  WGPULimits limits_{};
  Octets octets_ = Octets::none;
  std::optional<VulkanDriver> sharing_;  // the driver, where the device can share images
  const std::shared_ptr<Faults> faults_;
  const bool asks_later_;
  bool has_new_work_ = true;
  WGPUFuture loss_{};                 // of a host's device
  std::unique_ptr<BlobCache> blobs_;  // null where there is none
  Handle<WGPUDevice> device_;
  Handle<WGPUQueue> queue_;
};

// Submits the commands that `record` gives to an encoder.
template <class Record>
void submit(const Device& device, std::string_view label, const Record& record) {
  WGPUCommandEncoderDescriptor descriptor{};
  descriptor.label = view_of(label);
  const Handle encoder(wgpuDeviceCreateCommandEncoder(device.get(), &descriptor));
  record(encoder.get());
  const Handle commands(wgpuCommandEncoderFinish(encoder.get(), nullptr));
  const WGPUCommandBuffer submitted = commands.get();
  wgpuQueueSubmit(device.queue(), 1, &submitted);
}

// The limits of a device that are too low for tessera, each with both numbers; empty where none is.
std::string missing_limits(const WGPULimits&);

// Catches the errors of one kind that calls on this thread cause while the scope lives.
class ErrorScope {
 public:
  ErrorScope(const Device&, WGPUErrorFilter);
  ~ErrorScope();
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;

  // The driver's message, empty where there was no error; scopes close in reverse order. Where nothing can wait, the
  // device's faults get the error later.
  std::string close();

 private:
  const Device& device_;
  bool is_open_ = true;
};

}  // namespace tessera::webgpu

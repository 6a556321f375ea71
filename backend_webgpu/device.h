// A Dawn device with its queue, and what went wrong on it.
//
// Everything that holds an object of the device shares this, so it goes last. Faults may be noted from any thread.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "backend_webgpu/adapter.h"
#include "backend_webgpu/wait.h"
#include "core/backend.h"

namespace tessera::webgpu {

class Device {
 public:
  Device(const Adapter&, const MessageSink&);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  WGPUDevice get() const { return device_.get(); }
  WGPUQueue queue() const { return queue_.get(); }
  const DeviceInfo& info() const { return adapter_.info; }
  const WGPULimits& limits() const { return adapter_.limits; }  // a device has all that its adapter offers

  bool wait_for(WGPUFuture future, std::uint64_t nanoseconds = forever) const {
    return webgpu::wait_for(adapter_.instance.get(), future, nanoseconds);
  }

  bool is_lost();
  void lose();  // for tests

  // Throws device_lost from a loss on, and any other fault that no call has thrown yet once.
  void throw_faults();

  // Throws out_of_memory with both numbers, or device_lost.
  Handle<WGPUBuffer> make_buffer(std::uint64_t bytes, WGPUBufferUsage, std::string_view label);

 private:
  void note_loss(const std::string& why);
  void note_error(ErrorCode, const std::string& what);

  const Adapter& adapter_;
  const MessageSink messages_;
  std::mutex faults_lock_;
  bool is_closing_ = false;
  bool is_lost_ = false;
  ErrorCode fault_code_{};
  std::string fault_;  // the loss, or else the first error that was not thrown yet; empty where all is well
  Handle<WGPUDevice> device_;
  Handle<WGPUQueue> queue_;
};

// Catches the errors of one kind that calls on this thread cause while it lives.
class ErrorScope {
 public:
  ErrorScope(const Device&, WGPUErrorFilter);
  ~ErrorScope();
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;

  std::string close();  // the driver's message, empty where there was no error; scopes close in reverse order

 private:
  const Device& device_;
  bool is_open_ = true;
};

}  // namespace tessera::webgpu

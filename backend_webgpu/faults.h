// The faults of a device that no call has thrown yet. Dawn and browsers tell them at any time, on any thread.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/messages.h"
#include <tessera/error.h>

namespace tessera::webgpu {

class Faults {
 public:
  Faults(std::string device, MessageSink messages) : device_(std::move(device)), messages_(std::move(messages)) {}

  void note_loss(const std::string& why);
  void note_error(ErrorCode, const std::string& what);
  void note_work(std::string_view work);  // that is not asked about: errors from now on name it
  void close();                           // the device goes, and nobody wants to know of its faults

  bool is_lost() const { return is_lost_; }
  void throw_first();  // device_lost from a loss on, and any other fault once

 private:
  const std::string device_;
  const MessageSink messages_;
  std::mutex lock_;
  bool is_closed_ = false;
  std::atomic<bool> is_lost_ = false, has_fault_ = false;  // which others may ask without the lock
  ErrorCode code_{};
  std::string fault_;      // the loss, or else the first error that was not thrown yet; empty where all is well
  std::string last_work_;  // empty where all work is asked about
};

}  // namespace tessera::webgpu

#include "backend_webgpu/faults.h"

namespace tessera::webgpu {

void Faults::note_loss(const std::string& why) {
  const std::string text = "WebGPU: the device " + device_ + " was lost: " + why;
  {
    const std::lock_guard hold(lock_);
    if (is_closed_ || is_lost_) return;
    is_lost_ = true;
    code_ = ErrorCode::device_lost;
    fault_ = text;
    has_fault_ = true;
  }
  messages_(Message::Level::error, text);
}

void Faults::note_error(ErrorCode code, const std::string& what) {
  std::string text = "WebGPU: an error on the device " + device_;
  {
    const std::lock_guard hold(lock_);
    if (is_closed_) return;
    if (!last_work_.empty()) text += ", by the kernel " + last_work_ + " or work before it";
    text += ": " + what;
    if (fault_.empty()) {
      code_ = code;
      fault_ = text;
      has_fault_ = true;
    }
  }
  messages_(Message::Level::error, text);
}

void Faults::note_work(std::string_view work) {
  const std::lock_guard hold(lock_);
  last_work_ = work;
}

void Faults::close() {
  const std::lock_guard hold(lock_);
  is_closed_ = true;
}

void Faults::throw_first() {
  if (!has_fault_) return;
  const std::lock_guard hold(lock_);
  if (fault_.empty()) return;
  const Error fault(code_, fault_);
  if (!is_lost_) {
    fault_.clear();
    has_fault_ = false;
  }
  throw fault;
}

}  // namespace tessera::webgpu

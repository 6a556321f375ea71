#include "backend_gles/wait.h"

namespace tessera::gles {

Fence::Fence(std::shared_ptr<const Device> device)
    : device_(device), sync_(device, device->gl().FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)) {
  device_->gl().Flush();
}

bool Fence::is_reached() const {
  if (!sync_) return true;
  const Entered entered(*device_);
  return device_->gl().ClientWaitSync(sync_.get(), 0, 0) != GL_TIMEOUT_EXPIRED;
}

void Fence::wait() const {
  if (!sync_) return;
  const Entered entered(*device_);
  constexpr GLuint64 one_second = 1'000'000'000;
  while (device_->gl().ClientWaitSync(sync_.get(), 0, one_second) == GL_TIMEOUT_EXPIRED) continue;
}

}  // namespace tessera::gles

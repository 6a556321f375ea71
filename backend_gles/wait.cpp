#include "backend_gles/wait.h"

namespace tessera::gles {

Fence::Fence(std::shared_ptr<const Device> device)
    : device_(device), sync_(device, device->gl().FenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0)) {
  device_->gl().Flush();
}

bool Fence::is_reached_within(GLuint64 nanoseconds) const {
  const CurrentContext current(device_->context());
  return !sync_ || !current.is_current() ||
         device_->gl().ClientWaitSync(sync_.get(), 0, nanoseconds) != GL_TIMEOUT_EXPIRED;
}

void Fence::wait() const {
  constexpr GLuint64 one_second = 1'000'000'000;
  while (!is_reached_within(one_second)) continue;
}

}  // namespace tessera::gles

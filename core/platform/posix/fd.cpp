#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "core/platform/shared_image.h"
#include <tessera/error.h>

namespace tessera {

Fd::~Fd() {
  if (fd_ >= 0) close(fd_);
}

Fd Fd::copy_of(int fd) {
  Fd copy(dup(fd));
  if (!copy) throw Error(ErrorCode::io, "This program has no room for another file descriptor.");
  return copy;
}

void wait_for_writers(int dma_buf) {
  pollfd readable{.fd = dma_buf, .events = POLLIN, .revents = 0};
  while (poll(&readable, 1, -1) < 0)
    if (errno != EINTR && errno != EAGAIN)
      throw Error(ErrorCode::io,
                  "Nobody can wait for the dma-buf with the file descriptor " + std::to_string(dma_buf) + ".");
}

}  // namespace tessera

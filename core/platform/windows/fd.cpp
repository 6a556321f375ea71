#include <io.h>

#include "core/platform/shared_image.h"
#include <tessera/error.h>

namespace tessera {

// Vulkan drivers of Windows share memory by handles, not by descriptors, and so make_shared_image() refuses them all.
Fd::~Fd() {
  if (fd_ >= 0) _close(fd_);
}

Fd Fd::copy_of(int fd) {
  Fd copy(_dup(fd));
  if (!copy) throw Error(ErrorCode::io, "This program has no room for another file descriptor.");
  return copy;
}

void wait_for_writers(int) {}  // there are no dma-bufs

}  // namespace tessera

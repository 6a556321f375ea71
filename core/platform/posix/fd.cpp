#include <unistd.h>

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

}  // namespace tessera

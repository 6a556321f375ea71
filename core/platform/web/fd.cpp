#include "core/platform/shared_image.h"
#include <tessera/error.h>

namespace tessera {

Fd::~Fd() = default;

Fd Fd::copy_of(int) { throw Error(ErrorCode::unsupported, "A page has no file descriptors that devices share."); }

}  // namespace tessera

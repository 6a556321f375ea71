// The OpenGL ES 3 backend, as core sees it.
#pragma once
#include "core/backend.h"

namespace tessera::gles {

BackendFactory factory();

}  // namespace tessera::gles

// The OpenGL ES 3 backend, on EGL, as core sees it: free of GPU types.
#pragma once
#include "core/backend.h"

namespace tessera::gles {

BackendFactory factory();

}  // namespace tessera::gles

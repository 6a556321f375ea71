// Kernels on the host, as core sees them: the oracle of the tests, and the last resort where no GPU driver works.
#pragma once
#include "core/backend.h"

namespace tessera::cpu {

BackendFactory factory();

}  // namespace tessera::cpu

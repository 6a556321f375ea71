// Runs one kernel on the host: its operands, its core, its result.
#pragma once
#include "core/kernel/backend.h"

namespace tessera::cpu {

void run_kernel(const Dispatch&);

}  // namespace tessera::cpu

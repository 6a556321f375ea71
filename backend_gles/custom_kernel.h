// Kernels of the user's own: a fragment pass for each output, around the user's functions over accessors.
#pragma once
#include "backend_gles/host_pass.h"
#include "core/kernel/custom_call.h"

namespace tessera::gles {

// Compiles the kernel for the types of the call. Throws compile_failed with the driver's words.
void prepare_custom(const PassTools&, const CustomCall&, KernelUses*);

void run_custom(const PassTools&, const Dispatch&);

}  // namespace tessera::gles

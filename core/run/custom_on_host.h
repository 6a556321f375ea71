// Kernels of the user's own that run as functions on the host, where they have no source for a device.
#pragma once
#include <string_view>

#include "core/kernel/custom_call.h"

namespace tessera {

struct ContextState;
struct Dispatch;

// Throws unsupported where the kernel has neither source for the device nor a function, or a function that would have
// to run amid a host's commands.
void require_runnable(std::string_view op, const ContextState&, const CustomKernel&);
bool runs_on_host(const ContextState&, const Dispatch&);
void run_on_host(ContextState&, const Dispatch&);  // after all that was submitted before

}  // namespace tessera

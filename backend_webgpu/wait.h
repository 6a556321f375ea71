// The one place where this backend blocks.
#pragma once
#include <webgpu/webgpu.h>

#include <cstdint>

namespace tessera::webgpu {

inline constexpr std::uint64_t forever = UINT64_MAX;

// Sleeps until the future's callback has run, for `nanoseconds` at the most; false where it has not run by then.
// The callback runs on this thread, inside this call: futures come from callbacks of mode WaitAnyOnly.
bool wait_for(WGPUInstance, WGPUFuture, std::uint64_t nanoseconds = forever);

}  // namespace tessera::webgpu

// The one place where this backend blocks.
#pragma once
#include <webgpu/webgpu.h>

#include <cstdint>

namespace tessera::webgpu {

inline constexpr std::uint64_t forever = UINT64_MAX;

bool can_wait();  // false in a page whose program cannot be suspended; wait_for() throws unsupported there

// The mode of a callback that Dawn calls at once, within the call that asks, where it knows the answer by then. Its
// future can be waited for otherwise, too.
WGPUCallbackMode mode_of_present_answers();

// Whether the future's callback has run, or runs now. Never waits.
bool is_done(WGPUInstance, WGPUFuture);

// Sleeps until the future's callback has run, for `nanoseconds` at the most, if the instance can do so.
// The callback runs on this thread, inside this call: futures come from callbacks of mode WaitAnyOnly.
enum class Wait { done, timed_out, cannot_sleep };
Wait wait_for(WGPUInstance, WGPUFuture, std::uint64_t nanoseconds = forever);

// The same for the instance of a host that was made without timed waits: asks now and then.
Wait poll_for(WGPUInstance, WGPUFuture, std::uint64_t nanoseconds);

}  // namespace tessera::webgpu

// Calls that come from the page itself.
#pragma once

namespace tessera {

// Whether a Poller calls, between the page's events. Nothing waits for what is called there, and so it cannot be
// suspended.
bool is_between_events() noexcept;

}  // namespace tessera

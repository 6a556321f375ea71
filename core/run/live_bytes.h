// What the results of a plan's steps take, in elements: devices add what their storages have beyond these.
#pragma once
#include <cstdint>

#include "core/run/fuse.h"

namespace tessera {

std::uint64_t bytes_of(const Plan&, const Graph&, int storage);  // an item's, or a storage of the plan's own

// The most that is alive at a time, of what the steps make of other than tensors that programs captured.
std::uint64_t live_bytes(const Plan&, const Graph&);

}  // namespace tessera

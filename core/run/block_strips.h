// Sums of products and convolutions in blocks, some at a time: they lie in layers of a texture, which nothing but other
// sums can have in turn.
#pragma once
#include <span>

#include "core/run/block_layouts.h"

namespace tessera {

// The largest sums of a plan are made in two strips, one after the other in half the memory, where that saves a
// sixty-fourth of all that is alive at a time for each step that it takes, and not too little. `layouts`: in which
// results may be stored.
void sum_in_strips(Plan&, const Graph&, const Limits&, std::span<const BlockLayout> layouts);

}  // namespace tessera

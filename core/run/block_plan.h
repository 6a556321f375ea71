// Products and convolutions on devices without workgroups: a step whose kernel would make one texel at a time becomes
// steps that lay the operands out, make the sums in blocks (core/run/block_texts.h), and bring these into their order,
// with the pointwise work that follows. That pays where the sums read much more than those steps do.
#pragma once
#include "core/run/fuse.h"

namespace tessera {

// Storages come after those of the graph's items and the plan's own.
void plan_blocks(Plan&, const Graph&, const Limits&);

}  // namespace tessera

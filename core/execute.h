// Runs what is wanted: one plan, one submission.
#pragma once
#include <span>

#include "core/context_impl.h"

namespace tessera {

// Afterwards every wanted node is computed. The caller holds the context's lock and keeps the nodes alive. If this
// throws, nothing that was computed is lost and nothing half computed is kept.
void compute(ContextImpl&, std::span<const NodePtr> wanted);

}  // namespace tessera

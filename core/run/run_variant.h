// The way in which a program runs: from tensors or hosts' textures, into tensors or hosts' targets.
#pragma once
#include <span>
#include <vector>

#include "core/run/program.h"

namespace tessera {

struct ContextState;

// The program of a run, whose inputs may be in texels.
ProgramImpl& program_of(const ContextState&, const Node& ran);

// `ran` is a result that is needed, among the results of programs that `wanted` may name. Its program, as program_of()
// gives it, was planned for the device.
RunVariant run_variant(ContextState&, ProgramImpl&, const Node& ran, std::span<const Wanted> wanted);

// Of the results: the number of operations that rebuild them, see Value.
int lineage_of_run(const Node& ran);

}  // namespace tessera

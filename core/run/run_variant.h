// The way in which a program runs: from tensors or hosts' textures, into tensors or hosts' targets.
#pragma once
#include <span>
#include <vector>

#include "core/run/program.h"

namespace tessera {

struct ContextState;

struct RunVariant {
  struct Shown {
    const Node* node;   // a result
    std::size_t entry;  // of Graph::shown, and of the variant's outputs
    const HostTarget* target;
  };
  ProgramImpl* program = nullptr;  // the one of the run, or the same for inputs in texels
  ProgramVariant* of_program = nullptr;
  std::vector<NodePtr> inputs;             // of the program: those of the run, or these in texels
  std::vector<const HostSource*> sources;  // of the program's inputs: null where they are tensors
  std::vector<Shown> shown;

  // The variant's graph, with this run's textures and targets.
  const Graph& graph_with_hosts() const;
};

// The program of a run, whose inputs may be in texels.
ProgramImpl& program_of(const ContextState&, const Node& ran);

// `ran` is a result that is needed, among the results of programs that `wanted` may name. Its program was planned for
// the device.
RunVariant run_variant(ContextState&, const Node& ran, std::span<const Wanted> wanted);

// Of the results: the number of operations that rebuild them, see Value.
int lineage_of_run(const Node& ran);

}  // namespace tessera

// The parts of Batch share these: core/run/batch.cpp gathers and submits work, batch_programs.cpp adds runs of
// programs, and batch_results.cpp gives nodes their storages.
#pragma once
#include "core/run/batch.h"
#include "core/run/context_state.h"

namespace tessera {

constexpr std::size_t item_index(int item) { return static_cast<std::size_t>(item); }

// The storages of the graph's items that have elements, with room for those of the plan's own.
inline Batch::Buffers stored_in(const Graph& graph, const Plan& plan, Batch::Buffers buffers = {}) {
  buffers.reserve(graph.items.size() + plan.own_storages.size());
  buffers.resize(graph.items.size());
  for (std::size_t i = 0; i < graph.items.size(); ++i)
    if (graph.items[i].is_stored) buffers[i] = graph.items[i].node->value.buffer;
  return buffers;
}

// A host's texture or buffer belongs to one device: neither its successor nor another backend can read it.
void check_device(const ContextState&, const Node&);

}  // namespace tessera

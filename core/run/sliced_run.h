// The object behind a SlicedRun handle.
#pragma once
#include <optional>
#include <vector>

#include "core/run/batch.h"
#include <tessera/program.h>

namespace tessera {

struct SlicedRunImpl {
  SlicedRunImpl(Program of, std::vector<Tensor> on) : program(std::move(of)), inputs(std::move(on)) {}

  void begin(ContextState&);
  void advance(ContextState&, double budget);  // in milliseconds

  const Program program;
  const std::vector<Tensor> inputs;

  // The context's lock guards these:
  struct State {
    std::uint64_t epoch;     // of the context: the device that the storages are on
    std::size_t next;        // step
    Batch::Buffers buffers;  // of the items of the program's graph: inputs, and what later steps or the results need
  };
  std::optional<State> state;  // nothing where the run has to start over, and at the end
  std::vector<Tensor> results;
  bool is_done = false;

 private:
  Batch::Buffers first_buffers(ContextState&) const;
  void make_forgotten(ContextState&, State&) const;
};

}  // namespace tessera

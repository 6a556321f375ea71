// The object behind a Program handle, and one call of it.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/run/captured_pixels.h"
#include "core/run/fuse.h"
#include "core/run/step_costs.h"

namespace tessera {

struct ProgramImpl;

// A program's work for some of its outputs, from tensors or from hosts' textures, into tensors or hosts' targets.
struct ProgramVariant {
  Graph graph;
  std::shared_ptr<const Plan> plan;
  std::vector<std::size_t> outputs;  // of the program, as the graph wants them
  std::vector<bool> reads_elements;  // of the program's inputs, textures included
  std::shared_ptr<CapturedPixels> captured;
  std::vector<std::vector<std::uint32_t>> words;  // of the steps, with the program's numbers
};

// All that the plan of a run depends on, as numbers.
using RunKey = std::vector<std::uint64_t>;

// A run of a program, to be added to a batch: see core/run/run_variant.h.
struct RunVariant {
  struct Shown {
    const Node* node;   // a result
    std::size_t entry;  // of Graph::shown, and of the variant's outputs
    const HostTarget* target;
  };
  struct Output {
    std::size_t index;            // of the program
    bool is_for_kernels = false;  // see Wanted
  };
  ProgramImpl* program = nullptr;  // the one of the run, or the same for inputs in texels
  ProgramVariant* of_program = nullptr;
  std::vector<NodePtr> inputs{};             // of the program: those of the run, or these in texels
  std::vector<const HostSource*> sources{};  // of the program's inputs: null where they are tensors
  std::vector<Shown> shown{};
  std::vector<Output> outputs{};  // that the run makes; those that are shown come first

  // The variant's graph, with this run's textures and targets.
  const Graph& graph_with_hosts() const;
  void clear();  // but for the memory of the lists
};

struct ProgramImpl {
  std::shared_ptr<ContextImpl> context;
  std::vector<NodePtr> inputs;  // placeholders, which never change
  std::vector<Held> outputs;    // made of them, without runs of other programs; they keep the graph alive
  RecordOptions options;

  // Made for the device that the context had then:
  Graph graph;
  std::vector<int> input_items;  // of the placeholders; -1: nothing reads it
  std::shared_ptr<const Plan> plan;
  std::map<RunKey, ProgramVariant> variants;
  // Of the last run, for the next one to use their memory again.
  RunKey spare_key;
  RunVariant spare_run;
  std::vector<std::shared_ptr<Buffer>> spare_buffers;  // all null
  KernelUses kernels;                                  // that have run, or were prepared
  std::shared_ptr<StepCosts> costs;
  std::uint64_t epoch = 0;

  // The same work, for runs with some inputs in texels: see Value::in_texels. These inputs have four channels there.
  std::map<std::vector<bool>, std::shared_ptr<ProgramImpl>> with_texels;

  std::vector<double> costs_for_tests;  // of the steps, in milliseconds; none: they are measured
};

struct ProgramAccess {
  static ProgramImpl& impl(const Program& program) { return *program.impl_; }
};

// Called between batches: computes the nodes that depend on no input, and plans the rest.
void plan_for_device(ContextState&, ProgramImpl&);

// See ProgramImpl::with_texels; planned for the device or not.
ProgramImpl& with_inputs_in_texels(const ContextState&, ProgramImpl&, const std::vector<bool>& in_texels);

// Its results are nodes with the operation ProgramResult and the inputs of the run.
struct ProgramRun {
  std::shared_ptr<ProgramImpl> program;
  std::vector<std::weak_ptr<Node>> results;
};

}  // namespace tessera

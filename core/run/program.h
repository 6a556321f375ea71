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

// A program's work for some of its outputs, from tensors or from hosts' textures, into tensors or hosts' targets.
struct ProgramVariant {
  Graph graph;
  std::shared_ptr<const Plan> plan;
  std::vector<std::size_t> outputs;  // of the program, as the graph wants them
  std::vector<bool> reads_elements;  // of the program's inputs, textures included
  std::shared_ptr<CapturedPixels> captured;
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
  std::map<std::string, ProgramVariant> variants;  // see run_variant.h
  // Of the last run, for the next one to use their memory again.
  std::string variant_key;
  std::vector<std::shared_ptr<Buffer>> spare_buffers;
  KernelUses kernels;  // that have run, or were prepared
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

// A batch gathers work, then submits it at once.
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/run/captured_pixels.h"
#include "core/run/dispatch_list.h"
#include "core/run/fuse.h"

namespace tessera {

struct ContextState;
struct ProgramImpl;
struct RunVariant;
class PlanStorages;
class PlanUse;
class StepCosts;

// Kernels that are compiled, and not run.
struct KernelsToCompile {
  std::deque<Kernel> kernels;  // which stay where they are
  std::deque<PixelKernel> pixel_kernels;
  std::vector<Dispatch> dispatches;  // of these, without storages
};

// The caller keeps the nodes alive. If anything throws, nothing that was computed is lost and nothing half computed is
// kept.
class Batch {
 public:
  using Buffers = std::vector<std::shared_ptr<Buffer>>;

  explicit Batch(ContextState&);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Adds the work that the wanted nodes need, runs of programs included; once the batch has run, they are computed.
  void add(std::span<const Wanted>);

  // A program's run in slices takes several batches. The first one computes the inputs: add_inputs gives the storages
  // of those items of the program's graph that have elements before the first step.
  Buffers add_inputs(ProgramImpl&, std::span<const NodePtr> inputs);
  // Each of the others adds a slice, in order. The batch measures what the steps cost.
  struct Slice {
    std::size_t first, count;
    std::shared_ptr<StepCosts> costs;  // null: nothing is measured
  };
  void add_slice(ProgramImpl&, Slice, Buffers&);
  // After the last step: gives the outputs to the results of a call of the program, of which `result` is one.
  void give_results(const Node& result, const Buffers&);

  // Adds a pass over a node that was added before.
  void add(const HostPass&, Node& input);
  // What was added goes to a host's storage, which is no place for the values of nodes.
  void forget(const Buffer&);

  void run();
  KernelsToCompile take_kernels();                       // instead: nothing is computed
  bool has_submitted() const { return has_submitted_; }  // some of the work, or tried to

 private:
  // The storages of the wanted nodes or, where programs have to run first, one result of each, and nothing was added.
  struct Added {
    std::vector<NodePtr> to_run;
    Buffers wanted;
  };
  Buffers add_with_programs(std::span<const Wanted>);
  struct Level;  // of runs whose results others need
  Level level_of(const NodePtr& ran, std::span<const Wanted>);
  Added add_graph(std::span<const Wanted>);
  void add_planned(std::span<const Wanted>, const Graph&, std::shared_ptr<const Plan>, const Limits&, Added&);
  bool add_present(std::span<const Wanted>, Buffers&);
  Buffers add_items(const Graph&, std::shared_ptr<const Plan>&, Limits);  // the plan may become another
  template <class Work>
  void with_room(const Work&);
  class SharingStorages;  // among the steps of a plan, while they are added
  // Adds steps of a plan. The buffers have an entry for each item: the storages of those that have one. The steps'
  // outputs are added; those that only later steps read go back on the way. Steps whose storages are there already have
  // run before. Where the device has no room for a step,
  // the batch submits what it has gathered first, so that storages which the step does not need can leave.
  void add(std::shared_ptr<const Plan>, std::span<const Step>, const Graph&, Buffers&, const CapturedPixels* = nullptr);
  void add(const Plan&, const Step&, const Graph&, Buffers&);
  void acquire_pixels(Dispatch&, const Step&, const Graph&);
  void acquire_output(Dispatch&, const Step&, const Graph&, const Buffers&);
  void acquire_custom(Dispatch&, const Step&, const Graph&);
  const StorageSpec* shared_by(int item) const;
  std::shared_ptr<Buffer> acquire_for(const Graph&, int item, const StorageSpec&, Dispatch&);
  void use(Buffer&);
  std::vector<Wanted> forgotten_by(ProgramImpl&);
  void plan_for_device(ProgramImpl&);
  void add_run(const Node& ran, RunVariant&&, std::span<const std::shared_ptr<Buffer>> inputs, std::span<const Wanted>);
  void lay_out_captured(CapturedPixels&, const Plan&, const Graph&, Buffers&);
  void give_storage(const Graph&, const Graph::Place&, const Wanted&);
  void give_results(const Node& ran, const Graph&, const Plan&, std::span<const std::size_t> outputs, const Buffers&);
  void run_on_host(const Dispatch&);
  bool is_whole_run_timed(std::span<const Dispatch>) const;
  void note_costs(std::size_t steps, std::optional<std::uint64_t> timed_as, double host_time);
  void give(Node&, Value);
  void give_item(Node&, const Plan&, int item, Value);  // of which the node is all or a part
  void submit();
  void submit(std::span<const Dispatch>);
  void submit_gathered();  // and goes on: what it used may leave the device from now on

  ContextState& context_;
  std::vector<std::shared_ptr<const Plan>> plans_;  // the dispatches refer to their kernels
  DispatchList dispatches_;
  Buffers outputs_;                       // of the step that is being added
  KernelUses* kernel_uses_ = nullptr;     // of the program whose run is being added
  const PlanStorages* shared_ = nullptr;  // that the plan under way has, where there is room for them
  // Of the steps of that plan, where a program knows them before; else they are written for each run.
  std::span<const std::vector<std::uint32_t>> known_words_{};
  std::size_t firm_dispatches_ = 0;      // the first ones, which stay if the addition under way does not fit
  std::size_t inputs_without_room_ = 0;  // of the step for which there was no room
  struct Result {
    NodePtr node;
    Held in_texels;  // that the node had before: see Value

    void take_back() const { node->value = {.in_texels = in_texels}; }
  };
  std::vector<Result> results_;   // with storages, which they lose if the batch does not run
  std::vector<NodePtr> sources_;  // that only lineage refers to
  std::uint64_t ops_fused_ = 0;
  bool has_submitted_ = false;
  struct CapturedToKeep {
    std::shared_ptr<CapturedPixels> by;
    std::vector<CapturedPixels::Made> images;
  };
  std::vector<CapturedToKeep> captured_;  // once the batch has run
  // Storages that items of the graph under way get instead of the pool's.
  struct Given {
    int item;
    std::shared_ptr<Buffer> buffer;
  };
  std::vector<Given> given_;
  Slice slice_{};  // that the dispatches are part of; `first` is the next step to be submitted
  // Of which this run is timed, where it is one submission.
  struct {
    std::shared_ptr<PlanUse> use;
    std::size_t first_dispatch = 0;
    std::vector<std::size_t> steps{};  // of its dispatches
  } timed_plan_;
};

// Runs a batch of these.
void compute(ContextState&, std::span<const Wanted>);
void compute(ContextState&, std::span<const NodePtr>);
void compute(ContextState&, std::span<const Tensor>);
void compute(ContextState&, const NodePtr&);

// Computes a node that has elements, and starts to copy them to the host. See Backend::download_at_once.
enum class Taken { later, at_once };
std::unique_ptr<Download> start_download(ContextState&, const NodePtr&, Taken = Taken::later);

// Compiles the kernel of a step, and adds it to the kernels that a program relies on.
void prepare_step(ContextState&, const Step&, const Graph&, KernelUses&);
// The same, see Backend::prepare_beside: true once the kernel is compiled.
bool prepare_step_beside(ContextState&, const Step&, const Graph&, KernelUses&);

}  // namespace tessera

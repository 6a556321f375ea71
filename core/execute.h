// Runs what is wanted: one plan, one submission.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/fuse.h"
#include "core/messages.h"
#include "core/recent_map.h"

namespace tessera {

struct ContextImpl;
struct ProgramImpl;

// Finished plans by the signature of their graphs. Bounded: a program that never repeats itself must not grow. Where
// there are too many, the least recently used ones go.
class PlanCache {
 public:
  explicit PlanCache(MessageSink messages) : messages_(std::move(messages)) {}
  std::shared_ptr<const Plan> get(const Graph&, const Limits&);
  std::uint64_t hits() const { return hits_; }
  void clear() { plans_.clear(); }

 private:
  RecentMap<std::string, std::shared_ptr<const Plan>> plans_;
  std::uint64_t hits_ = 0;
  MessageSink messages_;
};

// Work that is gathered, then submitted at once. The caller holds the context's lock from the first to the last call
// and keeps the nodes alive. If anything throws, nothing that was computed is lost and nothing half computed is kept.
class Batch {
 public:
  explicit Batch(ContextImpl&);
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Adds what the wanted nodes need, programs that have to run included; once the batch has run they are computed.
  void add(std::span<const NodePtr> wanted);

  // Adds one run of a plan. `buffers` has an entry for each item: the storages of those that have one. The steps'
  // outputs are added; of these, the ones that only later steps read are given back on the way.
  // Where the device has no room for a step, what was gathered so far is submitted first, so that storages which the
  // step does not need can leave.
  void add(std::shared_ptr<const Plan>, const GraphItems&, std::vector<std::shared_ptr<Buffer>>& buffers);

  // Adds what a backend does for a host with a node that was added before.
  void add(const HostPass&, Node& input);

  void run();

 private:
  std::vector<NodePtr> add_graph(std::span<const NodePtr> wanted);
  std::vector<std::shared_ptr<Buffer>> add_items(const Graph&, std::shared_ptr<const Plan>, Limits);
  template <class Work>
  void with_room(const Work&);
  void add(const Step&, const GraphItems&, std::vector<std::shared_ptr<Buffer>>& buffers);
  void use(Buffer&);
  std::vector<NodePtr> forgotten_by(ProgramImpl&);
  void add_run(const Node& ran);
  void give(const NodePtr&, std::shared_ptr<Buffer>, std::int64_t offset);
  void submit();
  void submit(std::span<const Dispatch>);

  ContextImpl& context_;
  std::vector<std::shared_ptr<const Plan>> plans_;  // the dispatches refer to their kernels
  std::vector<Dispatch> dispatches_;
  KernelUses* kernel_uses_ = nullptr;    // of the program whose run is being added
  std::size_t firm_dispatches_ = 0;      // the first ones, which stay if what is being added does not fit
  std::size_t inputs_without_room_ = 0;  // of the step for which there was no room
  std::vector<NodePtr> results_;         // have their storages, which they lose if the batch does not run
  std::vector<NodePtr> sources_;         // that only lineage refers to
  std::uint64_t ops_fused_ = 0;
};

// A batch of just that.
void compute(ContextImpl&, std::span<const NodePtr> wanted);

// Computes a node that has elements, and starts to copy them to the host.
std::unique_ptr<Download> start_download(ContextImpl&, const NodePtr&);

// Gives a node its elements. Where they may be lost with the device and its lineage is known, it remembers it.
void become_computed(ContextImpl&, Node&, std::shared_ptr<Buffer>, std::int64_t offset);

// How many operations it takes to make a node's elements from what is on the host.
int lineage_after(const Node&);

// Compiles the kernel of a step, and adds it to those that a program relies on.
void prepare_step(ContextImpl&, const Step&, const GraphItems&, KernelUses&);

}  // namespace tessera

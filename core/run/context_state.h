// All that a context's lock guards. Whoever has a reference to a ContextState holds the lock: only LockedContext gives
// one, and the background thread to its jobs.
#pragma once
#include <list>
#include <memory>
#include <vector>

#include "core/kernel/backend.h"
#include "core/kernel/imported_images.h"
#include "core/memory/pool.h"
#include "core/platform/poller.h"
#include "core/run/dispatch_list.h"
#include "core/run/host_read.h"
#include "core/run/pace.h"
#include "core/run/pending_work.h"
#include "core/run/plan_cache.h"
#include "core/run/plan_use.h"
#include "core/run/preparation.h"
#include "core/run/recovery.h"
#include "core/run/step_costs.h"
#include "core/run/tiers.h"
#include "core/run/trials.h"
#include "core/run/variants.h"

namespace tessera {

struct MonitorState;
class VulkanImages;

struct ContextState {
  // `open` gives the first backend, and the one that replaces a lost device; a host's device cannot be replaced.
  ContextState(ContextImpl& owner, const ContextOptions&, OpenBackend open, bool is_hosts);

  void switch_to(const ContextOptions&);
  void require_nothing_lent() const;
  void close();
  void require_open() const;
  // The caller has seen to it that tensors which should not get lost are on the host.
  void use_backend(std::unique_ptr<Backend>);
  // Whether work that was begun goes on beside the callers; else their own calls do it.
  bool works_beside() const { return has_threads() && backend->limits().any_thread; }
  void trim();
  void add(std::shared_ptr<Preparation>);
  bool prepare_some(Preparation::Clock::time_point deadline);  // see Context
  Stats stats_now() const;
  MemoryInfo memory_now() const;
  std::vector<Resident> why_resident(std::uint64_t at_least) const;
  std::size_t reads_under_way();  // see Context
  // Work of callers that is done now: whoever asks calls back, without the lock.
  std::vector<std::shared_ptr<CallersWork>> take_done_work();

  // Called around each submission: they count it, and tests may lose the device there.
  void about_to_submit();
  void submitted();

  // Hands out the times that have come from the device; with `wait`, those of all that was submitted.
  void collect_times(bool wait);

  ContextImpl& owner;
  ContextOptions options;
  OpenBackend open;
  const bool is_hosts;
  bool is_closed = false;
  std::unique_ptr<Backend> backend;
  std::list<DeviceInfo> devices;  // of all backends so far, so that references stay valid
  std::uint64_t epoch = 0;        // counts the backends
  Stats stats{};
  Recovery recovery;
  std::shared_ptr<Pool> pool;
  PlanCache plans;
  Trials trials;
  Tiers tiers;
  Variants variants;
  DispatchList spare_dispatches;                           // of the last batch, for the next one
  std::vector<std::shared_ptr<Preparation>> preparations;  // of programs, in the order in which they were asked for
  std::vector<std::weak_ptr<HostRead>> host_reads;         // of read_async, where only the host can finish them
  std::size_t background_reads = 0;                        // of read_async, elsewhere
  std::vector<std::shared_ptr<CallersWork>> callers_work;  // that has a callback, which the host's calls make
  Pace pace;
  ImportedImages images;                        // for tensors that come from, or go to, other contexts
  std::shared_ptr<VulkanImages> vulkan_images;  // of a host's; never null
  std::shared_ptr<MonitorState> monitor;        // nothing where nobody watches
  TimedSteps timed_steps;                       // of programs that run in slices
  TimedPlans timed_plans;
  std::uint64_t timed_runs = 0;           // numbers them, on all backends
  KernelOrigins kernel_origins_before{};  // when the statistics were reset, and:
  std::uint64_t plans_reused_before = 0;
};

}  // namespace tessera

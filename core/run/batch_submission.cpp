#include <algorithm>

#include "core/run/accessed_images.h"
#include "core/run/batch_parts.h"
#include "core/run/custom_on_host.h"
#include "core/run/monitor.h"
#include "core/run/program.h"

namespace tessera {

// Functions on the host come between submissions.
void Batch::submit() {
  std::span<const Dispatch> rest = dispatches_.all();
  has_submitted_ = has_submitted_ || !rest.empty();
  while (!rest.empty()) {
    const auto on_host = std::ranges::find_if(rest, [&](const Dispatch& each) { return runs_on_host(context_, each); });
    const auto before = static_cast<std::size_t>(on_host - rest.begin());
    if (before > 0) submit(rest.first(before));
    if (before < rest.size()) run_on_host(rest[before]);
    rest = rest.subspan(std::min(before + 1, rest.size()));
  }
}

void Batch::run_on_host(const Dispatch& dispatch) {
  const Stopwatch watch;
  tessera::run_on_host(context_, dispatch);
  if (slice_.costs) slice_.costs->measured(slice_.first, watch.milliseconds());
  ++slice_.first;
}

void Batch::submit(std::span<const Dispatch> dispatches) {
  const HostTime submitting(context_, HostWork::submit);
  context_.about_to_submit();
  const bool is_watched = context_.monitor && context_.monitor->times_kernels;
  std::optional<std::uint64_t> timed_as;
  const bool times_plan = is_whole_run_timed(dispatches);
  if (is_watched || times_plan || (slice_.costs && context_.backend->can_time())) timed_as = context_.timed_runs++;
  if (context_.monitor) context_.monitor->about_to_run(dispatches, timed_as);
  std::optional<Stopwatch> watch;
  if (slice_.costs) watch.emplace();
  AccessedImages images(dispatches);
  if (!images.is_empty() && context_.pool->is_recording())
    throw Error(
        ErrorCode::unsupported,
        "encode: images of a Vulkan host's, and dma-bufs, cannot be used in a command encoder, only in submissions of "
        "tessera's own.");
  images.begin();
  context_.backend->run(dispatches, timed_as);
  images.end();
  if (times_plan)
    context_.timed_plans.add(*timed_as, std::move(timed_plan_.use), timed_plan_.first_dispatch,
                             std::move(timed_plan_.steps));
  if (watch) note_costs(dispatches.size(), timed_as, watch->milliseconds());
  if (context_.monitor) context_.monitor->ran(context_.pool->info());
  context_.collect_times(false);
  context_.submitted();
  context_.stats.dispatches += dispatches.size();
}

// Of the plan whose times are wanted.
bool Batch::is_whole_run_timed(std::span<const Dispatch> dispatches) const {
  return timed_plan_.use && !timed_plan_.steps.empty() && !context_.pool->is_recording() &&
         dispatches.size() == dispatches_.size() &&
         timed_plan_.first_dispatch + timed_plan_.steps.size() <= dispatches.size();
}

void Batch::note_costs(std::size_t steps, std::optional<std::uint64_t> timed_as, double host_time) {
  if (timed_as) context_.timed_steps.add(*timed_as, slice_.costs, slice_.first);
  // There, the host is the device.
  if (context_.backend->device().backend != BackendKind::cpu) slice_.costs->submitted(steps, host_time);
  slice_.first += steps;
}

void Batch::submit_gathered() {
  timed_plan_.use.reset();
  submit();
  dispatches_.keep_first(0);
  firm_dispatches_ = 0;
  context_.pool->begin_batch();
}

void Batch::run() {
  submit();
  context_.stats.ops_fused += std::exchange(ops_fused_, 0);
  dispatches_.keep_first(0);
  plans_.clear();
  for (const Result& result : std::exchange(results_, {})) context_.recovery.computed(result.node);
  for (const NodePtr& node : std::exchange(sources_, {})) context_.recovery.release(*node);
  for (const CapturedToKeep& kept : std::exchange(captured_, {})) kept.by->keep(*context_.pool, kept.images);
  context_.pool->collect();
}

// Kernels of users were compiled when they were defined, and those of passes have no end: a host's objects are in them.
KernelsToCompile Batch::take_kernels() {
  KernelsToCompile wanted;
  for (const Dispatch& dispatch : dispatches_.all()) {
    if (!dispatch.kernel && !dispatch.pixel_kernel) continue;
    Dispatch& own = wanted.dispatches.emplace_back();
    if (dispatch.kernel) own.kernel = &wanted.kernels.emplace_back(*dispatch.kernel);
    if (dispatch.pixel_kernel) own.pixel_kernel = &wanted.pixel_kernels.emplace_back(*dispatch.pixel_kernel);
  }
  dispatches_.keep_first(0);
  plans_.clear();
  return wanted;
}

void compute(ContextState& context, std::span<const Wanted> wanted) {
  Batch batch(context);
  batch.add(wanted);
  batch.run();
}

void compute(ContextState& context, std::span<const NodePtr> nodes) {
  std::vector<Wanted> wanted;
  for (const NodePtr& node : nodes) wanted.push_back({node});
  compute(context, wanted);
}

void compute(ContextState& context, std::span<const Tensor> tensors) {
  std::vector<Wanted> wanted;
  for (const Tensor& tensor : tensors) wanted.push_back({TensorAccess::node(context, tensor)});
  compute(context, wanted);
}

void compute(ContextState& context, const NodePtr& node) {
  const Wanted wanted{node};
  compute(context, std::span(&wanted, 1));
}

}  // namespace tessera

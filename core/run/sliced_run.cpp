#include "core/run/sliced_run.h"

#include <algorithm>
#include <utility>

#include "core/run/context_impl.h"
#include "core/run/program.h"

namespace tessera {

// Memory of a host's own may change while the run goes on: it is copied.
Batch::Buffers SlicedRunImpl::first_buffers(ContextState& context) const {
  std::vector<NodePtr> nodes;
  for (const Tensor& input : inputs) {
    const NodePtr& node = TensorAccess::node(context, input);
    const std::shared_ptr<Buffer>& buffer = location_of(node.get()).node->value.buffer;
    nodes.push_back(buffer && buffer->is_borrowed() ? copy_of(node) : node);
  }
  Batch batch(context);
  Batch::Buffers buffers = batch.add_inputs(ProgramAccess::impl(program), nodes);
  batch.run();
  return buffers;
}

void SlicedRunImpl::begin(ContextState& context) {
  Batch::Buffers buffers = first_buffers(context);
  state = State{context.epoch, 0, std::move(buffers)};
}

// Other work may have needed the room of what can be made again.
void SlicedRunImpl::make_forgotten(ContextState& context, State& now) const {
  const auto is_forgotten = [](const std::shared_ptr<Buffer>& buffer) { return buffer && buffer->is_lost(); };
  if (std::ranges::none_of(now.buffers, is_forgotten)) return;
  const Batch::Buffers made = first_buffers(context);
  for (std::size_t i = 0; i < made.size(); ++i)
    if (made[i]) now.buffers[i] = made[i];
}

void SlicedRunImpl::advance(ContextState& context, double budget) {
  ProgramImpl& impl = ProgramAccess::impl(program);
  if (!state || state->epoch != context.epoch) begin(context);
  State now = *std::exchange(state, std::nullopt);  // a slice that fails takes it along
  make_forgotten(context, now);
  context.collect_times(false);
  const std::shared_ptr<StepCosts> costs = impl.costs;
  const bool is_measured = impl.costs_for_tests.empty();
  const std::size_t first = now.next, count = costs->slice(first, budget);
  const bool is_waited_for = is_measured && count > 0 && costs->is_waited_for(first);
  if (is_waited_for) {
    prepare_step(context, impl.plan->steps[first], impl.graph, impl.kernels);
    context.backend->wait();
  }
  const Stopwatch watch;
  Batch batch(context);
  batch.add_slice(impl, {first, count, is_measured ? costs : nullptr}, now.buffers);
  now.next += count;
  std::vector<Tensor> made;
  const bool is_last = now.next == impl.plan->steps.size();
  if (is_last) made = program(inputs);
  if (!made.empty()) batch.give_results(*TensorAccess::node(context, made[0]), now.buffers);
  batch.run();
  if (is_waited_for) {
    context.backend->wait();
    costs->measured(first, watch.milliseconds());
  }
  if (!is_measured)
    for (std::size_t step = first; step < now.next; ++step)
      costs->measured(step, impl.costs_for_tests[std::min(step, impl.costs_for_tests.size() - 1)]);
  if (!is_last) {
    state = std::move(now);
    return;
  }
  results = std::move(made);
  is_done = true;
}

bool SlicedRun::advance(Budget budget) const {
  const double milliseconds = budget.count();
  if (!(milliseconds > 0))
    throw Error(ErrorCode::invalid_argument,
                "advance: a budget is more than nothing, but " + number_text(milliseconds) + " ms were given.");
  const LockedContext context(*ProgramAccess::impl(impl_->program).context);
  if (!impl_->is_done) context->recovery.run([&] { impl_->advance(*context, milliseconds); });
  return impl_->is_done;
}

double SlicedRun::progress() const {
  const ProgramImpl& program = ProgramAccess::impl(impl_->program);
  const LockedContext context(*program.context, LockedContext::Closed::allowed);
  if (impl_->is_done) return 1;
  if (!impl_->state || impl_->state->epoch != context->epoch || impl_->state->next == 0) return 0;
  return static_cast<double>(impl_->state->next) / static_cast<double>(program.plan->steps.size());
}

std::vector<Tensor> SlicedRun::results() const {
  const ProgramImpl& program = ProgramAccess::impl(impl_->program);
  const LockedContext context(*program.context);
  if (impl_->is_done) return impl_->results;
  const std::size_t done = impl_->state ? impl_->state->next : 0;
  throw Error(ErrorCode::invalid_argument, "results: the run has done " + std::to_string(done) + " of its " +
                                               std::to_string(program.plan->steps.size()) +
                                               " dispatches; call advance() until it returns true.");
}

}  // namespace tessera

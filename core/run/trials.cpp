#include "core/run/trials.h"

#include "core/run/context_impl.h"

namespace tessera {

void Trials::add(ContextState& context, std::unique_ptr<Trial> trial) {
  waiting_.push_back(std::move(trial));
  if (context.is_hosts || !context.works_beside() || is_working_) return;
  is_working_ = true;
  context.owner.background.add([owner = context.owner.weak_from_this()](ContextState& state) {
    // Trials are no reason for a context to stay.
    const bool is_over = owner.expired() || state.trials.work(state) == Trial::Turn::over;
    if (is_over) state.trials.is_working_ = false;
    return is_over;
  });
}

Trial::Turn Trials::work(ContextState& context) {
  if (waiting_.empty()) return Trial::Turn::over;
  if (context.pool->is_recording()) return Trial::Turn::waits;
  const Trial::Turn turn = waiting_.front()->work(context, takes_all_);
  if (turn == Trial::Turn::waits) context.collect_times(false);
  if (turn != Trial::Turn::over) return turn;
  const std::unique_ptr<Trial> done = std::move(waiting_.front());
  waiting_.pop_front();
  done->finished(context);
  return waiting_.empty() ? Trial::Turn::over : Trial::Turn::did_some;
}

void Trials::work_until(ContextState& context, std::chrono::steady_clock::time_point deadline) {
  while (work(context) == Trial::Turn::did_some && std::chrono::steady_clock::now() < deadline) {
  }
}

}  // namespace tessera

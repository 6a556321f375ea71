#include "core/run/trials.h"

#include <algorithm>
#include <utility>

#include "core/run/context_impl.h"
#include "core/run/tuning_clock.h"

namespace tessera {
namespace {

constexpr std::chrono::seconds longest_wait{30};

// A lost device has no times. The next call of the host's notices that: nobody waits for an error here.
void collect_times(ContextState& context) {
  try {
    context.collect_times(false);
  } catch (const Error&) {
  }
}

}  // namespace

Tuning Trials::tuning_on(const ContextState& context) const {
  const Backend& backend = *context.backend;
  if (is_stopped_ || !has_threads() || backend.device().backend == BackendKind::cpu) return Tuning::off;
  const bool can_be_automatic =
      !context.is_hosts && context.works_beside() && backend.can_time() && compile_beside(false);
  if (context.options.tuning == Tuning::automatic && !can_be_automatic) return Tuning::off;
  return context.options.tuning;
}

void Trials::clear(const ContextState& context) {
  waiting_.clear();
  wait_.reset();
  balance_ = 0;
  const Limits limits = context.backend->limits();
  compiles_beside_ = limits.compiles_beside;
  compiles_pixels_beside_ = limits.pixels.compiles_beside;
  tuning_ = tuning_on(context);
}

void Trials::stop() {
  waiting_.clear();
  is_stopped_ = true;
  tuning_ = Tuning::off;
}

void Trials::add(ContextState& context, std::unique_ptr<Trial> trial) {
  waiting_.push_back(std::move(trial));
  work_in_background(context);
}

void Trials::earn(ContextState& context, double run_time) {
  balance_ = std::min(balance_ + part_of_runs * run_time, most_saved);
  if (!waiting_.empty()) work_in_background(context);
}

void Trials::work_in_background(ContextState& context) {
  if (context.is_hosts || !context.works_beside() || is_working_ || rest()) return;
  is_working_ = true;
  context.owner.background.add([owner = context.owner.weak_from_this()](ContextState& state) {
    // Trials are no reason for a context to stay.
    const Trial::Turn turn = owner.expired() ? Trial::Turn::over : state.trials.work(state);
    const bool stops = turn == Trial::Turn::over || (turn == Trial::Turn::did_some && state.trials.rest());
    if (stops) state.trials.is_working_ = false;
    return stops;
  });
}

Trial::Turn Trials::work(ContextState& context) {
  if (waiting_.empty()) return Trial::Turn::over;
  if (context.pool->is_recording()) return Trial::Turn::waits;
  const Wait began = wait_.value_or(Wait{std::chrono::steady_clock::now(), tuning_now()});
  Trial::Turn turn = waiting_.front()->work(context, takes_all_);
  if (turn == Trial::Turn::waits) {
    collect_times(context);
    wait_ = began;
    if (std::chrono::steady_clock::now() - began.began <= longest_wait) return turn;
    waiting_.front()->give_up();  // times of runs that failed never come
    turn = Trial::Turn::over;
  }
  wait_.reset();
  balance_ -= std::chrono::duration<double, std::micro>(tuning_now() - began.began_on_tuning_clock).count();
  return turn == Trial::Turn::over ? finish_first(context) : turn;
}

Trial::Turn Trials::finish_first(ContextState& context) {
  const std::unique_ptr<Trial> done = std::move(waiting_.front());
  waiting_.pop_front();
  done->finished(context);
  return waiting_.empty() ? Trial::Turn::over : Trial::Turn::did_some;
}

void Trials::give_up_first(ContextState& context) {
  if (waiting_.empty()) return;
  waiting_.front()->give_up();
  wait_.reset();
  finish_first(context);
}

void Trials::work_until(ContextState& context, std::chrono::steady_clock::time_point deadline) {
  while (work(context) == Trial::Turn::did_some && std::chrono::steady_clock::now() < deadline) {
  }
}

}  // namespace tessera

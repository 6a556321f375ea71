#include "core/run/plan_use.h"

#include <numeric>
#include <utility>

#include "core/run/context_state.h"
#include "core/run/trial_parts.h"
#include "core/run/tuning_clock.h"

namespace tessera {

void PlanUse::begin_run(ContextState& context, bool is_program) {
  Trials& trials = context.trials;
  ++runs_;
  if (trials.is_eager()) {
    is_watched_ = true;
    may_try_ = may_try_now_ = runs_ >= trials.eager_runs(is_program);
    return;
  }
  wants_times_ = may_try_now_ = false;
  if (runs_ % runs_in_window == 1) begin_window();
  if (may_try_) trials.earn(context, run_time_);
}

void PlanUse::begin_window() {
  const Clock::time_point now = tuning_now();
  if (runs_ == 1) began_ = now;
  if (now - began_ < least_age) return;
  is_watched_ = timed_ > 0;
  wants_times_ = timed_ < enough_timed;
  may_try_ = may_try_now_ = !wants_times_;
}

bool PlanUse::may_try(const Trials& trials, double time, bool is_pixels) const {
  if (!may_try_) return false;
  if (trials.is_eager()) return true;
  if (!trials.compile_beside(is_pixels)) return false;
  return trials.takes_all() || (time >= least_trial_time && time >= least_part * run_time_);
}

void PlanUse::timed(std::span<const std::size_t> steps, const TimedRun& times, std::size_t first_dispatch) {
  std::vector<double> step_times(steps.empty() ? 0 : steps.back() + 1);
  for (const DispatchTime& time : times.times)
    if (time.dispatch >= first_dispatch && time.dispatch - first_dispatch < steps.size())
      step_times[steps[time.dispatch - first_dispatch]] = time.end - time.begin;
  const double run_time = std::accumulate(step_times.begin(), step_times.end(), 0.0);
  if (run_time == 0) return;                          // the device told none
  if (timed_++ > 0 && run_time >= run_time_) return;  // other work came between
  run_time_ = run_time;
  step_times_ = std::move(step_times);
}

void TimedPlans::timed(const TimedRun& times) {
  // Runs before it that have no times failed.
  while (!under_way_.empty() && under_way_.front().number < times.run) under_way_.pop_front();
  if (under_way_.empty() || under_way_.front().number != times.run) return;
  const Run run = std::move(under_way_.front());
  under_way_.pop_front();
  run.use->timed(run.steps, times, run.first_dispatch);
}

}  // namespace tessera

// How often a plan runs and how long its steps take: when kernels for them may go on trial.
//
// With Tuning::eager that is after a few runs. With Tuning::automatic, whoever runs a plan must not notice: it has run
// often and for seconds, some of its runs were timed, and a step that goes on trial takes a noticeable part of it.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera {

struct ContextState;
class Trials;

class PlanUse {
 public:
  // The first step of a run is about to be added.
  void begin_run(ContextState&, bool is_program);

  bool is_watched() const { return is_watched_; }    // numbers that change are of interest from now on
  bool wants_times() const { return wants_times_; }  // of this run
  bool may_try_now() const { return may_try_now_; }  // in this run: others need not ask
  // Of steps that take that long, in microseconds: whether they may go on trial now.
  bool may_try(const Trials&, double time, bool is_pixels) const;
  double time_of(std::size_t step) const { return step < step_times_.size() ? step_times_[step] : 0; }

  // Of the run that was timed: the step of each dispatch.
  void timed(std::span<const std::size_t> steps, const TimedRun&, std::size_t first_dispatch);

  // Of Variants:
  std::uint64_t decisions_seen = 0;
  bool choices_are_tried = false;

 private:
  static constexpr std::uint64_t runs_in_window = 16;
  static constexpr std::chrono::seconds least_age{2};
  static constexpr int enough_timed = 3;      // runs, each in a window of its own
  static constexpr double least_part = 0.05;  // of the plan's time, for a step

  using Clock = std::chrono::steady_clock;
  void begin_window();

  std::uint64_t runs_ = 0;
  Clock::time_point began_{};
  bool is_watched_ = false, wants_times_ = false, may_try_ = false, may_try_now_ = false;
  int timed_ = 0;                   // runs
  std::vector<double> step_times_;  // in microseconds, of the fastest of them
  double run_time_ = 0;             // likewise
};

// Runs of plans whose times are on their way from the device.
class TimedPlans {
 public:
  void add(std::uint64_t run, std::shared_ptr<PlanUse> use, std::size_t first_dispatch,
           std::vector<std::size_t> steps) {
    under_way_.push_back({run, std::move(use), first_dispatch, std::move(steps)});
  }
  void timed(const TimedRun&);
  void clear() { under_way_.clear(); }

 private:
  struct Run {
    std::uint64_t number;
    std::shared_ptr<PlanUse> use;
    std::size_t first_dispatch;
    std::vector<std::size_t> steps;
  };
  std::deque<Run> under_way_;
};

}  // namespace tessera

// Measured costs of the steps of a plan, so that slices of a run fit into a budget.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "core/run/fuse.h"

namespace tessera {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// Times are milliseconds.
class StepCosts {
 public:
  StepCosts(const Plan&, const Graph&, const Backend&);

  // How many steps from `first` on fit into the budget: one at least, and none after one whose cost is not known. So no
  // slice takes longer than the budget by more than one step.
  std::size_t slice(std::size_t first, double budget) const;
  // Without timers, the host waits for steps whose cost is not known: they are slices of their own.
  bool is_waited_for(std::size_t step) const { return !is_timed_ && !is_known(step); }

  void measured(std::size_t step, double time);
  void measured(std::size_t first, std::span<const DispatchTime>);  // of a run of the steps from there on
  void submitted(std::size_t steps, double host_time);

 private:
  struct Cost {
    double time = 0;
    int times_measured = 0;
  };
  bool is_known(std::size_t step) const { return of(step).times_measured >= times_until_known(); }
  int times_until_known() const { return is_timed_ ? 1 : 2; }  // the host looks no more once it knows
  const Cost& of(std::size_t step) const { return costs_[kinds_[step]]; }

  std::vector<std::size_t> kinds_;  // of steps: those that do equal work on other tensors have one cost
  std::vector<Cost> costs_;         // of kinds
  bool is_timed_;
  double host_time_ = 0;  // of a step, to submit it; 0: not known
};

// Runs of steps whose times are on their way from the device.
class TimedSteps {
 public:
  void add(std::uint64_t run, std::shared_ptr<StepCosts> costs, std::size_t first) {
    under_way_.push_back({run, std::move(costs), first});
  }
  void timed(const TimedRun&);
  void clear() { under_way_.clear(); }

 private:
  struct Run {
    std::uint64_t number;
    std::shared_ptr<StepCosts> costs;
    std::size_t first;
  };
  std::deque<Run> under_way_;
};

}  // namespace tessera

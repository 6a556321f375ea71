// The runs of a backend whose times are on their way from the device.
#pragma once
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera {

// The times of a run's dispatches, from the ticks at the begin and the end of each, in nanoseconds. None can have taken
// longer than `longest` microseconds: one that did is left out.
std::vector<DispatchTime> times_of(std::span<const std::size_t> dispatches, std::span<const std::uint64_t> ticks,
                                   double longest);

// A Run has ready(bool wait) and, once it is ready, take(), which gives a TimedRun.
template <class Run>
class TimedRuns {
 public:
  bool is_empty() const { return under_way_.empty(); }
  Run& add(std::unique_ptr<Run> run) { return *under_way_.emplace_back(std::move(run)); }

  std::vector<TimedRun> take(bool wait) {
    std::vector<TimedRun> times;
    for (; !under_way_.empty() && under_way_.front()->ready(wait); under_way_.pop_front())
      times.push_back(under_way_.front()->take());
    return times;
  }

 private:
  std::deque<std::unique_ptr<Run>> under_way_;
};

}  // namespace tessera

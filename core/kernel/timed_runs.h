// The runs of a backend whose times are on their way from the device.
#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/kernel/backend.h"

namespace tessera {

// A Run has ready(bool wait) and, once it is ready, take(), which gives a TimedRun.
template <class Run>
class TimedRuns {
 public:
  bool start(bool on) {
    is_on_ = on;
    runs_ = 0;
    under_way_.clear();
    return on;
  }
  bool is_on() const { return is_on_; }
  std::uint64_t next_number() { return runs_++; }
  void add(std::unique_ptr<Run> run) { under_way_.push_back(std::move(run)); }
  Run& last() { return *under_way_.back(); }

  std::vector<TimedRun> take(bool wait) {
    std::vector<TimedRun> times;
    for (; !under_way_.empty() && under_way_.front()->ready(wait); under_way_.pop_front())
      times.push_back(under_way_.front()->take());
    return times;
  }

 private:
  bool is_on_ = false;
  std::uint64_t runs_ = 0;
  std::deque<std::unique_ptr<Run>> under_way_;
};

}  // namespace tessera

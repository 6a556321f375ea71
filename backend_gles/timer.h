// How long each dispatch kept the device, by timer queries (GL_EXT_disjoint_timer_query).
#pragma once
#include <chrono>
#include <vector>

#include "backend_gles/handle.h"
#include "core/kernel/timed_runs.h"

namespace tessera::gles {

// A query for each dispatch of a run.
class TimedQueries {
 public:
  TimedQueries(std::shared_ptr<const Device> device, std::uint64_t run) : device_(std::move(device)), run_(run) {}

  void begin();  // of the next dispatch
  void end() const { device_->gl().EndQuery(GL_TIME_ELAPSED_EXT); }
  bool ready(bool wait) const;
  TimedRun take() const;

 private:
  std::shared_ptr<const Device> device_;
  std::uint64_t run_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<Query> queries_;
};

// Every call but start() and is_on() needs the context to be current.
class Timer {
 public:
  explicit Timer(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  bool start(bool on);  // not on a host's context, where a query of the host's may be under way
  bool is_on() const { return runs_.is_on(); }
  void begin_run() {
    if (is_on()) runs_.add(std::make_unique<TimedQueries>(device_, runs_.next_number()));
  }
  std::vector<TimedRun> take(bool wait);

 private:
  friend class TimedDispatch;
  std::shared_ptr<const Device> device_;
  TimedRuns<TimedQueries> runs_;
};

// While it lives, the next dispatch of the run is timed, where runs are.
class TimedDispatch {
 public:
  explicit TimedDispatch(Timer& timer) : queries_(timer.is_on() ? &timer.runs_.last() : nullptr) {
    if (queries_) queries_->begin();
  }
  ~TimedDispatch() {
    if (queries_) queries_->end();
  }
  TimedDispatch(const TimedDispatch&) = delete;
  TimedDispatch& operator=(const TimedDispatch&) = delete;

 private:
  TimedQueries* queries_;
};

}  // namespace tessera::gles

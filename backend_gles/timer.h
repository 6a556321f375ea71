// How long each dispatch kept the device, by timer queries (GL_EXT_disjoint_timer_query, or OpenGL 3.3).
#pragma once
#include <chrono>
#include <vector>

#include "backend_gles/handle.h"
#include "core/kernel/timed_runs.h"

namespace tessera::gles {

bool can_time(const Device&);
// Whether something disturbed the device's clock since the last call, such as a change of its frequency: times that
// have come meanwhile mean nothing.
bool was_disturbed(const Device&);

// A query for each dispatch of a run. On a host's context, where one of the host's may be under way, there are two
// instead, which are stamps of the time and can be among others.
class TimedQueries {
 public:
  TimedQueries(std::shared_ptr<const Device> device, std::uint64_t run) : device_(std::move(device)), run_(run) {}

  void begin();  // of the next dispatch
  void end() const;
  bool ready(bool wait) const;
  TimedRun take() const;

 private:
  bool has_stamps() const { return device_->context().is_borrowed(); }
  std::uint64_t nanoseconds(const Query&) const;
  std::vector<DispatchTime> from_stamps(double longest) const;
  std::vector<DispatchTime> from_durations(double longest) const;

  std::shared_ptr<const Device> device_;
  std::uint64_t run_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<Query> queries_;
};

// While it lives, the next dispatch of the run is timed, where the run is.
class TimedDispatch {
 public:
  explicit TimedDispatch(TimedQueries* run) : queries_(run) {
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

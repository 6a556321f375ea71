// How long each dispatch kept the device, by timer queries (GL_EXT_disjoint_timer_query).
#pragma once
#include <chrono>
#include <deque>
#include <vector>

#include "backend_gles/handle.h"

namespace tessera::gles {

inline void delete_query(const Device& device, GLuint name) { device.gl().DeleteQueries(1, &name); }
using Query = Handle<GLuint, delete_query>;

// Every call but start() and is_on() needs the context to be current.
class Timer {
 public:
  explicit Timer(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  // Not on a host's context, where a query of the host's may be under way.
  bool start(bool on);
  bool is_on() const { return is_on_; }

  void begin_run();
  std::vector<TimedRun> take(bool wait);

 private:
  friend class TimedDispatch;
  struct Run {
    std::uint64_t number;
    std::chrono::steady_clock::time_point began;
    std::vector<Query> queries;  // one for each dispatch
  };
  std::shared_ptr<const Device> device_;
  bool is_on_ = false;
  std::uint64_t runs_ = 0;
  std::deque<Run> under_way_;
};

// While it lives, the next dispatch of the run is timed, where runs are.
class TimedDispatch {
 public:
  explicit TimedDispatch(Timer&);
  ~TimedDispatch();
  TimedDispatch(const TimedDispatch&) = delete;
  TimedDispatch& operator=(const TimedDispatch&) = delete;

 private:
  Timer& timer_;
};

}  // namespace tessera::gles

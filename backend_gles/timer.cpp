#include "backend_gles/timer.h"

namespace tessera::gles {

void TimedQueries::begin() {
  queries_.push_back(make_query(device_));
  device_->gl().BeginQuery(GL_TIME_ELAPSED_EXT, queries_.back().get());
}

bool TimedQueries::ready(bool wait) const {
  GLuint is_available = GL_TRUE;
  if (!wait && !queries_.empty())
    device_->gl().GetQueryObjectuiv(queries_.back().get(), GL_QUERY_RESULT_AVAILABLE, &is_available);
  return is_available;
}

// The clock tells durations only: the dispatches of a run come one after the other.
TimedRun TimedQueries::take() const {
  TimedRun timed{run_, {}};
  double until = 0;
  const double longest = longest_since(began_);
  for (std::size_t i = 0; i < queries_.size(); ++i) {
    GLuint64 nanoseconds = 0;
    device_->gl().GetQueryObjectui64vEXT(queries_[i].get(), GL_QUERY_RESULT, &nanoseconds);
    const double microseconds = static_cast<double>(nanoseconds) / 1000;
    if (microseconds > longest) continue;
    timed.times.push_back({i, until, until + microseconds});
    until += microseconds;
  }
  return timed;
}

bool Timer::start(bool on) {
  return runs_.start(on && device_->gl().EXT_disjoint_timer_query && !device_->context().is_borrowed());
}

std::vector<TimedRun> Timer::take(bool wait) {
  std::vector<TimedRun> done = runs_.take(wait);
  // Something disturbed the device's clock, such as a change of its frequency: these times mean nothing.
  if (!done.empty() && integer(device_->gl(), GL_GPU_DISJOINT_EXT))
    for (TimedRun& timed : done) timed.times.clear();
  return done;
}

}  // namespace tessera::gles

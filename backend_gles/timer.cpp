#include "backend_gles/timer.h"

namespace tessera::gles {

// Not on a host's context, where a query of the host's may be under way.
bool can_time(const Device& device) { return device.gl().EXT_disjoint_timer_query && !device.context().is_borrowed(); }

bool was_disturbed(const Device& device) { return integer(device.gl(), GL_GPU_DISJOINT_EXT) != 0; }

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

}  // namespace tessera::gles

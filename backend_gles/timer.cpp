#include "backend_gles/timer.h"

#include <numeric>

namespace tessera::gles {

bool can_time(const Device& device) {
  if (!device.gl().EXT_disjoint_timer_query) return false;
  if (!device.context().is_borrowed()) return true;
  GLint bits = 0;
  device.gl().GetQueryivEXT(GL_TIMESTAMP_EXT, GL_QUERY_COUNTER_BITS_EXT, &bits);
  return bits > 0;
}

// Asking makes GL forget, which a host that asks too would miss. Desktop OpenGL does not tell.
bool was_disturbed(const Device& device) {
  return !device.is_desktop() && !device.context().is_borrowed() && integer(device.gl(), GL_GPU_DISJOINT_EXT) != 0;
}

void TimedQueries::begin() {
  const GladGLES2Context& gl = device_->gl();
  const GLuint first = queries_.emplace_back(make_query(device_)).get();
  if (!has_stamps()) return gl.BeginQuery(GL_TIME_ELAPSED_EXT, first);
  queries_.push_back(make_query(device_));
  gl.QueryCounterEXT(first, GL_TIMESTAMP_EXT);
}

void TimedQueries::end() const {
  if (has_stamps()) device_->gl().QueryCounterEXT(queries_.back().get(), GL_TIMESTAMP_EXT);
  else device_->gl().EndQuery(GL_TIME_ELAPSED_EXT);
}

bool TimedQueries::ready(bool wait) const {
  GLuint is_available = GL_TRUE;
  if (!wait && !queries_.empty())
    device_->gl().GetQueryObjectuiv(queries_.back().get(), GL_QUERY_RESULT_AVAILABLE, &is_available);
  return is_available;
}

TimedRun TimedQueries::take() const {
  const double longest = longest_since(began_);
  return {run_, has_stamps() ? from_stamps(longest) : from_durations(longest)};
}

std::uint64_t TimedQueries::nanoseconds(const Query& query) const {
  GLuint64 told = 0;
  device_->gl().GetQueryObjectui64vEXT(query.get(), GL_QUERY_RESULT, &told);
  return told;
}

std::vector<DispatchTime> TimedQueries::from_stamps(double longest) const {
  std::vector<std::uint64_t> ticks;
  for (const Query& query : queries_) ticks.push_back(nanoseconds(query));
  std::vector<std::size_t> dispatches(queries_.size() / 2);
  std::iota(dispatches.begin(), dispatches.end(), std::size_t{0});
  return times_of(dispatches, ticks, longest);
}

// Dispatches of a run come one after the other.
std::vector<DispatchTime> TimedQueries::from_durations(double longest) const {
  std::vector<DispatchTime> times;
  double until = 0;
  for (std::size_t i = 0; i < queries_.size(); ++i) {
    const double microseconds = static_cast<double>(nanoseconds(queries_[i])) / 1000;
    if (microseconds > longest) continue;
    times.push_back({i, until, until + microseconds});
    until += microseconds;
  }
  return times;
}

}  // namespace tessera::gles

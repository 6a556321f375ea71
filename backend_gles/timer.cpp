#include "backend_gles/timer.h"

namespace tessera::gles {

bool Timer::start(bool on) {
  is_on_ = on && device_->gl().EXT_disjoint_timer_query && !device_->context().is_borrowed();
  runs_ = 0;
  under_way_.clear();
  return is_on_;
}

void Timer::begin_run() {
  if (is_on_) under_way_.push_back({runs_++, std::chrono::steady_clock::now(), {}});
}

TimedDispatch::TimedDispatch(Timer& timer) : timer_(timer) {
  if (!timer_.is_on_) return;
  GLuint name = 0;
  timer_.device_->gl().GenQueries(1, &name);
  timer_.under_way_.back().queries.emplace_back(timer_.device_, name);
  timer_.device_->gl().BeginQuery(GL_TIME_ELAPSED_EXT, name);
}

TimedDispatch::~TimedDispatch() {
  if (timer_.is_on_) timer_.device_->gl().EndQuery(GL_TIME_ELAPSED_EXT);
}

std::vector<TimedRun> Timer::take(bool wait) {
  const GladGLES2Context& gl = device_->gl();
  std::vector<TimedRun> done;
  while (!under_way_.empty()) {
    Run& run = under_way_.front();
    GLuint is_there = GL_TRUE;
    if (!wait && !run.queries.empty())
      gl.GetQueryObjectuiv(run.queries.back().get(), GL_QUERY_RESULT_AVAILABLE, &is_there);
    if (!is_there) break;
    TimedRun timed{run.number, {}};
    // The clock tells durations only: the dispatches of a run come one after the other.
    double until = 0;
    const double longest = longest_since(run.began);
    for (std::size_t i = 0; i < run.queries.size(); ++i) {
      GLuint64 nanoseconds = 0;
      gl.GetQueryObjectui64vEXT(run.queries[i].get(), GL_QUERY_RESULT, &nanoseconds);
      const double microseconds = static_cast<double>(nanoseconds) / 1000;
      if (microseconds > longest) continue;
      const double end = until + microseconds;
      timed.times.push_back({i, until, end});
      until = end;
    }
    done.push_back(std::move(timed));
    under_way_.pop_front();
  }
  // Something disturbed the device's clock, such as a change of its frequency: these times mean nothing.
  GLint is_disjoint = GL_FALSE;
  if (!done.empty()) gl.GetIntegerv(GL_GPU_DISJOINT_EXT, &is_disjoint);
  if (is_disjoint)
    for (TimedRun& timed : done) timed.times.clear();
  return done;
}

}  // namespace tessera::gles

#include "core/run/background.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <vector>

namespace tessera {

struct Background::State {
  State(std::mutex& lock_of_context, ContextState& state_of_context)
      : context_lock(lock_of_context), context(state_of_context) {}

  std::mutex& context_lock;
  ContextState& context;
  std::mutex lock;  // guards what follows
  std::condition_variable changed;
  struct Task {
    Job job;
    std::function<void()> after;
  };
  std::vector<Task> added;
  bool is_busy = false;  // with jobs that it has taken
  bool stopping = false;
  bool orphaned = false;  // the context went with the last job
};

Background::Background(std::mutex& context_lock, ContextState& context)
    : state_(std::make_shared<State>(context_lock, context)) {}

Background::~Background() {
  const bool is_own_thread = thread_.get_id() == std::this_thread::get_id();
  {
    const std::scoped_lock hold(state_->lock);
    state_->stopping = true;
    state_->orphaned = is_own_thread;
  }
  state_->changed.notify_all();
  if (is_own_thread) thread_.detach();
  else if (thread_.joinable()) thread_.join();
}

void Background::add(Job job, std::function<void()> after) {
  const std::scoped_lock hold(state_->lock);
  state_->added.push_back({std::move(job), std::move(after)});
  if (!thread_.joinable()) thread_ = std::thread([state = state_] { run(state); });
  state_->changed.notify_all();
}

void Background::add(std::unique_ptr<Download> download, Finish finish) {
  add([shared = std::shared_ptr(std::move(download)), finish = std::move(finish)](ContextState& context) mutable {
    std::exception_ptr error;
    try {
      if (!shared->ready()) return false;
    } catch (...) {
      error = std::current_exception();
    }
    finish(context, shared.get(), error);
    shared.reset();  // under the lock, like every use of the device
    return true;
  });
}

void Background::wait_until_idle() {
  std::unique_lock hold(state_->lock);
  state_->changed.wait(hold, [&] { return state_->added.empty() && !state_->is_busy; });
}

void Background::run(const std::shared_ptr<State>& state) {
  using namespace std::chrono_literals;
  constexpr auto shortest = 50us, longest = 1000us;
  std::vector<State::Task> jobs;
  for (auto pause = shortest;; pause = std::min(2 * pause, longest)) {
    {
      std::unique_lock hold(state->lock);
      if (state->orphaned) return;
      if (std::exchange(state->is_busy, !jobs.empty()) && jobs.empty()) state->changed.notify_all();
      state->changed.wait(hold, [&] { return !jobs.empty() || !state->added.empty() || state->stopping; });
      if (!state->added.empty()) pause = shortest;
      std::ranges::move(state->added, std::back_inserter(jobs));
      state->added.clear();
      state->is_busy = !jobs.empty();
      if (jobs.empty() && state->stopping) return;
    }
    const auto done = std::partition(jobs.begin(), jobs.end(), [&](State::Task& task) {
      const std::scoped_lock hold(state->context_lock);
      return !task.job(state->context);
    });
    const bool has_finished_some = done != jobs.end();
    for (auto task = done; task != jobs.end(); ++task)
      if (task->after) task->after();
    jobs.erase(done, jobs.end());  // the context may go here, and with it the lock that jobs are done under
    if (has_finished_some) pause = shortest;
    else std::this_thread::sleep_for(pause);
  }
}

}  // namespace tessera

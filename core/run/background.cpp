#include "core/run/background.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace tessera {

struct Background::State {
  State(ContextLock& lock_of_context, ContextState& state_of_context)
      : context_lock(lock_of_context), context(state_of_context) {}

  Poller::Turn turn();

  ContextLock& context_lock;
  ContextState& context;
  struct Task {
    Job job;
    std::function<void()> after;
  };
  std::vector<Task> jobs{};  // of the poller alone
  std::mutex lock{};         // guards what follows
  std::vector<Task> added{};
};

Poller::Turn Background::State::turn() {
  {
    const std::scoped_lock hold(lock);
    std::ranges::move(added, std::back_inserter(jobs));
    added.clear();
  }
  const auto done = std::partition(jobs.begin(), jobs.end(), [&](Task& task) {
    if (!context_lock.lock_unless_suspended()) return true;
    const std::lock_guard hold(context_lock, std::adopt_lock);
    return !task.job(context);
  });
  const bool has_finished_some = done != jobs.end();
  for (auto task = done; task != jobs.end(); ++task)
    if (task->after) task->after();
  jobs.erase(done, jobs.end());  // the context may go here, and with it the lock that jobs are done under
  return jobs.empty() ? Poller::Turn::idle : has_finished_some ? Poller::Turn::did_some : Poller::Turn::waits;
}

Background::Background(ContextLock& context_lock, ContextState& context)
    : state_(std::make_shared<State>(context_lock, context)), poller_([state = state_] { return state->turn(); }) {}

void Background::add(Job job, std::function<void()> after) {
  {
    const std::scoped_lock hold(state_->lock);
    state_->added.push_back({std::move(job), std::move(after)});
  }
  poller_.wake();
}

void Background::add(std::unique_ptr<Download> download, Finish finish, std::function<void()> after) {
  add(
      [shared = std::shared_ptr(std::move(download)), finish = std::move(finish)](ContextState& context) mutable {
        std::exception_ptr error;
        try {
          if (!shared->ready()) return false;
        } catch (...) {
          error = std::current_exception();
        }
        finish(context, shared.get(), error);
        shared.reset();  // under the lock, like every use of the device
        return true;
      },
      std::move(after));
}

}  // namespace tessera

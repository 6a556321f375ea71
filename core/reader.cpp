#include "core/reader.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <vector>

namespace tessera {

struct Reader::State {
  struct Job {
    std::unique_ptr<Download> download;
    Finish finish;
  };

  explicit State(std::mutex& lock_of_context) : context_lock(lock_of_context) {}

  bool finish_if_ready(Job& job) {
    std::exception_ptr error;
    const std::scoped_lock hold(context_lock);
    try {
      if (!job.download->ready()) return false;
    } catch (...) {
      error = std::current_exception();
    }
    job.finish(job.download.get(), error);
    job.download.reset();  // under the lock, like every use of the device
    return true;
  }

  std::mutex& context_lock;
  std::mutex lock;
  std::condition_variable changed;
  std::vector<Job> added;
  bool stopping = false, orphaned = false;  // orphaned: the context went with the last job
};

Reader::Reader(std::mutex& context_lock) : state_(std::make_shared<State>(context_lock)) {}

Reader::~Reader() {
  const bool is_own_thread = thread_.get_id() == std::this_thread::get_id();
  {
    const std::scoped_lock hold(state_->lock);
    state_->stopping = true;
    state_->orphaned = is_own_thread;
  }
  state_->changed.notify_one();
  if (is_own_thread) thread_.detach();
  else if (thread_.joinable()) thread_.join();
}

void Reader::add(std::unique_ptr<Download> download, Finish finish) {
  const std::scoped_lock hold(state_->lock);
  state_->added.push_back({std::move(download), std::move(finish)});
  if (!thread_.joinable()) thread_ = std::thread([state = state_] { run(state); });
  state_->changed.notify_one();
}

void Reader::run(const std::shared_ptr<State>& state) {
  using namespace std::chrono_literals;
  constexpr auto shortest = 50us, longest = 1000us;
  std::vector<State::Job> jobs;
  for (auto pause = shortest;; pause = std::min(2 * pause, longest)) {
    {
      std::unique_lock hold(state->lock);
      state->changed.wait(hold, [&] { return !jobs.empty() || !state->added.empty() || state->stopping; });
      if (!state->added.empty()) pause = shortest;
      std::ranges::move(state->added, std::back_inserter(jobs));
      state->added.clear();
      if (jobs.empty() && state->stopping) return;
    }
    const auto done =
        std::partition(jobs.begin(), jobs.end(), [&](State::Job& job) { return !state->finish_if_ready(job); });
    if (done != jobs.end()) pause = shortest;
    jobs.erase(done, jobs.end());
    if (state->orphaned) return;  // set by this thread, in the line above
    if (!jobs.empty()) std::this_thread::sleep_for(pause);
  }
}

}  // namespace tessera
